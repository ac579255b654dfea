// SPDX-License-Identifier: BSD-2-Clause
//
// The requests of a flow by their PSNs: what was sent, and how far it reaches.

#ifndef ROCEPROOF_HISTORY_H
#define ROCEPROOF_HISTORY_H

#include "flow/psn.h"
#include "judge/judge.h"

// The newest is not before those that a request takes.
static inline void roce_reach(struct roce_requests *requests, int64_t position, int64_t span) {
    const int64_t step = roce_distance(roce_psn(position + span - 1), roce_psn(requests->newest));
    if (step > 0)
        requests->newest += step;
}

// It is not known what was sent meanwhile.
static inline void roce_doubt(struct roce_requests *requests) {
    requests->message.open = false;
    requests->message.doubt = true;
    requests->msn_counter.counts = false;
}

// The next packet says where the flow is.
static inline void roce_resynchronise(struct roce_flow *flow) {
    flow->requests.adopts = true;
    roce_doubt(&flow->requests);
}

const struct roce_sent *roce_sent_at(const struct roce_requests *requests, uint32_t psn);
void roce_sent_keep_wider(struct roce_judge *judge, struct roce_requests *requests,
                          const struct roce_packet *packet);

static inline struct roce_sent *roce_sent_slot(const struct roce_requests *requests, uint32_t psn) {
    return &requests->sent[psn & (requests->sent_slots - 1)];
}

static inline void roce_sent_put(struct roce_requests *requests, const struct roce_packet *packet) {
    *roce_sent_slot(requests, packet->psn) = (struct roce_sent){
        .psn = packet->psn,
        .head = packet->head,
        .right = packet->right,
        .bytes = roce_body_bytes(packet),
        .opcode = packet->opcode,
        .present = true,
        .doubtful = packet->verdict != ROCE_OK,
    };
}

// Remember a request, in a wider ring if it needs one.
static inline void roce_sent_keep(struct roce_judge *judge, struct roce_requests *requests,
                                  const struct roce_packet *packet) {
    if (requests->sent_slots == ROCE_KEPT_PSNS)
        roce_sent_put(requests, packet);
    else
        roce_sent_keep_wider(judge, requests, packet);
}

#endif
