// SPDX-License-Identifier: BSD-2-Clause
//
// A bounded first-in first-out ring of equal-sized elements.

#include "common/queue.h"

#include <stdlib.h>
#include <string.h>

static uint8_t *slot(const struct queue *q, size_t index) {
    return q->ring + (q->head + index) % q->capacity * q->element;
}

static bool grow(struct queue *q) {
    size_t capacity = q->capacity ? q->capacity * 2 : 16;
    if (capacity > q->limit) {
        capacity = q->limit;
    }
    uint8_t *ring = calloc(capacity, q->element);
    if (!ring) {
        return false;
    }
    for (size_t i = 0; i < q->size; i++) {
        memcpy(ring + i * q->element, slot(q, i), q->element);
    }
    free(q->ring);
    q->ring = ring;
    q->capacity = capacity;
    q->head = 0;
    return true;
}

bool queue_push(struct queue *q, const void *element) {
    if (q->size >= q->limit || (q->size == q->capacity && !grow(q))) {
        return false;
    }
    memcpy(slot(q, q->size), element, q->element);
    q->size++;
    return true;
}

void *queue_front(const struct queue *q) {
    return q->size ? slot(q, 0) : NULL;
}

void queue_pop(struct queue *q) {
    q->head = (q->head + 1) % q->capacity;
    q->size--;
}

void queue_free(struct queue *q) {
    free(q->ring);
    *q = (struct queue){0};
}
