// SPDX-License-Identifier: BSD-2-Clause
//
// The DPI functions of sv/roceproof_bridge_pkg.sv: translation only. Compiled
// against the header that the simulator generated, so that the prototypes
// cannot drift.

#include ROCEPROOF_DPI_HEADER

#include "session/session.h"
#include "session/streams.h"

#include <string.h>

enum {
    INFO_STOP_SHIFT = 8,
    INFO_LAST = 1 << 16,
    INFO_DISCARD = 1 << 17,
    INFO_VALID = 1 << 18,
    INFO_EARLY = 1 << 19,
    ANSWER_POLL = 1 << 0,
    ANSWER_FULL = 1 << 1,
    CHUNK_WORDS = CHUNK_BYTES / 4,
};

// Lanes to words: byte 0 in the low bits.
static void lanes_to_vector(const uint8_t *bytes, svBitVecVal *words, size_t count) {
    for (size_t i = 0; i < count; i++, bytes += 4) {
        words[i] = bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
                   (uint32_t)bytes[3] << 24;
    }
}

static void vector_to_lanes(const svBitVecVal *words, uint8_t *bytes, size_t count) {
    for (size_t i = 0; i < count; i++, bytes += 4) {
        bytes[0] = (uint8_t)words[i];
        bytes[1] = (uint8_t)(words[i] >> 8);
        bytes[2] = (uint8_t)(words[i] >> 16);
        bytes[3] = (uint8_t)(words[i] >> 24);
    }
}

// A record of `size` bytes is a vector whose last byte is in the low bits.
static void record_to_vector(const uint8_t *bytes, size_t size, svBitVecVal *words) {
    memset(words, 0, (size + 3) / 4 * sizeof *words);
    for (size_t i = 0; i < size; i++) {
        words[i / 4] |= (uint32_t)bytes[size - 1 - i] << (8 * (i % 4));
    }
}

static void vector_to_record(const svBitVecVal *words, uint8_t *bytes, size_t size) {
    for (size_t i = 0; i < size; i++) {
        bytes[size - 1 - i] = (uint8_t)(words[i / 4] >> (8 * (i % 4)));
    }
}

void *roceproof_session_open(const char *control, int ports, int data_width, long long clock_ps) {
    return session_open(control, ports, data_width, clock_ps);
}

long long roceproof_session_poll(void *session, long long cycle) {
    return session ? session_poll(session, (uint64_t)cycle) : -1;
}

const char *roceproof_session_error(void *session) {
    return session ? session_error(session) : "the bridge is out of memory";
}

void roceproof_session_close(void *session, long long cycle) {
    if (session) {
        session_close(session, (uint64_t)cycle);
    }
}

// NULL, which every function below tolerates, until a failed open is reported.
void *roceproof_port_open(void *handle, int index) {
    struct session *session = handle;
    return session && session->started ? &session->ports[index] : NULL;
}

void roceproof_port_identity(void *handle, svBitVecVal *mac, svBitVecVal *gid, svBitVecVal *seed) {
    static const struct port none;
    const struct port *port = handle ? handle : &none;
    record_to_vector(port->mac, sizeof port->mac, mac);
    record_to_vector(port->gid, sizeof port->gid, gid);
    seed[0] = (uint32_t)port->seed;
    seed[1] = (uint32_t)(port->seed >> 32);
}

int roceproof_port_wake(void *handle, svBitVecVal *flow) {
    const struct port *port = handle;
    flow[0] = flow[1] = flow[2] = 0;
    if (!port) {
        return 0;
    }
    for (unsigned i = 0; i < FLOWS; i++) {
        flow[i / 4] |= (uint32_t)port->flow[i] << (8 * (i % 4));
    }
    bool room = buffer_size(&port->session->control.out) <= BACKLOG_LIMIT;
    unsigned completions =
        1u << STREAM_COMPLETION | 1u << STREAM_RECEIVE_COMPLETION | 1u << STREAM_CONNECTION;
    return (int)(port_wake(port) | (room ? completions : 0));
}

int roceproof_port_reset(void *handle) {
    struct port *port = handle;
    unsigned cycles = port ? port->reset : 0;
    if (port) {
        port->reset = 0;
    }
    return (int)cycles;
}

void roceproof_port_watched(void *handle, const svBitVecVal *beats, const svBitVecVal *moved,
                            int signals) {
    struct port *port = handle;
    for (unsigned i = 0; port && i < STREAMS; i++) {
        port->watched[i] = (struct watched){
            .beats = beats[2 * i] | (uint64_t)beats[2 * i + 1] << 32,
            .moved = moved[2 * i] | (uint64_t)moved[2 * i + 1] << 32,
            .is_valid = (unsigned)signals >> i & 1,
            .is_ready = (unsigned)signals >> (STREAMS + i) & 1,
            .is_amid = (unsigned)signals >> (2 * STREAMS + i) & 1,
        };
    }
}

int roceproof_get_chunk(void *handle, int stream, long long cycle, svBitVecVal *data) {
    struct chunk chunk;
    if (!handle || !port_get_chunk(handle, (enum stream)stream, (uint64_t)cycle, &chunk)) {
        return 0;
    }
    lanes_to_vector(chunk.bytes, data, CHUNK_WORDS);
    return (int)(INFO_VALID | chunk.first | chunk.stop << INFO_STOP_SHIFT |
                 (chunk.last ? INFO_LAST : 0u) | (chunk.discard ? INFO_DISCARD : 0u) |
                 (chunk.early ? INFO_EARLY : 0u));
}

int roceproof_get_record(void *handle, int stream, long long cycle, svBitVecVal *record) {
    static const struct {
        bool (*get)(struct port *port, uint64_t cycle, uint8_t *record);
        size_t size;
    } sources[] = {
        [STREAM_QPC] = {port_get_qpc, QPC_BYTES},
        [STREAM_WR] = {port_get_work_request, WORK_REQUEST_BYTES},
        [STREAM_REGION] = {port_get_region, REGION_BYTES},
        [STREAM_RECEIVE] = {port_get_receive, RECEIVE_BYTES},
    };
    uint8_t bytes[RECORD_LIMIT];
    if (!handle || !sources[stream].get(handle, (uint64_t)cycle, bytes)) {
        return 0;
    }
    record_to_vector(bytes, sources[stream].size, record);
    return 1;
}

void roceproof_qpc_waits(void *handle, long long cycle) {
    if (handle) {
        port_qpc_waits(handle, (uint64_t)cycle);
    }
}

static int answer(const struct session *session, bool poll, bool full) {
    return (poll || error_is_set(&session->error) ? ANSWER_POLL : 0) | (full ? ANSWER_FULL : 0);
}

int roceproof_put_chunk(void *handle, long long cycle, const svBitVecVal *data, int info) {
    struct port *port = handle;
    struct chunk chunk = {
        .stop = (unsigned)info >> INFO_STOP_SHIFT & 0xff,
        .last = info & INFO_LAST,
        .discard = info & INFO_DISCARD,
    };
    bool full;
    if (!port) {
        return 0;
    }
    vector_to_lanes(data, chunk.bytes, CHUNK_WORDS);
    bool sent = port_put_chunk(port, (uint64_t)cycle, &chunk, &full);
    return answer(port->session, sent && session_event(port->session, STOP_FRAME), full);
}

int roceproof_put_record(void *handle, int stream, long long cycle, const svBitVecVal *record) {
    struct port *port = handle;
    uint8_t bytes[EVENT_BYTES];
    bool room;
    if (!port) {
        return 0;
    }
    if (stream == STREAM_COMPLETION) {
        vector_to_record(record, bytes, COMPLETION_BYTES);
        room = session_put_completion(port->session, port->index, (uint64_t)cycle, bytes);
    } else {
        enum message_type type =
            stream == STREAM_CONNECTION ? MESSAGE_CONNECTION : MESSAGE_RECEIVE_COMPLETION;
        vector_to_record(record, bytes, EVENT_BYTES);
        room = session_put_event(port->session, type, port->index, (uint64_t)cycle, bytes);
    }
    return answer(port->session, session_event(port->session, STOP_COMPLETION), !room);
}

void roceproof_memory_write(void *handle, long long address, const svBitVecVal *data, int length) {
    struct port *port = handle;
    uint8_t bytes[CHUNK_BYTES];
    if (!port || length <= 0 || length > CHUNK_BYTES) {
        return;
    }
    vector_to_lanes(data, bytes, CHUNK_WORDS);
    if (!memory_write(&port->memory, (uint64_t)address, bytes, (size_t)length)) {
        error_set(port->error, "port %u: out of memory", port->index);
    }
}

void roceproof_memory_read(void *handle, long long address, svBitVecVal *data, int length) {
    struct port *port = handle;
    uint8_t bytes[CHUNK_BYTES];
    memset(bytes, NULL_LANE, CHUNK_BYTES);
    if (port && length > 0 && length <= CHUNK_BYTES) {
        memory_read(&port->memory, (uint64_t)address, bytes, (size_t)length);
    }
    lanes_to_vector(bytes, data, CHUNK_WORDS);
}

// Only a simulation of a device with memory of its own exports the two.
#ifdef ROCEPROOF_BACKDOOR

static void backdoor_read(void *scope, uint64_t address, uint8_t *bytes, size_t length) {
    svSetScope(scope);
    for (size_t i = 0; i < length; i++) {
        bytes[i] = roceproof_backdoor_read((int)(address + i));
    }
}

static void backdoor_write(void *scope, uint64_t address, const uint8_t *bytes, size_t length) {
    svSetScope(scope);
    for (size_t i = 0; i < length; i++) {
        roceproof_backdoor_write((int)(address + i), bytes[i]);
    }
}

void roceproof_backdoor_open(void *handle) {
    struct port *port = handle;
    if (port) {
        port->backdoor = (struct backdoor){svGetScope(), backdoor_read, backdoor_write};
    }
}

#endif
