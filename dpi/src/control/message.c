// SPDX-License-Identifier: BSD-2-Clause
//
// Reading and writing the control channel's messages.

#include "control/message.h"

#include <string.h>

const uint8_t *take_bytes(struct cursor *c, size_t size) {
    if (c->bad || size > c->left) {
        c->bad = true;
        return NULL;
    }
    const uint8_t *bytes = c->data;
    c->data += size;
    c->left -= size;
    return bytes;
}

static uint64_t take_little_endian(struct cursor *c, size_t size) {
    const uint8_t *bytes = take_bytes(c, size);
    uint64_t value = 0;
    for (size_t i = 0; bytes && i < size; i++) {
        value |= (uint64_t)bytes[i] << (8 * i);
    }
    return value;
}

uint8_t take_u8(struct cursor *c) {
    return (uint8_t)take_little_endian(c, 1);
}

uint16_t take_u16(struct cursor *c) {
    return (uint16_t)take_little_endian(c, 2);
}

uint32_t take_u32(struct cursor *c) {
    return (uint32_t)take_little_endian(c, 4);
}

uint64_t take_u64(struct cursor *c) {
    return take_little_endian(c, 8);
}

void take_string(struct cursor *c, char *text, size_t capacity) {
    size_t length = take_u16(c);
    const uint8_t *bytes = take_bytes(c, length);
    text[0] = '\0';
    if (!bytes) {
        return;
    }
    if (length >= capacity || memchr(bytes, '\0', length)) {
        c->bad = true;
        return;
    }
    memcpy(text, bytes, length);
    text[length] = '\0';
}

bool take_done(const struct cursor *c) {
    return !c->bad && c->left == 0;
}

struct builder message_begin(struct buffer *out, enum message_type type) {
    struct builder b = {.out = out, .mark = buffer_size(out)};
    give_u32(&b, 0);
    give_u8(&b, (uint8_t)type);
    return b;
}

void give_bytes(struct builder *b, const void *bytes, size_t size) {
    if (!b->bad && !buffer_append(b->out, bytes, size)) {
        b->bad = true;
    }
}

static void give_little_endian(struct builder *b, uint64_t value, size_t size) {
    uint8_t bytes[8];
    for (size_t i = 0; i < size; i++) {
        bytes[i] = (uint8_t)(value >> (8 * i));
    }
    give_bytes(b, bytes, size);
}

void give_u8(struct builder *b, uint8_t value) {
    give_little_endian(b, value, 1);
}

void give_u16(struct builder *b, uint16_t value) {
    give_little_endian(b, value, 2);
}

void give_u32(struct builder *b, uint32_t value) {
    give_little_endian(b, value, 4);
}

void give_u64(struct builder *b, uint64_t value) {
    give_little_endian(b, value, 8);
}

void give_string(struct builder *b, const char *text) {
    size_t length = strlen(text);
    if (length > UINT16_MAX) {
        length = UINT16_MAX;
    }
    give_u16(b, (uint16_t)length);
    give_bytes(b, text, length);
}

bool message_end(struct builder *b) {
    if (b->bad) {
        b->out->end = b->out->start + b->mark;
        return false;
    }
    uint32_t length = (uint32_t)(buffer_size(b->out) - b->mark - 4);
    for (size_t i = 0; i < 4; i++) {
        buffer_front(b->out)[b->mark + i] = (uint8_t)(length >> (8 * i));
    }
    return true;
}
