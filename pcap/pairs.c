// SPDX-License-Identifier: BSD-2-Clause
//
// Who answers whom: docs/observer.md, section 4. A flow with requests and without a
// counterpart waits in the list of its route until a response shows whose it is.

#include "judge.h"

enum { TOLERANCE = 2 };

static struct roce_flow **place_of(struct roce_route *route, const struct roce_flow *flow) {
    struct roce_flow **place = &route->unpaired;
    while (*place != NULL && *place != flow)
        place = &(*place)->next_unpaired;
    return place;
}

void roce_offer(struct roce_oracle *oracle, struct roce_flow *flow) {
    if (flow->unpaired || flow->counterpart != NULL)
        return;
    struct roce_route *route =
        roce_route_get(&oracle->table, &flow->key.source, &flow->key.destination);
    if (route == NULL)
        return;
    flow->next_unpaired = route->unpaired;
    route->unpaired = flow;
    flow->unpaired = true;
}

static void withdraw(struct roce_oracle *oracle, struct roce_flow *flow) {
    if (!flow->unpaired)
        return;
    struct roce_route *route =
        roce_route_get(&oracle->table, &flow->key.source, &flow->key.destination);
    struct roce_flow **place = route ? place_of(route, flow) : NULL;
    if (place != NULL && *place != NULL)
        *place = flow->next_unpaired;
    flow->unpaired = false;
}

void roce_pair(struct roce_oracle *oracle, struct roce_flow *flow, struct roce_flow *other) {
    if (flow->counterpart == other)
        return;
    if (flow->counterpart != NULL)
        flow->counterpart->counterpart = NULL;
    if (other->counterpart != NULL)
        other->counterpart->counterpart = NULL;
    withdraw(oracle, flow);
    withdraw(oracle, other);
    flow->counterpart = other;
    other->counterpart = flow;
    if (flow->path_mtu != 0)
        roce_learn_mtu(flow, flow->path_mtu);
    else if (other->path_mtu != 0)
        roce_learn_mtu(other, other->path_mtu);
}

static bool holds(const struct roce_flow *flow, uint32_t psn) {
    const int64_t position = roce_near(flow->newest, psn);
    const int64_t oldest = flow->newest - ROCE_RESTART;
    return position >= flow->first - TOLERANCE && position <= flow->newest + TOLERANCE &&
           position >= oldest;
}

// How many of the waiting flows, reliable or not, hold the PSN of the packet; `found` is one.
static unsigned int fits(const struct roce_oracle *oracle, struct roce_flow *waiting, bool reliable,
                         struct roce_flow **found) {
    unsigned int count = 0;
    for (struct roce_flow *flow = waiting; flow != NULL; flow = flow->next_unpaired) {
        if (!flow->has_requests || (flow->service == ROCE_RC) != reliable ||
            flow->key.interface != oracle->key.interface || flow == oracle->flow ||
            !holds(flow, oracle->packet->psn))
            continue;
        *found = flow;
        if (++count > 1)
            break;
    }
    return count;
}

struct roce_flow *roce_counterpart(struct roce_oracle *oracle) {
    struct roce_flow *flow = oracle->flow;
    if (flow->counterpart != NULL)
        return flow->counterpart;
    struct roce_route *route =
        roce_route_get(&oracle->table, &flow->key.destination, &flow->key.source);
    if (route == NULL || route->unpaired == NULL)
        return NULL;
    struct roce_flow *found = NULL;
    unsigned int count = fits(oracle, route->unpaired, true, &found);
    if (count == 0)
        count = fits(oracle, route->unpaired, false, &found);
    if (count != 1)
        return NULL;
    roce_pair(oracle, flow, found);
    return found;
}
