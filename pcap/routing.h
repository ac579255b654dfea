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
    bool any_mark;  // a CE mark has been seen
    bool lost_mark; // one that there was no memory for
    struct {
        uint32_t right;
        bool known;
    } previous[ROCE_INTERFACES]; // the right ICRC of the last RoCE frame
    struct roce_way ways[ROCE_WAYS];
    struct roce_judge judges[ROCE_JUDGES];
};

// Say what is to be known of the next packet. Some must be judged alone, with all before them
// judged and none behind them routed: they begin a flow, may show who answers whom, or are
// connection management. If the packet is one of them and this is not its turn, nothing is done,
// and false returned.
bool roce_route(struct roce_oracle *oracle, const struct roce_record *record,
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

#endif
