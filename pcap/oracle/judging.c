// SPDX-License-Identifier: BSD-2-Clause
//
// The order in which the rules see a frame.
//
// Decides ETH-01, IP-14, UDP-01.

#include "oracle/judging.h"

#include "requests/history.h"
#include "rules/rules.h"

static bool has_flow_rules(const struct roce_packet *packet) {
    return packet->opcode < 0xA0;
}

// A packet that cannot be judged on: its flow picks up behind it.
static void resynchronise(struct roce_judge *judge) {
    const bool other = judge->row->family == ROCE_CNP || roce_is_response(judge->row) ||
                       !has_flow_rules(judge->packet);
    if (!other && judge->flow != NULL)
        roce_resynchronise(judge->flow);
}

static void count_packet(struct roce_judge *judge) {
    struct roce_flow *flow = judge->flow;
    if (judge->row->family == ROCE_CNP)
        flow->count.cnps++;
    else if (roce_is_response(judge->row))
        flow->count.responses++;
    else
        flow->count.requests++;
}

static void judge_flow(struct roce_judge *judge) {
    struct roce_flow *flow = judge->flow;
    const bool request = roce_is_request(judge->row);
    if (!roce_is_trusted(judge)) {
        flow->requests.lost_bad += request;
        return;
    }
    if (!judge->is_usual)
        roce_judge_destination(judge);
    if (request) {
        roce_judge_request(judge);
        if (judge->packet->qpn == 1)
            roce_take_management(judge);
        return;
    }
    const bool cnp = judge->row->family == ROCE_CNP;
    if (!judge->is_usual) {
        if (!cnp)
            roce_judge_configured(judge);
        roce_judge_constants(judge);
    }
    if (cnp)
        roce_judge_cnp(judge);
    else
        roce_judge_response(judge);
}

// The rules that look at headers; false if the packet cannot be judged on.
static bool judge_frame(struct roce_judge *judge) {
    const struct roce_packet *packet = judge->packet;
    roce_judge_network(judge);
    if (!packet->has_bth)
        return false;
    const bool icrc = roce_judge_icrc(judge);
    if (judge->flow != NULL && packet->verdict == ROCE_OK)
        judge->flow->trusted_icrc = true;
    if (!has_flow_rules(packet))
        return false;
    roce_judge_bth(judge);
    if (judge->row->family == ROCE_RESERVED || !icrc || !roce_judge_headers(judge)) {
        resynchronise(judge);
        return false;
    }
    roce_judge_forms(judge);
    return judge->flow != NULL;
}

static uint64_t found_so_far(const struct roce_judge *judge) {
    const uint64_t *counts = judge->totals.severities;
    return counts[ROCE_MUST] + counts[ROCE_SHOULD] + counts[ROCE_INFO];
}

static void judge_roce(struct roce_judge *judge) {
    const struct roce_packet *packet = judge->packet;
    struct roce_flow *flow = judge->flow;
    judge->row = roce_opcode(packet->opcode);
    if (packet->fault != ROCE_SOUND) {
        roce_judge_broken(judge);
        resynchronise(judge);
        return;
    }
    const uint64_t found = found_so_far(judge);
    if (flow != NULL)
        flow->count.bytes += packet->full_size;
    if (!judge->is_usual && !judge_frame(judge))
        return;
    count_packet(judge);
    judge_flow(judge);
    if (!judge->is_usual && found_so_far(judge) == found)
        roce_usual_note(judge->usual, flow, packet, judge->row, judge->payload);
}

static void note_change(struct roce_flow *flow) {
    if (flow == NULL)
        return;
    flow->changes++;
    if (flow->counterpart != NULL)
        flow->counterpart->changes++;
}

static __attribute__((noinline)) void judge_class(struct roce_judge *judge) {
    const struct roce_packet *packet = judge->packet;
    note_change(judge->flow);
    switch ((enum roce_class)packet->class) {
    case ROCE_OTHER:
        break;
    case ROCE_MISDIRECTED:
        roce_found(judge, RULE_UDP_01, "port 4791", roce_text(judge, "port %u", packet->port));
        break;
    case ROCE_WRONG_ETHER:
        roce_found(judge, RULE_ETH_01, "a GRH behind EtherType 0x8915", "an IPv4 header");
        break;
    case ROCE_EXTENDED:
        judge->totals.roce_frames++;
        judge->totals.icrc[ROCE_UNCHECKED]++;
        roce_found(judge, RULE_IP_14, "UDP directly behind the IPv6 header",
                   roce_text(judge, "next header %u", packet->frame[packet->ip + 6]));
        break;
    case ROCE_V1:
    case ROCE_V2:
        judge->totals.roce_frames++;
        judge->totals.icrc[packet->verdict]++;
        judge_roce(judge);
        break;
    }
}

void roce_judge_anew(struct roce_judge *judge, const struct roce_record *record,
                     const struct roce_packet *packet, const struct roce_routed *routed,
                     const struct roce_usual *usual) {
    judge->record = record;
    judge->packet = packet;
    judge->routed = routed;
    judge->flow = routed->flow;
    judge->is_usual = usual != NULL;
    if (usual != NULL) {
        judge->payload = usual->payload;
        judge->pad = 0;
    }
    judge_class(judge);
}
