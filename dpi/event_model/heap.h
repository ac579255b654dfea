// SPDX-License-Identifier: BSD-2-Clause
//
// What happens next: each of a fixed set of agenda items has at most one time at which it is due.
// Of items due at the same time the one with the smallest number comes first, so that a run depends
// on nothing but its description.

#ifndef ROCEPROOF_HEAP_H
#define ROCEPROOF_HEAP_H

#include <stdbool.h>
#include <stdint.h>

// Times in picoseconds; NEVER is later than any.
#define NEVER UINT64_MAX

struct heap {
    uint32_t *items;
    uint32_t *places;
    uint64_t *times;
    uint32_t count;
    uint32_t capacity;
};

// For items 0 to capacity - 1, none of them due. False without memory.
bool heap_init(struct heap *h, uint32_t capacity);
void heap_free(struct heap *h);

// The item is due then, whatever was said of it before; NEVER takes it from the agenda.
void heap_set(struct heap *h, uint32_t item, uint64_t time);

static inline uint64_t heap_time(const struct heap *h) {
    return h->count ? h->times[h->items[0]] : NEVER;
}

// Takes the next item from the agenda; the heap must not be empty.
uint32_t heap_take(struct heap *h);

#endif
