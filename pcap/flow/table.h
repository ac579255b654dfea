// SPDX-License-Identifier: BSD-2-Clause
//
// All flows of a capture by their key. The memory is bounded: beyond a number of
// flows, and beyond a number of bytes for what the flows of one judge remember,
// nothing is added.

#ifndef ROCEPROOF_FLOW_TABLE_H
#define ROCEPROOF_FLOW_TABLE_H

#include "flow/flow.h"

enum { ROCE_RECENT_FLOWS = 64 };

// What the flows of one judge take.
struct roce_memory {
    size_t bytes; // of rings, READs and gaps
    bool refused; // more was asked for; the judge clears it
};

struct roce_flow_table {
    struct roce_flow **flows;
    struct roce_flow **begun; // those with packets, by number
    uint32_t count;
    uint32_t begun_count;
    uint32_t capacity;
    uint32_t *buckets; // index + 1
    uint32_t bucket_mask;
    uint64_t seed;                               // of the hash
    struct roce_flow *recent[ROCE_RECENT_FLOWS]; // by a few bits of their keys
};

bool roce_flow_table_open(struct roce_flow_table *table);
void roce_flow_table_close(struct roce_flow_table *table);

// The flow with that key, NULL if there is none.
struct roce_flow *roce_flow_find(struct roce_flow_table *table, const struct roce_key *key);

// That of a packet with a BTH, on that interface; NULL, too, if it is not at hand.
struct roce_flow *roce_flow_recent(const struct roce_flow_table *table, uint32_t interface,
                                   const struct roce_packet *packet);

// As above, made if missing; NULL only for want of memory.
struct roce_flow *roce_flow_get(struct roce_flow_table *table, const struct roce_key *key,
                                bool *made);

// Room for what a flow remembers, zeroed; NULL beyond the bound.
void *roce_flow_allocate(struct roce_memory *memory, size_t bytes);
void roce_flow_release(struct roce_memory *memory, void *at, size_t bytes);

// How much of it a flow has.
size_t roce_flow_bytes(const struct roce_flow *flow);

#endif
