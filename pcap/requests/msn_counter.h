// SPDX-License-Identifier: BSD-2-Clause
//
// How many messages of a flow have ended up to a position.

#ifndef ROCEPROOF_MSN_COUNTER_H
#define ROCEPROOF_MSN_COUNTER_H

#include "judge/judge.h"

struct roce_msn_counter_counts {
    uint32_t all;
    uint32_t received; // those that are not WRITE without immediate
};

void roce_msn_counter_start(struct roce_msn_counter *msn_counter, int64_t position,
                            bool from_start);
void roce_msn_counter_add_wider(struct roce_judge *judge, struct roce_flow *flow, int64_t position,
                                bool received);

// False where it is not known.
bool roce_msn_counter_count(const struct roce_msn_counter *msn_counter, int64_t position,
                            struct roce_msn_counter_counts *counts);

static inline void roce_msn_counter_put(struct roce_msn_counter *msn_counter, int64_t position,
                                        bool received) {
    msn_counter->received += received;
    msn_counter->ends[msn_counter->total++ & (msn_counter->slots - 1)] =
        (struct roce_end){position, msn_counter->received};
}

// Count a message that ends at that position.
static inline void roce_msn_counter_add(struct roce_judge *judge, struct roce_flow *flow,
                                        int64_t position, bool received) {
    if (flow->requests.msn_counter.slots == ROCE_KEPT_ENDS)
        roce_msn_counter_put(&flow->requests.msn_counter, position, received);
    else
        roce_msn_counter_add_wider(judge, flow, position, received);
}

#endif
