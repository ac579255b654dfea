// SPDX-License-Identifier: BSD-2-Clause
//
// What is known of each way from one address to another: the flows that wait for a
// counterpart, and whether a frame was marked. The number of ways is bounded.

#ifndef ROCEPROOF_ROUTES_H
#define ROCEPROOF_ROUTES_H

#include "flow/flow.h"

enum { ROCE_MOST_WAITING = 256 };

#define ROCE_ANY_INTERFACE UINT32_MAX

// Flows that carry requests and have no counterpart yet, newest first; and, for any
// interface, whether a CE mark has been seen.
struct roce_route {
    struct roce_address source;
    struct roce_address destination;
    uint32_t interface;
    uint32_t waiting_count;
    struct roce_flow *waiting;
    bool marked;
    bool used;
};

struct roce_routes {
    struct roce_route *slots;
    uint32_t mask;
    uint32_t count;
    uint64_t seed; // of the hash
};

bool roce_routes_open(struct roce_routes *routes);
void roce_routes_close(struct roce_routes *routes);

// The route of that key, made if missing; NULL only for want of memory.
struct roce_route *roce_route_get(struct roce_routes *routes, uint32_t interface,
                                  const struct roce_address *source,
                                  const struct roce_address *destination);

// As above, but NULL if there is none.
const struct roce_route *roce_route_find(const struct roce_routes *routes, uint32_t interface,
                                         const struct roce_address *source,
                                         const struct roce_address *destination);

#endif
