// SPDX-License-Identifier: BSD-2-Clause
//
// What each message from the host does. Every field is checked here: a bad
// message ends the session with its name.

#include "common/mix.h"
#include "session/session.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

enum {
    MODE_LOCKSTEP = 0,
    MODE_FREE_RUNNING = 1,
    PAYLOAD_BYTES = 0,
    PAYLOAD_PATTERN = 1,
    PERCENT_LIMIT = 100,
    MARK_LAST = 1, // of a frame: its last beat
    MARK_EARLY = 2,
    PEEK_LIMIT = 1 << 26, // bytes of one answer
};

// A well-mixed seed for each port.
static uint64_t port_seed(uint64_t seed, unsigned port) {
    return mix(seed + (port + 1) * MIX_STEP);
}

static int malformed(struct session *session, const char *what) {
    return error_set(&session->error, "control channel: malformed %s message", what);
}

static struct port *take_port(struct session *session, struct cursor *body) {
    unsigned index = take_u8(body);
    if (body->bad || index >= session->port_count) {
        error_set(&session->error, "control channel: port %u, this simulation has %u", index,
                  session->port_count);
        return NULL;
    }
    return &session->ports[index];
}

static int configure_session(struct session *session, struct cursor *body) {
    unsigned mode = take_u8(body);
    session->seed = take_u64(body);
    session->limit = take_u64(body);
    take_string(body, session->comment, sizeof session->comment);
    if (!take_done(body) || mode > MODE_FREE_RUNNING || session->ports_configured) {
        return malformed(session, "session");
    }
    session->lockstep = mode == MODE_LOCKSTEP;
    return 0;
}

static int take_flow(struct session *session, struct port *port, struct cursor *body) {
    const uint8_t *percent = take_bytes(body, FLOWS);
    if (!percent) {
        return malformed(session, "flow");
    }
    for (unsigned i = 0; i < FLOWS; i++) {
        if (percent[i] > PERCENT_LIMIT) {
            return error_set(&session->error, "port %u: flow of %u %%, expected 0..%d", port->index,
                             percent[i], PERCENT_LIMIT);
        }
        port->flow[i] = percent[i];
    }
    return 0;
}

static int open_capture(struct session *session, struct port *port, const char *path) {
    char name[16];
    char description[64];
    (void)snprintf(name, sizeof name, "port%u", port->index);
    (void)snprintf(description, sizeof description, "simulated port %u, link %s", port->index,
                   port->link->kind);
    for (unsigned i = 0; i < session->capture_count && !port->capture; i++) {
        if (strcmp(session->captures[i].path, path) == 0) {
            port->capture = &session->captures[i];
        }
    }
    if (!port->capture) {
        struct pcapng *capture = &session->captures[session->capture_count++];
        if (pcapng_open(capture, path, session->comment, &session->error) != 0) {
            return -1;
        }
        port->capture = capture;
    }
    port->interface = port->capture->interfaces;
    return pcapng_interface(port->capture, name, description, &session->error);
}

static int configure_port(struct session *session, struct cursor *body) {
    char link[PATH_MAX + 32]; // a kind, a path and an option
    char capture[PATH_MAX];
    struct port *port = take_port(session, body);
    if (!port) {
        return -1;
    }
    const uint8_t *mac = take_bytes(body, sizeof port->mac);
    const uint8_t *gid = take_bytes(body, sizeof port->gid);
    if (take_flow(session, port, body) != 0) {
        return -1;
    }
    take_string(body, link, sizeof link);
    take_string(body, capture, sizeof capture);
    if (!mac || !gid || !take_done(body) || port->index != session->ports_configured ||
        session->started) {
        return malformed(session, "port");
    }
    memcpy(port->mac, mac, sizeof port->mac);
    memcpy(port->gid, gid, sizeof port->gid);
    port->seed = port_seed(session->seed, port->index);
    port->link =
        link_open(link, port->index, &session->control, session->lockstep, &session->error);
    if (!port->link) {
        return -1;
    }
    session->ports_configured++;
    return capture[0] ? open_capture(session, port, capture) : 0;
}

static int start(struct session *session, struct cursor *body) {
    if (!take_done(body) || session->started || session->ports_configured != session->port_count) {
        return malformed(session, "start");
    }
    session->started = true;
    return 0;
}

static int queue_qpc(struct session *session, struct port *port, struct cursor *body) {
    const uint8_t *record = take_bytes(body, QPC_BYTES);
    if (!take_done(body)) {
        return malformed(session, "QP configuration");
    }
    return port_queue_qpc(port, record);
}

static int queue_region(struct session *session, struct port *port, struct cursor *body) {
    const uint8_t *record = take_bytes(body, REGION_BYTES);
    return take_done(body) ? port_queue_region(port, record) : malformed(session, "memory region");
}

static int queue_receive(struct session *session, struct port *port, struct cursor *body) {
    const uint8_t *record = take_bytes(body, RECEIVE_BYTES);
    return take_done(body) ? port_queue_receive(port, record) : malformed(session, "receive");
}

static int peek(struct session *session, struct port *port, struct cursor *body) {
    uint64_t address = take_u64(body);
    uint32_t left = take_u32(body);
    if (!take_done(body) || left > PEEK_LIMIT) {
        return malformed(session, "peek");
    }
    struct builder b = message_begin(&session->control.out, MESSAGE_MEMORY);
    give_u8(&b, (uint8_t)port->index);
    for (uint8_t bytes[4096]; left;) {
        uint32_t size = left < sizeof bytes ? left : sizeof bytes;
        port_peek(port, address, bytes, size);
        give_bytes(&b, bytes, size);
        address += size;
        left -= size;
    }
    return message_end(&b) ? 0 : error_set(&session->error, "out of memory");
}

static int poke(struct session *session, struct port *port, struct cursor *body) {
    uint64_t address = take_u64(body);
    size_t length = body->left;
    const uint8_t *bytes = take_bytes(body, length);
    if (!take_done(body)) {
        return malformed(session, "poke");
    }
    return port_poke(port, address, bytes, length) ? 0
                                                   : error_set(&session->error, "out of memory");
}

static int queue_work_request(struct session *session, struct port *port, struct cursor *body) {
    struct payload payload = {0};
    unsigned kind = take_u8(body);
    payload.offset = take_u16(body);
    payload.length = take_u64(body);
    payload.seed = take_u64(body);
    const uint8_t *record = take_bytes(body, WORK_REQUEST_BYTES);
    const uint8_t *bytes = NULL;
    if (kind == PAYLOAD_BYTES && payload.length <= SIZE_MAX) {
        bytes = take_bytes(body, (size_t)payload.length);
    }
    if (!take_done(body) || kind > PAYLOAD_PATTERN || payload.length > UINT32_MAX ||
        payload.offset >= session->data_width / 8) {
        return malformed(session, "work request");
    }
    return port_queue_work_request(port, record, &payload, bytes);
}

static int queue_frame(struct session *session, struct port *port, struct cursor *body) {
    unsigned marks = take_u8(body);
    size_t length = body->left;
    const uint8_t *bytes = take_bytes(body, length);
    if (!take_done(body) || marks > (MARK_LAST | MARK_EARLY)) {
        return malformed(session, "frame");
    }
    return port_queue_frame(port, bytes, length, marks & MARK_LAST, marks & MARK_EARLY, 0);
}

static int reset(struct session *session, struct port *port, struct cursor *body) {
    unsigned cycles = take_u8(body);
    if (!take_done(body) || cycles == 0) {
        return malformed(session, "reset");
    }
    port_reset(port, cycles);
    return 0;
}

static int run(struct session *session, struct cursor *body, uint64_t cycle) {
    uint64_t cycles = take_u64(body);
    unsigned until = take_u8(body);
    if (!take_done(body) || !session->started || !session->lockstep || cycles == 0 ||
        cycles > INT64_MAX - cycle) {
        return malformed(session, "run");
    }
    session->running = true;
    session->run_end = cycle + cycles;
    session->until = until;
    session->events = 0;
    return 0;
}

static uint64_t wall_ns(const struct session *session) {
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)(now.tv_sec - session->wall_start.tv_sec) * 1000000000u +
           (uint64_t)now.tv_nsec - (uint64_t)session->wall_start.tv_nsec;
}

static int send_statistics(struct session *session, struct cursor *body, uint64_t cycle) {
    if (!take_done(body) || !session->started) {
        return malformed(session, "query");
    }
    struct builder b = message_begin(&session->control.out, MESSAGE_STATISTICS);
    give_u64(&b, cycle);
    give_u64(&b, wall_ns(session));
    for (unsigned i = 0; i < session->port_count; i++) {
        struct port *port = &session->ports[i];
        port->link->ops->count(port->link);
        give_u64(&b, port->counters.frames_in);
        give_u64(&b, port->counters.frames_out);
        give_u64(&b, port->counters.bytes_in);
        give_u64(&b, port->counters.bytes_out);
        give_u64(&b, port->counters.discarded_out);
        give_u64(&b, port->link->dropped_in);
        give_u64(&b, port->link->dropped_out);
        for (unsigned stream = 0; stream < STREAMS; stream++) {
            const struct watched *watched = &port->watched[stream];
            give_u64(&b, watched->beats);
            give_u64(&b, watched->moved);
            give_u8(&b,
                    (uint8_t)(watched->is_valid | watched->is_ready << 1 | watched->is_amid << 2));
        }
    }
    return message_end(&b) ? 0 : error_set(&session->error, "out of memory");
}

void session_send_stopped(struct session *session, uint64_t cycle, unsigned reason) {
    struct builder b = message_begin(&session->control.out, MESSAGE_STOPPED);
    give_u64(&b, cycle);
    give_u8(&b, (uint8_t)reason);
    message_end(&b);
}

static int dispatch_to_port(struct session *session, enum message_type type, struct cursor *body) {
    struct port *port = session->started ? take_port(session, body) : NULL;
    if (!port) {
        return malformed(session, "early");
    }
    switch (type) {
    case MESSAGE_FLOW:
        return take_flow(session, port, body) == 0 && take_done(body) ? 0
                                                                      : malformed(session, "flow");
    case MESSAGE_QPC:
        return queue_qpc(session, port, body);
    case MESSAGE_WORK_REQUEST:
        return queue_work_request(session, port, body);
    case MESSAGE_REGION:
        return queue_region(session, port, body);
    case MESSAGE_RECEIVE:
        return queue_receive(session, port, body);
    case MESSAGE_PEEK:
        return peek(session, port, body);
    case MESSAGE_POKE:
        return poke(session, port, body);
    case MESSAGE_RESET:
        return reset(session, port, body);
    default:
        return queue_frame(session, port, body);
    }
}

int session_dispatch(struct session *session, enum message_type type, struct cursor *body,
                     uint64_t cycle) {
    if (session->running && type != MESSAGE_STOP) {
        return error_set(&session->error, "control channel: message type 0x%02x during a run",
                         (unsigned)type);
    }
    switch (type) {
    case MESSAGE_SESSION:
        return configure_session(session, body);
    case MESSAGE_PORT:
        return configure_port(session, body);
    case MESSAGE_START:
        return start(session, body);
    case MESSAGE_FLOW:
    case MESSAGE_QPC:
    case MESSAGE_WORK_REQUEST:
    case MESSAGE_FRAME:
    case MESSAGE_REGION:
    case MESSAGE_RECEIVE:
    case MESSAGE_PEEK:
    case MESSAGE_POKE:
    case MESSAGE_RESET:
        return dispatch_to_port(session, type, body);
    case MESSAGE_RUN:
        return run(session, body, cycle);
    case MESSAGE_QUERY:
        return send_statistics(session, body, cycle);
    case MESSAGE_STOP:
        session->ending = true;
        return 0;
    default:
        return error_set(&session->error, "control channel: message type 0x%02x is unknown",
                         (unsigned)type);
    }
}
