// SPDX-License-Identifier: BSD-2-Clause
//
// Congestion notifications, which answer marks (marks.c): docs/observer.md, section 5.
//
// Decides CNP-02.

#include "rules/rules.h"

void roce_judge_cnp(struct roce_judge *judge) {
    struct roce_flow *flow = judge->flow;
    if (!(judge->routed->notes & ROCE_WAY_MARKED))
        roce_found_as(judge, RULE_CNP_02,
                      judge->routed->notes & ROCE_ANY_MARKED ? ROCE_MUST : ROCE_INFO,
                      "a CE mark on the way here before", "none");
    const uint64_t now = judge->record->time_ns;
    if (flow->count.cnps > 1 && now >= flow->last_cnp_ns) {
        const uint64_t since = now - flow->last_cnp_ns;
        if (flow->count.cnps == 2 || since < flow->least_cnp_ns)
            flow->least_cnp_ns = since;
    }
    flow->last_cnp_ns = now;
}
