// SPDX-License-Identifier: BSD-2-Clause
//
// Requests as part of their flow: its service, a QP that was set up again, the path
// MTU; then PSN and message have rules of their own.
//
// Decides BTH-01.

#include "judge.h"

static bool belongs_to_service(struct roce_oracle *oracle, enum roce_service service) {
    struct roce_flow *flow = oracle->flow;
    if (flow->service == ROCE_NO_SERVICE)
        flow->service = service;
    if (flow->service == service)
        return true;
    roce_found(oracle, RULE_BTH_01,
               flow->service == ROCE_RC   ? "an opcode of RC"
               : flow->service == ROCE_UC ? "an opcode of UC"
                                          : "an opcode of UD",
               oracle->row->name);
    roce_resynchronise(flow);
    return false;
}

static int64_t distance_to_next(const struct roce_oracle *oracle) {
    const struct roce_requests *requests = &oracle->flow->requests;
    if (!requests->any || requests->adopts)
        return 0;
    return roce_distance(oracle->packet->psn, roce_psn(requests->next));
}

static void learn_from(struct roce_oracle *oracle) {
    const uint32_t size = oracle->payload + oracle->pad;
    if (oracle->flow->path_mtu == 0 && !oracle->row->closes && roce_is_path_mtu(size))
        roce_learn_mtu(oracle->flow, size);
}

void roce_judge_request(struct roce_oracle *oracle) {
    struct roce_flow *flow = oracle->flow;
    const enum roce_service service = roce_service_of(oracle->packet->opcode);
    if (!belongs_to_service(oracle, service))
        return;
    int64_t distance = service == ROCE_UD ? 0 : distance_to_next(oracle);
    if (oracle->row->opens && (distance > ROCE_RESTART || distance < -ROCE_RESTART)) {
        roce_flow_restart(oracle, flow);
        flow->service = service;
        distance = 0;
    }
    roce_judge_configured(oracle);
    roce_judge_constants(oracle);
    flow->count.ack_requests += oracle->packet->ack >> 7;
    if (service == ROCE_UD) {
        roce_take_datagram(oracle);
    } else {
        learn_from(oracle);
        roce_judge_psn(oracle, distance);
    }
    roce_offer(oracle, flow);
}
