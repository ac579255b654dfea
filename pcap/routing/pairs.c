// SPDX-License-Identifier: BSD-2-Clause
//
// Who answers whom: docs/observer.md, section 4. A flow with requests and without a
// counterpart waits in the list of its route until a response shows whose it is.

#include "routing/pairs.h"

#include "flow/psn.h"
#include "requests/path_mtu.h"

enum { TOLERANCE = 2 };

static struct roce_route *route_of(struct roce_oracle *oracle, const struct roce_flow *flow) {
    const struct roce_key *key = &flow->key;
    return roce_route_get(&oracle->routes, key->interface, &key->source, &key->destination);
}

void roce_offer(struct roce_oracle *oracle, struct roce_flow *flow) {
    if (flow->waiting || flow->counterpart != NULL)
        return;
    struct roce_route *route = route_of(oracle, flow);
    if (route == NULL)
        return;
    flow->previous_waiting = NULL;
    flow->next_waiting = route->waiting;
    if (route->waiting != NULL)
        route->waiting->previous_waiting = flow;
    route->waiting = flow;
    route->waiting_count++;
    flow->waiting = true;
}

void roce_withdraw(struct roce_oracle *oracle, struct roce_flow *flow) {
    if (!flow->waiting)
        return;
    struct roce_route *route = route_of(oracle, flow);
    if (flow->previous_waiting != NULL)
        flow->previous_waiting->next_waiting = flow->next_waiting;
    else
        route->waiting = flow->next_waiting;
    if (flow->next_waiting != NULL)
        flow->next_waiting->previous_waiting = flow->previous_waiting;
    route->waiting_count--;
    flow->waiting = false;
}

void roce_flow_move(struct roce_oracle *oracle, struct roce_flow *flow, uint8_t judge) {
    const size_t bytes = roce_flow_bytes(flow);
    oracle->judges[flow->judge].memory.bytes -= bytes;
    oracle->judges[judge].memory.bytes += bytes;
    flow->judge = judge;
}

static void part(struct roce_oracle *oracle, struct roce_flow *flow) {
    struct roce_flow *former = flow->counterpart;
    flow->changes++;
    flow->counterpart = NULL;
    if (former == NULL)
        return;
    former->changes++;
    former->counterpart = NULL;
    if (former->requests.any)
        roce_offer(oracle, former);
}

void roce_pair(struct roce_oracle *oracle, struct roce_flow *flow, struct roce_flow *other) {
    if (flow->counterpart == other)
        return;
    part(oracle, flow);
    part(oracle, other);
    roce_withdraw(oracle, flow);
    roce_withdraw(oracle, other);
    flow->counterpart = other;
    other->counterpart = flow;
    roce_flow_move(oracle, other, flow->judge);
    if (flow->path_mtu != 0)
        roce_learn_mtu(flow, flow->path_mtu);
    else if (other->path_mtu != 0)
        roce_learn_mtu(other, other->path_mtu);
}

static bool holds(const struct roce_requests *requests, uint32_t psn) {
    const int64_t position = roce_near(requests->newest, psn);
    return position >= requests->first - TOLERANCE && position <= requests->newest + TOLERANCE &&
           position >= requests->newest - ROCE_RESTART;
}

// How many of the waiting flows, reliable or not, hold the PSN of the packet; `found` is one.
static unsigned int fits(const struct roce_judge *judge, struct roce_flow *waiting, bool reliable,
                         struct roce_flow **found) {
    unsigned int count = 0;
    for (struct roce_flow *flow = waiting; flow != NULL; flow = flow->next_waiting) {
        if ((flow->service == ROCE_RC) != reliable || flow == judge->flow ||
            !holds(&flow->requests, judge->packet->psn))
            continue;
        *found = flow;
        if (++count > 1)
            break;
    }
    return count;
}

bool roce_is_alone(const struct roce_oracle *oracle, const struct roce_key *key) {
    const struct roce_route *route =
        roce_route_find(&oracle->routes, key->interface, &key->destination, &key->source);
    return route == NULL || route->waiting_count == 0 || route->waiting_count > ROCE_MOST_WAITING;
}

struct roce_flow *roce_counterpart(struct roce_judge *judge) {
    struct roce_flow *flow = judge->flow;
    if (flow->counterpart != NULL || (judge->routed->notes & ROCE_ALONE))
        return flow->counterpart;
    const struct roce_route *route = roce_route_find(&judge->oracle->routes, flow->key.interface,
                                                     &flow->key.destination, &flow->key.source);
    struct roce_flow *found = NULL;
    unsigned int count = fits(judge, route->waiting, true, &found);
    if (count == 0)
        count = fits(judge, route->waiting, false, &found);
    if (count != 1)
        return NULL;
    roce_pair(judge->oracle, flow, found);
    return found;
}
