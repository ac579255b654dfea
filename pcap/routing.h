// SPDX-License-Identifier: BSD-2-Clause
//
// What all judges share, touched by one thread at a time and in capture order: which
// flow a packet belongs to, who answers whom, connection management, marks. Inside the
// library only.

#ifndef ROCEPROOF_ROUTING_H
#define ROCEPROOF_ROUTING_H

#include "judge.h"
#include "routes.h"

enum {
    ROCE_CM_REQUESTS = 1024,
    ROCE_CM_ANSWERS = 4,
    ROCE_INTERFACES = 256,
    ROCE_WAYS = 1024,
};

// Where packets of one look went that concern nobody but their flow.
struct roce_way {
    uint64_t look; // 0: none
    struct roce_flow *flow;
    bool is_request;
};

// A reply of connection management that was heeded.
struct roce_cm_answer {
    uint32_t communication, qpn, psn;
};

// A connection request that has been seen, for the reply that will name it.
struct roce_cm_request {
    struct roce_address source, destination;
    uint32_t interface, communication, qpn, psn;
    uint64_t transaction;
    uint32_t path_mtu;
    uint32_t answer_count;
    struct roce_cm_answer answers[ROCE_CM_ANSWERS]; // ring
};

struct roce_oracle {
    const struct roce_facts *facts;
    struct roce_totals totals; // the sum, once asked for
    uint64_t frames;
    struct roce_flow_table table;
    struct roce_routes routes;
    struct roce_cm_request *requests; // ring
    uint32_t request_count;
    bool any_mark;                      // a CE mark has been seen
    bool lost_mark;                     // one that there was no memory for
    uint64_t previous[ROCE_INTERFACES]; // as in struct roce_routed, for the next frame
    struct roce_way ways[ROCE_WAYS];
    struct roce_judge judges[ROCE_JUDGES];
};

// As roce_route, from the packet itself.
bool roce_route_anew(struct roce_oracle *oracle, const struct roce_record *record,
                     const struct roce_packet *packet, bool in_turn, struct roce_routed *routed);

// Hand a flow over to another judge, with what it remembers.
void roce_flow_move(struct roce_oracle *oracle, struct roce_flow *flow, uint8_t judge);

// flow_begin.c
struct roce_flow *roce_flow_of(struct roce_oracle *oracle, const struct roce_key *key);

// pairs.c: who answers whom.
void roce_offer(struct roce_oracle *oracle, struct roce_flow *flow);
void roce_withdraw(struct roce_oracle *oracle, struct roce_flow *flow);
void roce_pair(struct roce_oracle *oracle, struct roce_flow *flow, struct roce_flow *other);
bool roce_is_alone(const struct roce_oracle *oracle, const struct roce_key *key);

// marks.c: a packet with a CE mark, noted for its way; what a CNP with that key answers.
bool roce_is_marked(const struct roce_packet *packet);
void roce_note_mark(struct roce_oracle *oracle, const struct roce_key *key);
uint8_t roce_marks_of(const struct roce_oracle *oracle, const struct roce_key *key);

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
