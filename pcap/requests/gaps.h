// SPDX-License-Identifier: BSD-2-Clause
//
// PSNs that an RC flow skipped.

#ifndef ROCEPROOF_GAPS_H
#define ROCEPROOF_GAPS_H

#include "judge/judge.h"

// Those from `first` to `last`.
void roce_gap_open(struct roce_judge *judge, enum roce_rule rule, int64_t first, int64_t last,
                   uint32_t expected);
bool roce_gaps_fill(struct roce_judge *judge, int64_t first, int64_t last);
void roce_gaps_covered(struct roce_judge *judge, struct roce_flow *flow, int64_t position);
void roce_gaps_report(struct roce_judge *judge, struct roce_flow *flow);

#endif
