// SPDX-License-Identifier: BSD-2-Clause
//
// A growing run of bytes: appended at the end, consumed from the start.

#ifndef ROCEPROOF_BUFFER_H
#define ROCEPROOF_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buffer {
    uint8_t *data;
    size_t start;
    size_t end;
    size_t capacity;
};

static inline size_t buffer_size(const struct buffer *b) {
    return b->end - b->start;
}

static inline uint8_t *buffer_front(const struct buffer *b) {
    return b->data + b->start;
}

// Makes room for `size` more bytes and returns where they go, or NULL without
// memory. The caller writes there, then calls buffer_grow with what it wrote.
uint8_t *buffer_room(struct buffer *b, size_t size);
void buffer_grow(struct buffer *b, size_t size);

bool buffer_append(struct buffer *b, const void *bytes, size_t size);
void buffer_consume(struct buffer *b, size_t size);
void buffer_free(struct buffer *b);

#endif
