// SPDX-License-Identifier: BSD-2-Clause
//
// The message sequence number of responses against the messages that were sent:
// docs/observer.md, section 4.
//
// Decides AETH-06, MSN-01, MSN-02, MSN-03, MSN-04, MSN-05, MSN-09.

#include "flow/psn.h"
#include "requests/msn_counter.h"
#include "rules/rules.h"

enum { REVERSED_REACH = 64 };

static bool reads_backwards(const struct roce_responses *responses, uint32_t msn) {
    const uint32_t mirrored = roce_reversed(msn);
    const int64_t step = roce_distance(mirrored, roce_reversed(responses->last_msn));
    return responses->has_aeth && mirrored != msn && step >= 1 && step <= REVERSED_REACH;
}

// The claim as one of which that is wrong: its MSN lies beyond the limit.
static struct roce_msn_claim as_wrong(const struct roce_msn_claim *claim, enum roce_rule rule,
                                      bool is_above, uint32_t limit) {
    struct roce_msn_claim wrong = *claim;
    wrong.rule = (uint16_t)rule;
    wrong.is_above = is_above;
    wrong.limit = limit & (ROCE_PSN_MODULUS - 1);
    return wrong;
}

static const char *limit_text(struct roce_judge *judge, const struct roce_msn_claim *wrong) {
    return roce_text(judge, "MSN of at %s %u", wrong->is_above ? "most" : "least", wrong->limit);
}

static void accuse(struct roce_judge *judge, const struct roce_msn_claim *wrong) {
    roce_found(judge, (enum roce_rule)wrong->rule, limit_text(judge, wrong),
               roce_text(judge, "%u", wrong->msn));
}

static void accuse_earlier(struct roce_judge *judge, const struct roce_flow *flow,
                           const struct roce_msn_claim *wrong) {
    roce_found_at(judge, (enum roce_rule)wrong->rule, wrong->frame, flow, limit_text(judge, wrong),
                  roce_text(judge, "%u", wrong->msn));
}

void roce_msn_give_up(struct roce_judge *judge, struct roce_flow *flow) {
    struct roce_responses *responses = &flow->responses;
    if (responses->other.frame != 0 && responses->other.is_wrong)
        accuse_earlier(judge, flow, &responses->other);
    responses->first.frame = responses->other.frame = 0;
}

// The first is wrong.
static void believe_other(struct roce_judge *judge, const struct roce_msn_claim *wrong) {
    struct roce_responses *responses = &judge->flow->responses;
    if (wrong != NULL)
        accuse_earlier(judge, judge->flow, wrong);
    responses->first.frame = responses->other.frame = 0;
}

// Without the requests: two that follow each other. False if the second is fine.
static bool contradicts(const struct roce_msn_claim *before, const struct roce_msn_claim *after,
                        bool *is_above, int64_t *room) {
    const int64_t step = roce_distance(after->msn, before->msn);
    const int64_t psns = roce_distance(after->psn, before->psn);
    *room = psns + before->is_nak;
    *is_above = step >= 0;
    return step < 0 || (psns >= 0 && step > *room);
}

// Takes an AETH without the requests; whether it is the one that the next ones are held against.
static bool judge_alone(struct roce_judge *judge, const struct roce_msn_claim *claim) {
    struct roce_responses *responses = &judge->flow->responses;
    const struct roce_msn_claim last = {
        .frame = responses->first.frame,
        .msn = responses->last_msn,
        .psn = responses->last_psn,
        .is_nak = responses->last_was_nak,
    };
    bool is_above;
    bool other_above;
    int64_t room;
    int64_t other_room;
    if (!responses->has_aeth) {
        responses->first = *claim;
        return true;
    }
    if (!contradicts(&last, claim, &is_above, &room)) {
        roce_msn_give_up(judge, judge->flow);
        return true;
    }
    const struct roce_msn_claim wrong =
        as_wrong(claim, RULE_MSN_02, is_above, last.msn + (is_above ? (uint32_t)room : 0));
    if (responses->other.frame != 0 &&
        !contradicts(&responses->other, claim, &other_above, &other_room)) {
        contradicts(&last, &responses->other, &other_above, &other_room);
        const struct roce_msn_claim first =
            as_wrong(&last, RULE_MSN_02, !other_above,
                     responses->other.msn - (other_above ? (uint32_t)other_room : 0));
        believe_other(judge, last.frame != 0 ? &first : NULL);
        return true;
    }
    const bool waits = responses->first.frame != 0 && responses->other.frame == 0;
    if (!waits) {
        roce_msn_give_up(judge, judge->flow);
        accuse(judge, &wrong);
    }
    responses->other = wrong;
    responses->other.is_wrong = waits;
    return false;
}

static int64_t counted(const struct roce_msn_claim *claim, uint32_t base) {
    return roce_distance(claim->msn, base);
}

static bool fits(const struct roce_msn_claim *claim, uint32_t base) {
    return counted(claim, base) >= claim->low && counted(claim, base) <= claim->high;
}

// What the MSN was in front of all messages, if it counts no more than it has to.
static uint32_t base_of(const struct roce_msn_claim *claim) {
    return (claim->msn - claim->low) & (ROCE_PSN_MODULUS - 1);
}

static struct roce_msn_claim held_against(const struct roce_msn_claim *claim, uint32_t base) {
    const bool above = counted(claim, base) > claim->high;
    return as_wrong(claim, above && claim->is_nak ? RULE_MSN_05 : RULE_MSN_02, above,
                    base + (above ? claim->high : claim->low));
}

// The rule that says best what is wrong with it.
static enum roce_rule rule_of(const struct roce_judge *judge, const struct roce_requests *asked,
                              const struct roce_msn_claim *wrong, uint32_t received) {
    const struct roce_responses *responses = &judge->flow->responses;
    if (wrong->rule == RULE_MSN_05)
        return RULE_MSN_05;
    const bool is_raised = !responses->has_aeth || wrong->msn != responses->last_msn;
    if (wrong->is_above && asked->copies_since_aeth && !asked->new_since_aeth && is_raised)
        return RULE_MSN_03;
    if (reads_backwards(responses, wrong->msn))
        return RULE_AETH_06;
    if (!wrong->is_above && counted(wrong, asked->msn_counter.base) == received)
        return RULE_MSN_04;
    const bool is_first = asked->msn_counter.from_start && !responses->has_aeth;
    return is_first && wrong->high > 0 ? RULE_MSN_01 : RULE_MSN_02;
}

// Holds it against the first, and against what contradicts that; false if it is wrong or may be.
static bool bear_out(struct roce_judge *judge, struct roce_msn_counter *counter,
                     const struct roce_msn_claim *claim, const struct roce_msn_claim *wrong) {
    struct roce_responses *responses = &judge->flow->responses;
    const struct roce_msn_claim *other = responses->other.frame != 0 ? &responses->other : NULL;
    const bool right = fits(claim, counter->base);
    const bool disputed = other != NULL && other->is_wrong;
    const bool fits_other = other != NULL && fits(claim, base_of(other));
    const bool same_as_other = other != NULL && base_of(claim) == base_of(other);
    if (base_of(claim) == counter->base || (right && disputed && !fits_other)) {
        roce_msn_give_up(judge, judge->flow);
    } else if (right ? disputed && same_as_other : fits_other || same_as_other) {
        const uint32_t base = counter->base = base_of(other);
        const struct roce_msn_claim first = held_against(&responses->first, base);
        believe_other(judge, fits(&first, base) ? NULL : &first);
    } else if (!disputed) {
        responses->other = *wrong;
        responses->other.is_wrong = !right;
        return right;
    } else if (!right) {
        roce_msn_give_up(judge, judge->flow);
        accuse(judge, wrong);
        return false;
    }
    return true;
}

static bool judge_against(struct roce_judge *judge, struct roce_requests *asked, int64_t q,
                          const struct roce_msn_claim *now) {
    struct roce_msn_counter *counter = &asked->msn_counter;
    struct roce_responses *responses = &judge->flow->responses;
    struct roce_msn_counter_counts counts;
    const bool recent = q <= asked->newest && q > asked->newest - ROCE_KEPT_PSNS;
    if (!counter->counts || !recent ||
        !roce_msn_counter_count(counter, now->is_nak ? q - 1 : q, &counts))
        return true;
    struct roce_msn_claim claim = *now;
    claim.low = counts.all;
    claim.high = claim.is_nak ? counts.all : counter->total;
    if (!counter->has_base) {
        if (judge->row->family == ROCE_ACKNOWLEDGE && !asked->replaying) {
            roce_msn_give_up(judge, judge->flow);
            counter->base = base_of(&claim);
            counter->base_frame = claim.frame;
            counter->has_base = true;
            responses->first = claim;
        }
        return true;
    }
    const bool right = fits(&claim, counter->base);
    const bool waits = responses->first.frame != 0 || responses->other.frame != 0;
    if (right && !waits)
        return true;
    struct roce_msn_claim wrong = held_against(&claim, counter->base);
    wrong.rule = (uint16_t)rule_of(judge, asked, &wrong, counts.received);
    if (responses->first.frame != 0 && responses->first.frame == counter->base_frame)
        return bear_out(judge, counter, &claim, &wrong);
    roce_msn_give_up(judge, judge->flow);
    if (!right)
        accuse(judge, &wrong);
    return right;
}

// Among the responses of one READ; false if it is wrong.
static bool judge_in_read(struct roce_judge *judge, const struct roce_read *read,
                          const struct roce_msn_claim *claim) {
    if (read == NULL || !read->has_msn || roce_distance(claim->msn, read->msn) >= 0)
        return true;
    const struct roce_msn_claim wrong = as_wrong(claim, RULE_MSN_09, false, read->msn);
    accuse(judge, &wrong);
    return false;
}

static void judge_asked(struct roce_judge *judge, struct roce_requests *asked, int64_t q,
                        struct roce_read *read, const struct roce_msn_claim *claim) {
    if (read != NULL && read->is_atomic)
        read = NULL;
    if (judge_in_read(judge, read, claim) && judge_against(judge, asked, q, claim) &&
        read != NULL) {
        read->has_msn = true;
        read->msn = claim->msn;
    }
    asked->copies_since_aeth = asked->new_since_aeth = false;
}

void roce_judge_msn(struct roce_judge *judge, struct roce_requests *asked, int64_t q,
                    struct roce_read *read) {
    struct roce_responses *responses = &judge->flow->responses;
    const uint8_t *aeth = roce_body(judge->packet);
    const bool acknowledge = judge->row->family == ROCE_ACKNOWLEDGE;
    const struct roce_msn_claim claim = {
        .frame = judge->record->number,
        .msn = roce_u24(aeth + 1),
        .psn = judge->packet->psn,
        .is_nak = acknowledge && aeth[0] >> 5 != 0,
    };
    if (asked != NULL)
        judge_asked(judge, asked, q, read, &claim);
    else if (!judge_alone(judge, &claim))
        return;
    responses->has_aeth = true;
    responses->last_msn = claim.msn;
    responses->last_psn = claim.psn;
    responses->last_was_nak = claim.is_nak;
}
