// SPDX-License-Identifier: BSD-2-Clause
//
// The message sequence number of responses against the messages that were sent:
// docs/observer.md, section 4.

#include "judge.h"

enum { REVERSED_REACH = 64 };

struct counts {
    bool known;
    int64_t upto;      // messages that end at or before the PSN; of a NAK, before it
    int64_t no_writes; // of these, those that are not WRITE without immediate
    int64_t newest;
};

static struct counts count(const struct roce_flow *asked, int64_t q, bool nak) {
    const struct roce_sent *sent = roce_sent_upto(asked, nak ? q - 1 : q);
    const struct roce_sent *newest = roce_sent_upto(asked, asked->newest);
    if (q > asked->newest || asked->doubt || newest == NULL || newest->epoch != asked->epoch)
        return (struct counts){0};
    if (sent == NULL || sent->epoch != asked->epoch) {
        // In front of the first packet of the flow nothing has ended.
        const bool before = asked->start_known && q <= asked->first;
        return (struct counts){before, 0, 0, newest->messages};
    }
    return (struct counts){true, sent->messages, sent->counted, newest->messages};
}

static bool reads_backwards(const struct roce_flow *flow, uint32_t msn) {
    const uint32_t mirrored = roce_reversed(msn);
    const int64_t step = roce_distance(mirrored, roce_reversed(flow->last_msn));
    return flow->has_aeth && mirrored != msn && step >= 1 && step <= REVERSED_REACH;
}

static void accuse(struct roce_oracle *oracle, enum roce_rule rule, const char *bound,
                   uint32_t limit, uint32_t msn) {
    roce_found(oracle, rule, roce_text(oracle, "MSN %s %u", bound, limit & 0xFFFFFF),
               roce_text(oracle, "%u", msn));
}

static void judge_alone(struct roce_oracle *oracle, uint32_t msn) {
    const struct roce_flow *flow = oracle->flow;
    if (!flow->has_aeth)
        return;
    const int64_t step = roce_distance(msn, flow->last_msn);
    const int64_t psns = roce_distance(oracle->packet->psn, flow->last_aeth_psn);
    const int64_t room = psns + flow->last_was_nak;
    if (step < 0)
        accuse(oracle, RULE_MSN_02, "of at least", flow->last_msn, msn);
    else if (psns >= 0 && step > room)
        accuse(oracle, RULE_MSN_02, "of at most", flow->last_msn + (uint32_t)room, msn);
}

static void judge_count(struct roce_oracle *oracle, const struct roce_flow *asked,
                        const struct counts *counts, bool nak, uint32_t msn) {
    const struct roce_flow *flow = oracle->flow;
    const int64_t counted = roce_distance(msn, flow->base);
    const int64_t upper = nak ? counts->upto : counts->newest;
    if (counted >= counts->upto && counted <= upper)
        return;
    const bool above = counted > upper;
    const char *bound = above ? "of at most" : "of at least";
    const uint32_t limit = flow->base + (uint32_t)(above ? upper : counts->upto);
    enum roce_rule rule = RULE_MSN_02;
    if (nak && above)
        rule = RULE_MSN_05;
    else if (above && asked->copies_since_aeth && !asked->new_since_aeth)
        rule = RULE_MSN_03;
    else if (reads_backwards(flow, msn))
        rule = RULE_AETH_06;
    else if (!above && counted == counts->no_writes)
        rule = RULE_MSN_04;
    else if (asked->start_known && !flow->has_aeth)
        rule = RULE_MSN_01;
    accuse(oracle, rule, bound, limit, msn);
}

void roce_judge_msn(struct roce_oracle *oracle, struct roce_flow *asked, int64_t q) {
    struct roce_flow *flow = oracle->flow;
    const uint8_t *aeth = roce_body(oracle->packet);
    const uint32_t msn = roce_u24(aeth + 1);
    const bool acknowledge = oracle->row->family == ROCE_ACKNOWLEDGE;
    const bool nak = acknowledge && aeth[0] >> 5 != 0;
    if (asked == NULL) {
        judge_alone(oracle, msn);
    } else {
        const struct counts counts = count(asked, q, nak);
        if (flow->base_epoch != asked->epoch)
            flow->has_base = false;
        if (counts.known && !flow->has_base) {
            if (asked->start_known)
                flow->base = 0;
            else if (acknowledge && !asked->replaying)
                flow->base = (msn - (uint32_t)counts.upto) & 0xFFFFFF;
            flow->has_base = asked->start_known || (acknowledge && !asked->replaying);
            flow->base_epoch = asked->epoch;
        }
        if (counts.known && flow->has_base)
            judge_count(oracle, asked, &counts, nak, msn);
        asked->copies_since_aeth = asked->new_since_aeth = false;
    }
    flow->has_aeth = true;
    flow->last_msn = msn;
    flow->last_aeth_psn = oracle->packet->psn;
    flow->last_was_nak = nak;
}
