// SPDX-License-Identifier: BSD-2-Clause
//
// What packets have shown of a flow whose QP is set up again is reported as far as it is
// open, and forgotten; what CM says of its new start is taken.

#include "rules/restart.h"

#include "requests/gaps.h"
#include "requests/reads.h"
#include "routing/flow_begin.h"
#include "routing/pairs.h"
#include "rules/rules.h"

// Everything that packets have shown of one direction is forgotten; whether it waits for a
// counterpart is not, since that of a flow with requests does.
static void restart(struct roce_judge *judge, struct roce_flow *flow) {
    struct roce_requests *requests = &flow->requests;
    flow->count.restarts += requests->any;
    roce_gaps_report(judge, flow);
    roce_msn_give_up(judge, flow);
    for (uint32_t i = 0; i < requests->sent_slots; i++)
        requests->sent[i].present = false;
    for (uint32_t i = roce_reads_oldest(requests); i != requests->read_count; i++)
        roce_read_forget(judge, roce_read_number(requests, i));
    roce_flow_reset(flow);
}

void roce_flow_restart(struct roce_judge *judge, struct roce_flow *flow) {
    struct roce_flow *other = flow->counterpart;
    restart(judge, flow);
    if (other != NULL)
        restart(judge, other);
}

// Configuration outweighs what CM tells.
static void tell(struct roce_flow *flow, uint32_t start_psn, uint32_t path_mtu) {
    flow->changes++;
    if (flow->start_psn < 0)
        flow->start_psn = (int32_t)start_psn;
    if (flow->path_mtu == 0)
        flow->path_mtu = path_mtu;
}

void roce_flows_connect(struct roce_judge *judge, struct roce_flow *one, struct roce_flow *other,
                        const uint32_t start_psns[2], uint32_t path_mtu) {
    struct roce_flow *const flows[] = {one, one->counterpart, other, other->counterpart};
    for (size_t i = 0; i < sizeof flows / sizeof *flows; i++)
        if (flows[i] != NULL)
            roce_flow_move(judge->oracle, flows[i], judge->number);
    roce_flow_restart(judge, one);
    roce_flow_restart(judge, other);
    roce_pair(judge->oracle, one, other);
    tell(one, start_psns[0], path_mtu);
    tell(other, start_psns[1], path_mtu);
}
