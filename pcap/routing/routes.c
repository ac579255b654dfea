// SPDX-License-Identifier: BSD-2-Clause

#include "routing/routes.h"

#include <stdlib.h>

#include "flow/hash.h"

enum { FIRST_SLOTS = 256, MOST_ROUTES = 1 << 16 };

bool roce_routes_open(struct roce_routes *routes) {
    *routes = (struct roce_routes){.mask = FIRST_SLOTS - 1, .seed = roce_hash_seed(routes)};
    routes->slots = calloc(FIRST_SLOTS, sizeof *routes->slots);
    return routes->slots != NULL;
}

void roce_routes_close(struct roce_routes *routes) {
    free(routes->slots);
}

static struct roce_route *slot_of(const struct roce_routes *routes, uint32_t interface,
                                  const struct roce_address *source,
                                  const struct roce_address *destination) {
    const uint64_t hash = roce_address_hash(routes->seed, source);
    uint32_t at = (uint32_t)roce_hash(roce_address_hash(hash, destination), interface);
    for (;; at++) {
        struct roce_route *route = &routes->slots[at & routes->mask];
        if (!route->used ||
            (route->interface == interface && roce_same_address(&route->source, source) &&
             roce_same_address(&route->destination, destination)))
            return route;
    }
}

static bool widen(struct roce_routes *routes) {
    const uint32_t slots = routes->mask + 1;
    struct roce_routes wider = *routes;
    wider.mask = 2 * slots - 1;
    wider.slots = calloc(2 * (size_t)slots, sizeof *wider.slots);
    if (wider.slots == NULL)
        return false;
    for (uint32_t i = 0; i < slots; i++) {
        const struct roce_route *old = &routes->slots[i];
        if (old->used)
            *slot_of(&wider, old->interface, &old->source, &old->destination) = *old;
    }
    free(routes->slots);
    *routes = wider;
    return true;
}

struct roce_route *roce_route_get(struct roce_routes *routes, uint32_t interface,
                                  const struct roce_address *source,
                                  const struct roce_address *destination) {
    struct roce_route *route = slot_of(routes, interface, source, destination);
    if (route->used)
        return route;
    if (routes->count == MOST_ROUTES)
        return NULL;
    if (2 * routes->count >= routes->mask) {
        if (!widen(routes))
            return NULL;
        route = slot_of(routes, interface, source, destination);
    }
    routes->count++;
    *route = (struct roce_route){
        .source = *source, .destination = *destination, .interface = interface, .used = true};
    return route;
}

const struct roce_route *roce_route_find(const struct roce_routes *routes, uint32_t interface,
                                         const struct roce_address *source,
                                         const struct roce_address *destination) {
    const struct roce_route *route = slot_of(routes, interface, source, destination);
    return route->used ? route : NULL;
}
