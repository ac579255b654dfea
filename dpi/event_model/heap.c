// SPDX-License-Identifier: BSD-2-Clause

#include "heap.h"

#include <stdlib.h>

static const uint32_t absent = UINT32_MAX;

bool heap_init(struct heap *h, uint32_t capacity) {
    h->items = calloc(capacity, sizeof *h->items);
    h->places = calloc(capacity, sizeof *h->places);
    h->times = calloc(capacity, sizeof *h->times);
    h->count = 0;
    h->capacity = capacity;
    if (!h->items || !h->places || !h->times)
        return false;
    for (uint32_t item = 0; item < capacity; item++) {
        h->places[item] = absent;
        h->times[item] = NEVER;
    }
    return true;
}

void heap_free(struct heap *h) {
    free(h->items);
    free(h->places);
    free(h->times);
}

static bool is_before(const struct heap *h, uint32_t a, uint32_t b) {
    return h->times[a] != h->times[b] ? h->times[a] < h->times[b] : a < b;
}

static void put(struct heap *h, uint32_t place, uint32_t item) {
    h->items[place] = item;
    h->places[item] = place;
}

static void rise(struct heap *h, uint32_t place, uint32_t item) {
    while (place > 0) {
        uint32_t parent = (place - 1) / 2;
        if (!is_before(h, item, h->items[parent]))
            break;
        put(h, place, h->items[parent]);
        place = parent;
    }
    put(h, place, item);
}

static void sink(struct heap *h, uint32_t place, uint32_t item) {
    for (uint32_t child; (child = 2 * place + 1) < h->count; place = child) {
        if (child + 1 < h->count && is_before(h, h->items[child + 1], h->items[child]))
            child++;
        if (!is_before(h, h->items[child], item))
            break;
        put(h, place, h->items[child]);
    }
    put(h, place, item);
}

static void settle(struct heap *h, uint32_t place, uint32_t item) {
    if (place > 0 && is_before(h, item, h->items[(place - 1) / 2]))
        rise(h, place, item);
    else
        sink(h, place, item);
}

static void drop(struct heap *h, uint32_t place) {
    h->places[h->items[place]] = absent;
    uint32_t last = h->items[--h->count];
    if (place < h->count)
        settle(h, place, last);
}

void heap_set(struct heap *h, uint32_t item, uint64_t time) {
    uint32_t place = h->places[item];
    h->times[item] = time;
    if (time == NEVER) {
        if (place != absent)
            drop(h, place);
    } else if (place == absent) {
        rise(h, h->count++, item);
    } else {
        settle(h, place, item);
    }
}

uint32_t heap_take(struct heap *h) {
    uint32_t item = h->items[0];
    h->times[item] = NEVER;
    drop(h, 0);
    return item;
}
