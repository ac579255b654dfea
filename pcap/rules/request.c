// SPDX-License-Identifier: BSD-2-Clause
//
// Requests as part of their flow: its service, a QP that was set up again, the path
// MTU; then PSN and message have rules of their own.
//
// Decides BTH-01.

#include "requests/history.h"
#include "requests/path_mtu.h"
#include "routing/pairs.h"
#include "rules/restart.h"
#include "rules/rules.h"

static bool belongs_to_service(struct roce_judge *judge, enum roce_service service) {
    struct roce_flow *flow = judge->flow;
    if (flow->service == ROCE_NO_SERVICE)
        flow->service = service;
    if (flow->service == service)
        return true;
    roce_found(judge, RULE_BTH_01,
               flow->service == ROCE_RC   ? "an opcode of RC"
               : flow->service == ROCE_UC ? "an opcode of UC"
                                          : "an opcode of UD",
               judge->row->name);
    roce_resynchronise(flow);
    return false;
}

static int64_t distance_to_next(const struct roce_judge *judge) {
    const struct roce_requests *requests = &judge->flow->requests;
    if (!requests->any || requests->adopts)
        return 0;
    return roce_distance(judge->packet->psn, roce_psn(requests->next));
}

static void learn_from(struct roce_judge *judge) {
    const uint32_t size = judge->payload + judge->pad;
    if (judge->flow->path_mtu == 0 && !judge->row->closes && roce_is_path_mtu(size))
        roce_learn_mtu(judge->flow, size);
}

void roce_judge_request(struct roce_judge *judge) {
    struct roce_flow *flow = judge->flow;
    const enum roce_service service = roce_service_of(judge->packet->opcode);
    if (!belongs_to_service(judge, service))
        return;
    int64_t distance = service == ROCE_UD ? 0 : distance_to_next(judge);
    if (judge->row->opens && (distance > ROCE_RESTART || distance < -ROCE_RESTART)) {
        roce_flow_restart(judge, flow);
        flow->service = service;
        distance = 0;
        judge->is_usual = false; // its constants begin anew
    }
    if (!judge->is_usual) {
        roce_judge_configured(judge);
        roce_judge_constants(judge);
    }
    flow->count.ack_requests += judge->packet->ack >> 7;
    if (service == ROCE_UD) {
        roce_take_datagram(judge);
    } else {
        learn_from(judge);
        roce_judge_psn(judge, distance);
    }
    if (!flow->waiting && flow->counterpart == NULL)
        roce_offer(judge->oracle, flow);
}
