// SPDX-License-Identifier: BSD-2-Clause
//
// Congestion notifications and the marks they answer: docs/observer.md, section 5.
//
// Decides CNP-02.

#include "judge.h"

enum { CONGESTION_EXPERIENCED = 3 };

// A CE mark anywhere on the way from A to B may bring a CNP from B to A.
void roce_note_mark(struct roce_oracle *oracle) {
    const struct roce_packet *packet = oracle->packet;
    const uint8_t *ip = packet->frame + packet->ip;
    const uint8_t class = packet->version == 4 ? ip[1] : (uint8_t)(roce_u16(ip) >> 4);
    if ((class & 3) != CONGESTION_EXPERIENCED)
        return;
    oracle->any_mark = true;
    struct roce_route *route = roce_route_get(&oracle->routes, ROCE_ANY_INTERFACE,
                                              &oracle->key.source, &oracle->key.destination);
    if (route != NULL)
        route->marked = true;
    else
        oracle->lost_mark = true;
}

static bool is_marked(const struct roce_oracle *oracle, const struct roce_key *key) {
    const struct roce_route *route =
        roce_route_find(&oracle->routes, ROCE_ANY_INTERFACE, &key->destination, &key->source);
    return (route != NULL && route->marked) || oracle->lost_mark;
}

void roce_judge_cnp(struct roce_oracle *oracle) {
    struct roce_flow *flow = oracle->flow;
    if (!is_marked(oracle, &flow->key))
        roce_found_as(oracle, RULE_CNP_02, oracle->any_mark ? ROCE_MUST : ROCE_INFO,
                      "a CE mark on the way here before", "none");
    const uint64_t now = oracle->record->time_ns;
    if (flow->count.cnps > 1 && now >= flow->last_cnp_ns) {
        const uint64_t since = now - flow->last_cnp_ns;
        if (flow->count.cnps == 2 || since < flow->least_cnp_ns)
            flow->least_cnp_ns = since;
    }
    flow->last_cnp_ns = now;
}
