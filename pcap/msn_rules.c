// SPDX-License-Identifier: BSD-2-Clause
//
// The message sequence number of responses against the messages that were sent:
// docs/observer.md, section 4.
//
// Decides AETH-06, MSN-01, MSN-02, MSN-03, MSN-04, MSN-05, MSN-09.

#include "judge.h"

enum { REVERSED_REACH = 64 };

struct msn {
    uint32_t value;
    bool is_nak;
    bool is_acknowledge;
};

static bool reads_backwards(const struct roce_responses *responses, uint32_t msn) {
    const uint32_t mirrored = roce_reversed(msn);
    const int64_t step = roce_distance(mirrored, roce_reversed(responses->last_msn));
    return responses->has_aeth && mirrored != msn && step >= 1 && step <= REVERSED_REACH;
}

static void accuse(struct roce_judge *judge, enum roce_rule rule, const char *bound, uint32_t limit,
                   uint32_t msn) {
    roce_found(judge, rule, roce_text(judge, "MSN %s %u", bound, limit & 0xFFFFFF),
               roce_text(judge, "%u", msn));
}

// Without the requests: against the AETH before.
static void judge_alone(struct roce_judge *judge, uint32_t msn) {
    const struct roce_responses *responses = &judge->flow->responses;
    if (!responses->has_aeth)
        return;
    const int64_t step = roce_distance(msn, responses->last_msn);
    const int64_t psns = roce_distance(judge->packet->psn, responses->last_psn);
    const int64_t room = psns + responses->last_was_nak;
    if (step < 0)
        accuse(judge, RULE_MSN_02, "of at least", responses->last_msn, msn);
    else if (psns >= 0 && step > room)
        accuse(judge, RULE_MSN_02, "of at most", responses->last_msn + (uint32_t)room, msn);
}

static void judge_count(struct roce_judge *judge, const struct roce_requests *asked,
                        const struct roce_msn_counter_counts *counts, const struct msn *msn) {
    const struct roce_responses *responses = &judge->flow->responses;
    const struct roce_msn_counter *msn_counter = &asked->msn_counter;
    const int64_t counted = roce_distance(msn->value, msn_counter->base);
    const uint32_t upper = msn->is_nak ? counts->all : msn_counter->total;
    if (counted >= counts->all && counted <= upper)
        return;
    const bool above = counted > upper;
    enum roce_rule rule = RULE_MSN_02;
    if (msn->is_nak && above)
        rule = RULE_MSN_05;
    else if (above && asked->copies_since_aeth && !asked->new_since_aeth)
        rule = RULE_MSN_03;
    else if (reads_backwards(responses, msn->value))
        rule = RULE_AETH_06;
    else if (!above && counted == counts->received)
        rule = RULE_MSN_04;
    else if (msn_counter->from_start && !responses->has_aeth)
        rule = RULE_MSN_01;
    accuse(judge, rule, above ? "of at most" : "of at least",
           msn_counter->base + (above ? upper : counts->all), msn->value);
}

static void judge_against(struct roce_judge *judge, struct roce_requests *asked, int64_t q,
                          const struct msn *msn) {
    struct roce_msn_counter *msn_counter = &asked->msn_counter;
    struct roce_msn_counter_counts counts;
    const bool recent = q <= asked->newest && q > asked->newest - ROCE_KEPT_PSNS;
    if (!msn_counter->counts || !recent ||
        !roce_msn_counter_count(msn_counter, msn->is_nak ? q - 1 : q, &counts))
        return;
    if (msn_counter->has_base) {
        judge_count(judge, asked, &counts, msn);
    } else if (msn->is_acknowledge && !asked->replaying) {
        msn_counter->base = (msn->value - counts.all) & (ROCE_PSN_MODULUS - 1);
        msn_counter->has_base = true;
    }
}

static bool is_behind_its_read(struct roce_judge *judge, struct roce_read *read, uint32_t msn) {
    if (read->has_msn && roce_distance(msn, read->msn) < 0) {
        roce_found(judge, RULE_MSN_09, roce_text(judge, "MSN of at least %u", read->msn),
                   roce_text(judge, "%u", msn));
        return true;
    }
    read->has_msn = true;
    read->msn = msn;
    return false;
}

void roce_judge_msn(struct roce_judge *judge, struct roce_requests *asked, int64_t q,
                    struct roce_read *read) {
    struct roce_responses *responses = &judge->flow->responses;
    const uint8_t *aeth = roce_body(judge->packet);
    const bool acknowledge = judge->row->family == ROCE_ACKNOWLEDGE;
    const struct msn msn = {roce_u24(aeth + 1), acknowledge && aeth[0] >> 5 != 0, acknowledge};
    if (asked == NULL) {
        judge_alone(judge, msn.value);
    } else {
        if (read == NULL || read->is_atomic || !is_behind_its_read(judge, read, msn.value))
            judge_against(judge, asked, q, &msn);
        asked->copies_since_aeth = asked->new_since_aeth = false;
    }
    responses->has_aeth = true;
    responses->last_msn = msn.value;
    responses->last_psn = judge->packet->psn;
    responses->last_was_nak = msn.is_nak;
}
