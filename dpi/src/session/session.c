// SPDX-License-Identifier: BSD-2-Clause
//
// A session's life and its time.

#include "session/session.h"

#include <stdlib.h>

static void send_hello(struct session *session) {
    struct builder b = message_begin(&session->control.out, MESSAGE_HELLO);
    give_u16(&b, MESSAGE_VERSION);
    give_u16(&b, (uint16_t)session->port_count);
    give_u32(&b, session->data_width);
    give_u64(&b, session->clock_ps);
    message_end(&b);
}

static int receive_one(struct session *session, bool block, uint64_t cycle, bool *got) {
    enum message_type type;
    struct cursor body;
    *got = false;
    switch (control_receive(&session->control, block, &type, &body, &session->error)) {
    case CONTROL_MESSAGE:
        *got = true;
        return session_dispatch(session, type, &body, cycle);
    case CONTROL_CLOSED:
        session->ending = true;
        return 0;
    case CONTROL_NOTHING:
        return 0;
    default:
        return -1;
    }
}

static int configure(struct session *session) {
    send_hello(session);
    if (control_flush(&session->control, true, &session->error) != 0) {
        return -1;
    }
    while (!session->started && !session->ending) {
        bool got;
        if (receive_one(session, true, 0, &got) != 0) {
            return -1;
        }
    }
    (void)clock_gettime(CLOCK_MONOTONIC, &session->wall_start);
    return 0;
}

struct session *session_open(const char *control, int ports, int data_width, int64_t clock_ps) {
    struct session *session = calloc(1, sizeof *session);
    if (!session) {
        return NULL;
    }
    if (control_open(&session->control, control, &session->error) != 0) {
        return session;
    }
    if (ports < 1 || ports > PORT_LIMIT || clock_ps < 1) {
        error_set(&session->error, "%d ports at %lld ps: expected 1..%d ports and a clock", ports,
                  (long long)clock_ps, PORT_LIMIT);
        return session;
    }
    session->ports = calloc((size_t)ports, sizeof *session->ports);
    if (!session->ports) {
        error_set(&session->error, "out of memory");
        return session;
    }
    session->port_count = (unsigned)ports;
    session->data_width = (unsigned)data_width;
    session->clock_ps = (uint64_t)clock_ps;
    for (unsigned i = 0; i < session->port_count; i++) {
        port_init(&session->ports[i], i, session->clock_ps, &session->error);
        session->ports[i].session = session;
    }
    (void)configure(session);
    return session;
}

static int service_ports(struct session *session, uint64_t cycle) {
    for (unsigned i = 0; i < session->port_count; i++) {
        if (port_service(&session->ports[i], cycle) != 0) {
            return -1;
        }
    }
    return 0;
}

// Stands still until the host says to run or ends the session.
static int stand(struct session *session, uint64_t cycle) {
    while (!session->running && !session->ending) {
        bool got;
        if (control_flush(&session->control, true, &session->error) != 0 ||
            receive_one(session, true, cycle, &got) != 0) {
            return -1;
        }
    }
    return 0;
}

static int lockstep_wait(struct session *session, uint64_t cycle) {
    unsigned reached = session->events & session->until;
    if (session->running && (cycle >= session->run_end || reached)) {
        session->running = false;
        session_send_stopped(session, cycle, reached ? reached : STOP_CYCLES);
    }
    // Only the end may come while the simulation runs: see session_dispatch.
    bool got = false;
    if (session->running && receive_one(session, false, cycle, &got) != 0) {
        return -1;
    }
    return stand(session, cycle);
}

static int free_running_look(struct session *session, uint64_t cycle) {
    bool got;
    if (session->limit && cycle >= session->limit) {
        session_send_stopped(session, cycle, STOP_CYCLES);
        return stand(session, cycle);
    }
    do {
        if (receive_one(session, false, cycle, &got) != 0) {
            return -1;
        }
    } while (got);
    return control_flush(&session->control, false, &session->error);
}

// How far the simulation may go before anyone must be asked.
static uint64_t cycles_ahead(const struct session *session, uint64_t cycle) {
    uint64_t end = cycle + (session->lockstep ? POLL_RARELY : POLL_OFTEN);
    uint64_t given = session->lockstep ? session->run_end : session->limit;
    if (given && given < end) {
        end = given;
    }
    for (unsigned i = 0; i < session->port_count; i++) {
        uint64_t next = port_next_cycle(&session->ports[i]);
        if (next == 0 && cycle + POLL_OFTEN < end) {
            end = cycle + POLL_OFTEN;
        } else if (next > cycle && next < end) {
            end = next;
        }
    }
    return end > cycle ? end - cycle : 1;
}

int64_t session_poll(struct session *session, uint64_t cycle) {
    if (error_is_set(&session->error)) {
        return -1;
    }
    if (!session->started) { // the host left before it had set everything up
        return 0;
    }
    if (service_ports(session, cycle) != 0 ||
        (session->lockstep ? lockstep_wait(session, cycle) : free_running_look(session, cycle)) !=
            0) {
        return -1;
    }
    return session->ending ? 0 : (int64_t)cycles_ahead(session, cycle);
}

bool session_event(struct session *session, enum stop_reason event) {
    session->events |= (unsigned)event;
    return session->lockstep && (session->until & (unsigned)event);
}

static bool put_record(struct session *session, enum message_type type, unsigned port,
                       uint64_t cycle, const uint8_t *record, size_t size) {
    struct buffer *out = &session->control.out;
    struct builder b = message_begin(out, type);
    give_u8(&b, (uint8_t)port);
    give_u64(&b, cycle);
    give_bytes(&b, record, size);
    if (!message_end(&b)) {
        error_set(&session->error, "port %u: out of memory", port);
    }
    if (!session->lockstep || buffer_size(out) > BACKLOG_LIMIT) {
        (void)control_flush(&session->control, session->lockstep, &session->error);
    }
    return buffer_size(out) <= BACKLOG_LIMIT;
}

bool session_put_completion(struct session *session, unsigned port, uint64_t cycle,
                            const uint8_t record[COMPLETION_BYTES]) {
    return put_record(session, MESSAGE_COMPLETION, port, cycle, record, COMPLETION_BYTES);
}

bool session_put_event(struct session *session, enum message_type type, unsigned port,
                       uint64_t cycle, const uint8_t record[EVENT_BYTES]) {
    return put_record(session, type, port, cycle, record, EVENT_BYTES);
}

void session_put_taken(struct session *session, unsigned port, unsigned stream, uint64_t cycle) {
    if (!session->lockstep) {
        return;
    }
    struct buffer *out = &session->control.out;
    struct builder b = message_begin(out, MESSAGE_TAKEN);
    give_u8(&b, (uint8_t)port);
    give_u8(&b, (uint8_t)stream);
    give_u64(&b, cycle);
    if (!message_end(&b)) {
        error_set(&session->error, "port %u: out of memory", port);
    }
    if (buffer_size(out) > BACKLOG_LIMIT) {
        (void)control_flush(&session->control, true, &session->error);
    }
}

const char *session_error(struct session *session) {
    struct builder b = message_begin(&session->control.out, MESSAGE_ERROR);
    give_string(&b, session->error.text);
    message_end(&b);
    if (session->control.fd >= 0) {
        struct error ignored = {0};
        (void)control_flush(&session->control, true, &ignored);
    }
    return session->error.text;
}

void session_close(struct session *session, uint64_t cycle) {
    if (session->control.fd >= 0) {
        struct error ignored = {0};
        if (!session->ending && !error_is_set(&session->error)) {
            session_send_stopped(session, cycle, STOP_FINISHED);
        }
        (void)control_flush(&session->control, true, &ignored);
    }
    for (unsigned i = 0; i < session->port_count; i++) {
        port_close(&session->ports[i]);
    }
    for (unsigned i = 0; i < session->capture_count; i++) {
        pcapng_close(&session->captures[i]);
    }
    control_close(&session->control);
    free(session->ports);
    free(session);
}
