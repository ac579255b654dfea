// SPDX-License-Identifier: BSD-2-Clause
//
// Packets, replies and PAUSE frames that wait in the order in which they came.

#ifndef ROCEPROOF_RING_H
#define ROCEPROOF_RING_H

#include <stdbool.h>
#include <stdint.h>

struct packet {
    uint64_t time; // when it arrives where it goes, in picoseconds
    uint64_t psn;  // counted from 0 without wrap: of a packet, or that a reply names
    uint32_t flow;
    uint16_t wire; // bytes of line time: frame, FCS, preamble and gap
    uint8_t hop;   // which port of the flow's path it is at
    uint8_t kind;  // of a reply, or of a PAUSE frame
};

struct ring {
    struct packet *packets;
    uint32_t begin;
    uint32_t count;
    uint32_t capacity; // a power of two, or 0
};

bool ring_push(struct ring *r, struct packet p); // false without memory
struct packet ring_pop(struct ring *r);          // must not be empty
void ring_free(struct ring *r);

static inline struct packet *ring_front(const struct ring *r) {
    return &r->packets[r->begin];
}

static inline struct packet *ring_back(const struct ring *r) {
    return &r->packets[(r->begin + r->count - 1) & (r->capacity - 1)];
}

#endif
