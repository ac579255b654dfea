// SPDX-License-Identifier: BSD-2-Clause
//
// The bridge's control channel: whatever the host says behind a right start,
// the session goes on, ends, or tells an error that lasts. Bit 0 of the first
// byte lets it run free; a device takes all that it is offered.

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "session/session.h"
#include "session/streams.h"
#include "target.h"

enum { PORTS = 2, INPUT_LIMIT = 1 << 16, STEPS = 200, STEP_CYCLES = 1000, DATA_WIDTH = 64 };

static void give_start(struct buffer *out, bool is_free) {
    static const uint8_t zeros[PORT_LIMIT + FLOWS + 6];
    struct builder b = message_begin(out, MESSAGE_SESSION);
    give_u8(&b, is_free);
    give_u64(&b, 1);
    give_u64(&b, is_free ? STEPS : 0);
    give_string(&b, "");
    message_end(&b);
    for (uint8_t port = 0; port < PORTS; port++) {
        b = message_begin(out, MESSAGE_PORT);
        give_u8(&b, port);
        give_bytes(&b, zeros, 6 + 16 + FLOWS);
        give_string(&b, "lockstep");
        give_string(&b, "");
        message_end(&b);
    }
    b = message_begin(out, MESSAGE_START);
    message_end(&b);
}

// The host has said it all and is gone, so that nothing waits for it.
static int said(const uint8_t *data, size_t size, bool is_free) {
    int ends[2];
    struct buffer out = {0};
    demand(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    give_start(&out, is_free);
    const ssize_t start = (ssize_t)buffer_size(&out);
    demand(write(ends[0], buffer_front(&out), (size_t)start) == start);
    buffer_free(&out);
    demand(write(ends[0], data, size) == (ssize_t)size);
    close(ends[0]);
    return ends[1];
}

static void take_all(struct session *session, struct port *port, uint64_t cycle) {
    struct chunk chunk;
    uint8_t record[RECORD_LIMIT];
    bool full;
    while (port_get_chunk(port, STREAM_RX, cycle, &chunk)) {
        demand(chunk.first < chunk.stop && chunk.stop <= CHUNK_BYTES);
        if (chunk.last)
            break;
    }
    (void)port_get_chunk(port, STREAM_PAYLOAD, cycle, &chunk);
    (void)port_get_qpc(port, cycle, record);
    (void)port_get_region(port, cycle, record);
    (void)port_get_receive(port, cycle, record);
    if (port_get_work_request(port, cycle, record))
        (void)session_put_completion(session, port->index, cycle, record);
    chunk = (struct chunk){.stop = CHUNK_BYTES, .last = true};
    if (port_put_chunk(port, cycle, &chunk, &full))
        (void)session_event(session, STOP_FRAME);
    (void)port_wake(port);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 1 || size > INPUT_LIMIT)
        return 0;
    char name[16];
    snprintf(name, sizeof name, "fd:%d", said(data + 1, size - 1, data[0] & 1));
    struct session *session = session_open(name, PORTS, DATA_WIDTH, 6400);
    demand(session != NULL);
    uint64_t cycle = 0;
    int64_t ahead = 1;
    for (int step = 0; step < STEPS && ahead > 0; step++) {
        ahead = session_poll(session, cycle);
        demand((ahead < 0) == error_is_set(&session->error));
        for (unsigned i = 0; i < PORTS && session->started && ahead > 0; i++)
            take_all(session, &session->ports[i], cycle);
        cycle += (uint64_t)(ahead > STEP_CYCLES ? STEP_CYCLES : ahead > 0 ? ahead : 0);
    }
    if (ahead < 0)
        demand(session_poll(session, cycle) < 0 && session_error(session)[0] != '\0');
    session_close(session, cycle);
    return 0;
}
