// SPDX-License-Identifier: BSD-2-Clause
//
// A QP that is set up again.

#ifndef ROCEPROOF_RESTART_H
#define ROCEPROOF_RESTART_H

#include "judge/judge.h"

// Forget what packets have shown of the flow and of its counterpart.
void roce_flow_restart(struct roce_judge *judge, struct roce_flow *flow);

// As connection management tells.
void roce_flows_connect(struct roce_judge *judge, struct roce_flow *one, struct roce_flow *other,
                        const uint32_t start_psns[2], uint32_t path_mtu);

#endif
