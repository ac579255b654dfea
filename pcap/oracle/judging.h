// SPDX-License-Identifier: BSD-2-Clause
//
// All rules that a frame concerns, as its judge applies them.

#ifndef ROCEPROOF_JUDGING_H
#define ROCEPROOF_JUDGING_H

#include "judge/judge.h"

// One by one; those of headers only if it is not usual.
void roce_judge_anew(struct roce_judge *judge, const struct roce_record *record,
                     const struct roce_packet *packet, const struct roce_routed *routed,
                     const struct roce_usual *usual);

// in_order.c: of a frame with a flow, in a shorter way for the request that is waited for.
void roce_judge_next(struct roce_judge *judge, const struct roce_record *record,
                     const struct roce_packet *packet, const struct roce_routed *routed);

static inline void roce_judge_routed(struct roce_judge *judge, const struct roce_record *record,
                                     const struct roce_packet *packet,
                                     const struct roce_routed *routed) {
    if (routed->flow != NULL)
        roce_judge_next(judge, record, packet, routed);
    else
        roce_judge_anew(judge, record, packet, routed, NULL);
    if (judge->memory.refused || (routed->notes & ROCE_NO_ROOM)) {
        judge->memory.refused = false;
        judge->totals.untracked++;
    }
}

#endif
