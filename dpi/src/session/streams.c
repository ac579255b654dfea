// SPDX-License-Identifier: BSD-2-Clause
//
// From a port's queues to the test bench, and from the test bench to the port's link.

#include "session/streams.h"

#include "session/session.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

// `done` is what the link has done to it.
static void capture(struct port *port, enum pcapng_direction direction, bool discard,
                    uint64_t cycle, const uint8_t *bytes, size_t length, unsigned done) {
    if (port->capture) {
        char comment[LINK_COMMENT];
        link_comment(done, comment);
        (void)pcapng_packet(port->capture, port->interface, direction, discard,
                            cycle * port->clock_ps / 1000, bytes, length, comment, port->error);
    }
}

static bool get_rx(struct port *port, uint64_t cycle, struct chunk *chunk) {
    struct rx_frame *frame = queue_front(&port->rx);
    if (frame && port->rx_given == frame->length) {
        capture(port, PCAPNG_INBOUND, frame->discard, cycle, frame->bytes, frame->length,
                frame->done);
        port->counters.frames_in++;
        port->counters.bytes_in += frame->length;
        session_put_taken(port->session, port->index, STREAM_RX, cycle);
        port->rx_given = 0;
        free(frame->bytes);
        queue_pop(&port->rx);
        frame = queue_front(&port->rx);
    }
    if (!frame) {
        return false;
    }
    size_t left = frame->length - port->rx_given;
    size_t size = left < CHUNK_BYTES ? left : CHUNK_BYTES;
    memset(chunk->bytes, NULL_LANE, CHUNK_BYTES);
    memcpy(chunk->bytes, frame->bytes + port->rx_given, size);
    port->rx_given += size;
    chunk->first = 0;
    chunk->stop = (unsigned)size;
    chunk->last = port->rx_given == frame->length;
    chunk->discard = frame->discard;
    chunk->early = frame->early;
    return true;
}

static bool get_payload(struct port *port, struct chunk *chunk) {
    struct payload *payload = queue_front(&port->payloads);
    if (payload && payload->position == payload->length) {
        port->payload_bytes -= payload->bytes ? payload->length : 0;
        payload_free(payload);
        queue_pop(&port->payloads);
        payload = queue_front(&port->payloads);
    }
    if (!payload) {
        return false;
    }
    struct payload_chunk next = payload_next(payload, chunk->bytes);
    chunk->first = next.first;
    chunk->stop = next.stop;
    chunk->last = next.last;
    chunk->discard = chunk->early = false;
    return true;
}

bool port_get_chunk(struct port *port, enum stream stream, uint64_t cycle, struct chunk *chunk) {
    return stream == STREAM_RX ? get_rx(port, cycle, chunk) : get_payload(port, chunk);
}

bool port_get_qpc(struct port *port, uint64_t cycle, uint8_t record[QPC_BYTES]) {
    if (port->qpc_given) {
        port->qpcs_taken++;
        port->qpc_waits = false;
        if (port->overtaken && cycle > port->overtaken_at) {
            error_set(port->error,
                      "port %u: a work request was taken in cycle %" PRIu64
                      ", and the QP configuration that was offered before it in cycle %" PRIu64,
                      port->index, port->overtaken_at, cycle);
        }
        port->overtaken = false;
        session_put_taken(port->session, port->index, STREAM_QPC, cycle);
    }
    const uint8_t *front = queue_front(&port->qpcs);
    port->qpc_given = front != NULL;
    if (!front) {
        return false;
    }
    memcpy(record, front, QPC_BYTES);
    queue_pop(&port->qpcs);
    return true;
}

void port_qpc_waits(struct port *port, uint64_t cycle) {
    port->qpc_waits = true;
    port->qpc_offered = cycle;
}

bool port_get_work_request(struct port *port, uint64_t cycle, uint8_t record[WORK_REQUEST_BYTES]) {
    if (port->wr_given) {
        session_put_taken(port->session, port->index, STREAM_WR, cycle);
        if (port->wr_after > port->qpcs_taken && !port->overtaken) {
            port->overtaken = true;
            port->overtaken_at = cycle;
        }
    }
    const struct work_request *front = queue_front(&port->wrs);
    bool behind_offer = port->qpc_waits && cycle > port->qpc_offered;
    port->wr_given = front && front->after <= port->qpcs_taken + behind_offer;
    if (!port->wr_given) {
        return false;
    }
    port->wr_after = front->after;
    memcpy(record, front->record, WORK_REQUEST_BYTES);
    queue_pop(&port->wrs);
    return true;
}

static bool get_record(struct port *port, enum stream stream, uint64_t cycle, struct queue *queue,
                       bool *given, uint8_t *record) {
    if (*given) {
        session_put_taken(port->session, port->index, stream, cycle);
    }
    const uint8_t *front = queue_front(queue);
    *given = front != NULL;
    if (!front) {
        return false;
    }
    memcpy(record, front, queue->element);
    queue_pop(queue);
    return true;
}

bool port_get_region(struct port *port, uint64_t cycle, uint8_t record[REGION_BYTES]) {
    return get_record(port, STREAM_REGION, cycle, &port->regions, &port->region_given, record);
}

bool port_get_receive(struct port *port, uint64_t cycle, uint8_t record[RECEIVE_BYTES]) {
    return get_record(port, STREAM_RECEIVE, cycle, &port->receives, &port->receive_given, record);
}

bool port_put_chunk(struct port *port, uint64_t cycle, const struct chunk *chunk, bool *full) {
    *full = false;
    if (port->tx_length + chunk->stop > FRAME_MAX) {
        error_set(port->error, "port %u: the DUT sent a frame longer than %d bytes", port->index,
                  FRAME_MAX);
        return false;
    }
    memcpy(port->tx + port->tx_length, chunk->bytes, CHUNK_BYTES);
    port->tx_length += chunk->stop;
    if (!chunk->last) {
        return false;
    }
    if (chunk->discard) {
        capture(port, PCAPNG_OUTBOUND, true, cycle, port->tx, port->tx_length, 0);
        port->counters.discarded_out++;
        port->tx_length = 0;
        return false;
    }
    port->counters.frames_out++;
    port->counters.bytes_out += port->tx_length;
    enum link_result result =
        port->link->ops->send(port->link, cycle, port->tx, port->tx_length, port->error);
    capture(port, PCAPNG_OUTBOUND, false, cycle, port->tx, port->tx_length,
            result == LINK_OK ? port->link->done : 0);
    if (result == LINK_BUSY) {
        port->tx_waiting = true;
        port->tx_cycle = cycle;
        *full = true;
    } else {
        port->tx_length = 0;
    }
    return true;
}
