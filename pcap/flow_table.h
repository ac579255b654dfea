// SPDX-License-Identifier: BSD-2-Clause
//
// All flows of a capture by their key, and what is known of each pair of stations.
// The memory is bounded: beyond a number of flows, and beyond a number of bytes for
// what flows remember, nothing is added.

#ifndef ROCEPROOF_FLOW_TABLE_H
#define ROCEPROOF_FLOW_TABLE_H

#include "flow.h"

enum { ROCE_MOST_WAITING = 256 };

#define ROCE_ANY_INTERFACE UINT32_MAX

// Flows from one address to another that carry requests and have no counterpart yet, newest
// first; and, for any interface, whether a CE mark has been seen on that way.
struct roce_route {
    struct roce_address source;
    struct roce_address destination;
    uint32_t interface;
    uint32_t waiting_count;
    struct roce_flow *waiting;
    bool marked;
    bool used;
};

struct roce_flow_table {
    struct roce_flow **flows;
    struct roce_flow **begun; // those with packets, by number
    uint32_t count;
    uint32_t begun_count;
    uint32_t capacity;
    uint32_t *buckets; // index + 1
    uint32_t bucket_mask;
    struct roce_route *routes;
    uint32_t route_mask;
    uint32_t route_count;
    size_t memory;    // bytes of rings, READs and gaps
    uint64_t refused; // requests for more
    struct roce_flow *latest;
};

bool roce_flow_table_open(struct roce_flow_table *table);
void roce_flow_table_close(struct roce_flow_table *table);

// The flow with that key, NULL if there is none.
struct roce_flow *roce_flow_find(struct roce_flow_table *table, const struct roce_key *key);

// As above, made if missing; NULL only for want of memory.
struct roce_flow *roce_flow_get(struct roce_flow_table *table, const struct roce_key *key,
                                bool *made);

// NULL only for want of memory.
struct roce_route *roce_route_get(struct roce_flow_table *table, uint32_t interface,
                                  const struct roce_address *source,
                                  const struct roce_address *destination);

// As above, but NULL if there is none.
const struct roce_route *roce_route_find(const struct roce_flow_table *table, uint32_t interface,
                                         const struct roce_address *source,
                                         const struct roce_address *destination);

// Memory for what a flow remembers, zeroed; NULL beyond the bound.
void *roce_flow_allocate(struct roce_flow_table *table, size_t bytes);
void roce_flow_release(struct roce_flow_table *table, void *memory, size_t bytes);

#endif
