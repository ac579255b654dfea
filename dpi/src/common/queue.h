// SPDX-License-Identifier: BSD-2-Clause
//
// A bounded first-in first-out ring of equal-sized elements. Refuses rather
// than grow past its limit; the caller says what a refusal means.

#ifndef ROCEPROOF_QUEUE_H
#define ROCEPROOF_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct queue {
    uint8_t *ring;
    size_t element;  // bytes
    size_t limit;    // elements
    size_t capacity; // elements the ring has room for now
    size_t head;
    size_t size;
};

static inline void queue_init(struct queue *q, size_t element, size_t limit) {
    *q = (struct queue){.element = element, .limit = limit};
}

bool queue_push(struct queue *q, const void *element);
void *queue_front(const struct queue *q); // NULL when empty
void queue_pop(struct queue *q);          // the queue is not empty
void queue_free(struct queue *q);

#endif
