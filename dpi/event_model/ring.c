// SPDX-License-Identifier: BSD-2-Clause

#include "ring.h"

#include <stdlib.h>

static const uint32_t least_capacity = 16;

bool ring_push(struct ring *r, struct packet p) {
    if (r->count == r->capacity) {
        uint32_t capacity = r->capacity ? 2 * r->capacity : least_capacity;
        struct packet *packets = malloc(capacity * sizeof *packets);
        if (!packets)
            return false;
        for (uint32_t n = 0; n < r->count; n++)
            packets[n] = r->packets[(r->begin + n) & (r->capacity - 1)];
        free(r->packets);
        r->packets = packets;
        r->begin = 0;
        r->capacity = capacity;
    }
    r->packets[(r->begin + r->count++) & (r->capacity - 1)] = p;
    return true;
}

struct packet ring_pop(struct ring *r) {
    struct packet p = r->packets[r->begin];
    r->begin = (r->begin + 1) & (r->capacity - 1);
    r->count--;
    return p;
}

void ring_free(struct ring *r) {
    free(r->packets);
}
