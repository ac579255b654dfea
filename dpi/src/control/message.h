// SPDX-License-Identifier: BSD-2-Clause
//
// The control channel's messages as bytes: little-endian fields behind a
// length and a type. docs/bridge.md has the table. A cursor never reads past
// its message; what it could not read makes it bad, once and for all.

#ifndef ROCEPROOF_MESSAGE_H
#define ROCEPROOF_MESSAGE_H

#include "common/buffer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    MESSAGE_VERSION = 3,
    MESSAGE_LENGTH_LIMIT = 1 << 28, // type and body
};

enum message_type {
    // host to simulation
    MESSAGE_SESSION = 0x01,
    MESSAGE_PORT = 0x02,
    MESSAGE_START = 0x03,
    MESSAGE_FLOW = 0x10,
    MESSAGE_QPC = 0x11,
    MESSAGE_WORK_REQUEST = 0x12,
    MESSAGE_FRAME = 0x13,
    MESSAGE_RUN = 0x14,
    MESSAGE_STOP = 0x15,
    MESSAGE_QUERY = 0x16,
    MESSAGE_REGION = 0x17,
    MESSAGE_RECEIVE = 0x18,
    MESSAGE_PEEK = 0x19,
    MESSAGE_POKE = 0x1a,
    MESSAGE_RESET = 0x1b,
    // simulation to host
    MESSAGE_HELLO = 0x81,
    MESSAGE_STOPPED = 0x82,
    MESSAGE_SENT_FRAME = 0x83,
    MESSAGE_COMPLETION = 0x84,
    MESSAGE_STATISTICS = 0x85,
    MESSAGE_ERROR = 0x86,
    MESSAGE_TAKEN = 0x87,
    MESSAGE_RECEIVE_COMPLETION = 0x88,
    MESSAGE_MEMORY = 0x89,
    MESSAGE_CONNECTION = 0x8a,
};

struct cursor {
    const uint8_t *data;
    size_t left;
    bool bad;
};

uint8_t take_u8(struct cursor *c);
uint16_t take_u16(struct cursor *c);
uint32_t take_u32(struct cursor *c);
uint64_t take_u64(struct cursor *c);
// NULL when fewer than `size` bytes are left.
const uint8_t *take_bytes(struct cursor *c, size_t size);
// A 16-bit length and that many bytes without NUL; bad when it does not fit.
void take_string(struct cursor *c, char *text, size_t capacity);
// True when the whole message was read and nothing was missing.
bool take_done(const struct cursor *c);

struct builder {
    struct buffer *out;
    size_t mark; // where the message's length goes, from the buffer's front
    bool bad;    // no memory: the message was left out
};

struct builder message_begin(struct buffer *out, enum message_type type);
void give_u8(struct builder *b, uint8_t value);
void give_u16(struct builder *b, uint16_t value);
void give_u32(struct builder *b, uint32_t value);
void give_u64(struct builder *b, uint64_t value);
void give_bytes(struct builder *b, const void *bytes, size_t size);
void give_string(struct builder *b, const char *text);
bool message_end(struct builder *b);

#endif
