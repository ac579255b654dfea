// SPDX-License-Identifier: BSD-2-Clause
//
// A growing run of bytes.

#include "common/buffer.h"

#include <stdlib.h>
#include <string.h>

uint8_t *buffer_room(struct buffer *b, size_t size) {
    if (size <= b->capacity - b->end) {
        return b->data + b->end;
    }
    size_t held = buffer_size(b);
    if (size > SIZE_MAX / 2 - held) {
        return NULL;
    }
    if (held + size > b->capacity) {
        size_t capacity = b->capacity < 4096 ? 4096 : b->capacity;
        while (capacity < held + size) {
            capacity *= 2;
        }
        uint8_t *data = malloc(capacity);
        if (!data) {
            return NULL;
        }
        if (held) {
            memcpy(data, buffer_front(b), held);
        }
        free(b->data);
        b->data = data;
        b->capacity = capacity;
    } else {
        memmove(b->data, buffer_front(b), held);
    }
    b->start = 0;
    b->end = held;
    return b->data + b->end;
}

void buffer_grow(struct buffer *b, size_t size) {
    b->end += size;
}

bool buffer_append(struct buffer *b, const void *bytes, size_t size) {
    if (size == 0) {
        return true;
    }
    uint8_t *room = buffer_room(b, size);
    if (!room) {
        return false;
    }
    memcpy(room, bytes, size);
    buffer_grow(b, size);
    return true;
}

void buffer_consume(struct buffer *b, size_t size) {
    b->start += size;
    if (b->start == b->end) {
        b->start = 0;
        b->end = 0;
    }
}

void buffer_free(struct buffer *b) {
    free(b->data);
    *b = (struct buffer){0};
}
