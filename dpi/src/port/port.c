// SPDX-License-Identifier: BSD-2-Clause
//
// A port's life, its queues and its dealings with host and link.

#include "port/port.h"

#include <stdlib.h>
#include <string.h>

enum {
    RX_LIMIT = 1 << 20, // frames a host may queue
    RX_AHEAD = 64,      // frames taken from a link before the DUT takes them
    REQUEST_LIMIT = 1 << 20,
    PAYLOAD_LIMIT = 1 << 30, // bytes
};

void port_init(struct port *port, unsigned index, uint64_t clock_ps, struct error *error) {
    *port = (struct port){.index = index, .clock_ps = clock_ps, .error = error};
    queue_init(&port->rx, sizeof(struct rx_frame), RX_LIMIT);
    queue_init(&port->payloads, sizeof(struct payload), REQUEST_LIMIT);
    queue_init(&port->qpcs, QPC_BYTES, REQUEST_LIMIT);
    queue_init(&port->wrs, sizeof(struct work_request), REQUEST_LIMIT);
    queue_init(&port->regions, REGION_BYTES, REQUEST_LIMIT);
    queue_init(&port->receives, RECEIVE_BYTES, REQUEST_LIMIT);
}

static void drop_all(struct queue *queue) {
    while (queue_front(queue)) {
        queue_pop(queue);
    }
}

static void drop_frames_and_payloads(struct port *port) {
    for (struct rx_frame *frame; (frame = queue_front(&port->rx)); queue_pop(&port->rx)) {
        free(frame->bytes);
    }
    for (struct payload *payload; (payload = queue_front(&port->payloads));
         queue_pop(&port->payloads)) {
        payload_free(payload);
    }
}

void port_reset(struct port *port, unsigned cycles) {
    drop_frames_and_payloads(port);
    drop_all(&port->qpcs);
    drop_all(&port->wrs);
    drop_all(&port->regions);
    drop_all(&port->receives);
    port->rx_given = port->payload_bytes = 0;
    port->qpc_given = port->qpc_waits = port->wr_given = port->overtaken = false;
    port->region_given = port->receive_given = false;
    port->qpcs_taken = port->qpcs_queued;
    port->tx_length = 0;
    port->tx_waiting = false;
    port->reset = cycles;
}

void port_close(struct port *port) {
    drop_frames_and_payloads(port);
    queue_free(&port->rx);
    queue_free(&port->payloads);
    queue_free(&port->qpcs);
    queue_free(&port->wrs);
    queue_free(&port->regions);
    queue_free(&port->receives);
    memory_free(&port->memory);
    if (port->link) {
        port->link->ops->close(port->link);
        port->link = NULL;
    }
}

int port_queue_frame(struct port *port, const uint8_t *bytes, size_t length, bool discard,
                     bool early, unsigned done) {
    if (length == 0 || length > FRAME_MAX) {
        return error_set(port->error, "port %u: frame of %zu bytes, expected 1..%d", port->index,
                         length, FRAME_MAX);
    }
    size_t padded = length < FRAME_MIN ? FRAME_MIN : length;
    struct rx_frame frame = {.bytes = calloc(1, padded),
                             .length = padded,
                             .discard = discard,
                             .early = early,
                             .done = done};
    if (!frame.bytes) {
        return error_set(port->error, "port %u: out of memory", port->index);
    }
    memcpy(frame.bytes, bytes, length);
    if (!queue_push(&port->rx, &frame)) {
        free(frame.bytes);
        return error_set(port->error, "port %u: %d frames wait for the DUT; run the simulation",
                         port->index, RX_LIMIT);
    }
    return 0;
}

int port_queue_qpc(struct port *port, const uint8_t record[QPC_BYTES]) {
    if (!queue_push(&port->qpcs, record)) {
        return error_set(port->error, "port %u: %d QP configurations wait; run the simulation",
                         port->index, REQUEST_LIMIT);
    }
    port->qpcs_queued++;
    return 0;
}

static int queue_record(struct port *port, struct queue *queue, const uint8_t *record,
                        const char *what) {
    if (!queue_push(queue, record)) {
        return error_set(port->error, "port %u: %d %s wait; run the simulation", port->index,
                         REQUEST_LIMIT, what);
    }
    return 0;
}

int port_queue_region(struct port *port, const uint8_t record[REGION_BYTES]) {
    return queue_record(port, &port->regions, record, "memory regions");
}

int port_queue_receive(struct port *port, const uint8_t record[RECEIVE_BYTES]) {
    return queue_record(port, &port->receives, record, "receives");
}

void port_peek(const struct port *port, uint64_t address, uint8_t *bytes, size_t length) {
    const struct backdoor *door = &port->backdoor;
    if (door->scope) {
        door->read(door->scope, address, bytes, length);
    } else {
        memory_read(&port->memory, address, bytes, length);
    }
}

bool port_poke(struct port *port, uint64_t address, const uint8_t *bytes, size_t length) {
    const struct backdoor *door = &port->backdoor;
    if (!door->scope) {
        return memory_write(&port->memory, address, bytes, length);
    }
    door->write(door->scope, address, bytes, length);
    return true;
}

int port_queue_work_request(struct port *port, const uint8_t record[WORK_REQUEST_BYTES],
                            const struct payload *payload, const uint8_t *bytes) {
    struct work_request request = {.after = port->qpcs_queued};
    struct payload held = *payload;
    memcpy(request.record, record, WORK_REQUEST_BYTES);
    if (bytes && held.length) {
        if (held.length > PAYLOAD_LIMIT - port->payload_bytes) {
            return error_set(port->error,
                             "port %u: more than %d payload bytes wait; use a pattern payload",
                             port->index, PAYLOAD_LIMIT);
        }
        held.bytes = malloc(held.length);
        if (!held.bytes) {
            return error_set(port->error, "port %u: out of memory", port->index);
        }
        memcpy(held.bytes, bytes, held.length);
    }
    if (!queue_push(&port->wrs, &request) || (held.length && !queue_push(&port->payloads, &held))) {
        payload_free(&held);
        return error_set(port->error, "port %u: %d work requests wait; run the simulation",
                         port->index, REQUEST_LIMIT);
    }
    port->payload_bytes += held.bytes ? held.length : 0;
    return 0;
}

static int send_waiting(struct port *port) {
    if (!port->tx_waiting) {
        return 0;
    }
    switch (
        port->link->ops->send(port->link, port->tx_cycle, port->tx, port->tx_length, port->error)) {
    case LINK_OK:
        port->tx_waiting = false;
        port->tx_length = 0;
        return 0;
    case LINK_BUSY:
        return 0;
    default:
        return -1;
    }
}

int port_service(struct port *port, uint64_t cycle) {
    uint8_t frame[FRAME_MAX];
    size_t length = 0;
    if (send_waiting(port) != 0) {
        return -1;
    }
    while (port->rx.size < RX_AHEAD) {
        enum link_result result = port->link->ops->receive(
            port->link, cycle * port->clock_ps / 1000, frame, &length, port->error);
        if (result == LINK_BUSY) {
            return 0;
        }
        if (result == LINK_FAILED ||
            port_queue_frame(port, frame, length, false, false, port->link->done) != 0) {
            return -1;
        }
    }
    return 0;
}

uint64_t port_next_cycle(const struct port *port) {
    uint64_t next = port->link->ops->next_ns(port->link);
    if (port->tx_waiting || next == 0 || port->rx.size >= RX_AHEAD) {
        return 0;
    }
    if (next >= LINK_NEVER / 1000) {
        return LINK_NEVER;
    }
    return (next * 1000 + port->clock_ps - 1) / port->clock_ps;
}

unsigned port_wake(const struct port *port) {
    return (port->rx.size ? 1u << STREAM_RX : 0) |
           (port->payloads.size ? 1u << STREAM_PAYLOAD : 0) |
           (port->qpcs.size ? 1u << STREAM_QPC : 0) | (port->wrs.size ? 1u << STREAM_WR : 0) |
           (port->tx_waiting ? 0 : 1u << STREAM_TX) |
           (port->regions.size ? 1u << STREAM_REGION : 0) |
           (port->receives.size ? 1u << STREAM_RECEIVE : 0);
}
