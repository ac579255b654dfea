// SPDX-License-Identifier: BSD-2-Clause
//
// Which flow a packet belongs to, and what the frames of others mean for it: said by one
// thread at a time and in capture order. Inside the library only.

#ifndef ROCEPROOF_ROUTING_H
#define ROCEPROOF_ROUTING_H

#include "routing/shared.h"

// As roce_route, from the packet itself.
bool roce_route_anew(struct roce_oracle *oracle, const struct roce_record *record,
                     const struct roce_packet *packet, bool in_turn, struct roce_routed *routed);

static inline struct roce_way *roce_way_of(struct roce_oracle *oracle,
                                           const struct roce_packet *packet) {
    return &oracle->ways[packet->look % ROCE_WAYS];
}

// The flow of a packet that is routed as others of its look were; NULL if that cannot be said.
static inline struct roce_flow *roce_known_flow(struct roce_oracle *oracle,
                                                const struct roce_record *record,
                                                const struct roce_packet *packet) {
    const struct roce_way *way = roce_way_of(oracle, packet);
    struct roce_flow *flow = way->flow;
    if (flow == NULL || way->look != packet->look || flow->key.interface != record->interface)
        return NULL;
    // Without a branch between the two, which would be guessed wrong where flows are mixed.
    const uintptr_t settled = (uintptr_t)flow->counterpart | (way->is_request & flow->waiting);
    return settled ? flow : NULL;
}

// A wrong ICRC may be the right one of the packet before.
static inline void roce_note_icrc(struct roce_oracle *oracle, const struct roce_record *record,
                                  const struct roce_packet *packet, struct roce_routed *routed) {
    if (packet->verdict == ROCE_UNCHECKED || record->interface >= ROCE_INTERFACES)
        return;
    routed->previous = oracle->previous[record->interface];
    oracle->previous[record->interface] = ROCE_IS_KNOWN | packet->right;
}

// Say what is to be known of the next packet. Some must be judged alone, with all before them
// judged and none behind them routed: they begin a flow, may show who answers whom, or are
// connection management. If the packet is one of them and this is not its turn, nothing is done,
// and false returned.
static inline bool roce_route(struct roce_oracle *oracle, const struct roce_record *record,
                              const struct roce_packet *packet, bool in_turn,
                              struct roce_routed *routed) {
    struct roce_flow *flow = roce_known_flow(oracle, record, packet);
    if (flow == NULL)
        return roce_route_anew(oracle, record, packet, in_turn, routed);
    *routed = (struct roce_routed){.flow = flow, .judge = flow->judge};
    oracle->frames++;
    roce_note_icrc(oracle, record, packet, routed);
    return true;
}

#endif
