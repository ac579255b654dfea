// SPDX-License-Identifier: BSD-2-Clause
//
// The PSNs of RC and UC requests: which packets are new, which repeat, which are
// wrong. docs/observer.md, section 3.1.
//
// Decides BTH-14, PSN-01, PSN-02, PSN-03, PSN-04, PSN-05, PSN-07, PSN-18, RTX-17.

#include <inttypes.h>

#include "packet/checksum.h"
#include "requests/gaps.h"
#include "requests/history.h"
#include "requests/msn_counter.h"
#include "requests/reads.h"
#include "rules/rules.h"

#define FIRST_LAP ((int64_t)1 << 32)

static void step_to_first(struct roce_requests *requests, uint32_t psn) {
    requests->any = true;
    requests->first = requests->newest = FIRST_LAP + psn;
}

// How many PSNs the request takes, 0 if that is not known.
static int64_t span_of(const struct roce_judge *judge) {
    if (judge->row->family != ROCE_READ)
        return 1;
    if (!roce_body_has(judge->packet, ROCE_RETH_BYTES))
        return 0;
    return roce_span(roce_u32(roce_body(judge->packet) + 12), judge->flow->path_mtu);
}

static bool may_be_same(const struct roce_packet *packet, const struct roce_sent *sent) {
    if (sent->doubtful || packet->verdict != ROCE_OK)
        return true;
    const uint32_t bytes = roce_body_bytes(packet);
    return sent->opcode == packet->opcode && sent->bytes == bytes &&
           (sent->right ^ packet->right) == roce_crc_shift(sent->head ^ packet->head, bytes);
}

static void take_copy(struct roce_judge *judge, int64_t position) {
    struct roce_requests *requests = &judge->flow->requests;
    judge->flow->count.copies++;
    requests->replaying = true;
    requests->replay = requests->newest;
    requests->copies_since_aeth = true;
    roce_read_repeat(judge, position);
}

static void count_message(struct roce_judge *judge, int64_t position) {
    struct roce_requests *requests = &judge->flow->requests;
    const struct roce_opcode *row = judge->row;
    const bool starts = requests->start_known;
    requests->start_known = false;
    judge->flow->count.messages += row->closes;
    if (requests->message.doubt) {
        requests->msn_counter.counts = false;
        return;
    }
    if (!requests->msn_counter.counts)
        roce_msn_counter_start(&requests->msn_counter, position, starts);
    if (row->closes)
        roce_msn_counter_add(judge, judge->flow, position,
                             row->family != ROCE_WRITE || (row->headers & ROCE_HAS_IMM));
}

static void take_new(struct roce_judge *judge, int64_t position) {
    struct roce_requests *requests = &judge->flow->requests;
    const struct roce_opcode *row = judge->row;
    const int64_t span = span_of(judge);
    roce_judge_message(judge);
    roce_sent_keep(judge, requests, judge->packet);
    roce_read_keep(judge, position);
    roce_reach(requests, position, 1);
    if (span > 1)
        roce_reach(requests, position, span);
    requests->next = roce_near(requests->newest, roce_psn(position + span));
    requests->adopts = span == 0;
    requests->previous = roce_psn(position);
    requests->previous_was_read = row->family == ROCE_READ;
    requests->previous_was_empty =
        row->opens && row->closes && judge->payload == 0 && row->family != ROCE_ATOMIC;
    requests->new_since_aeth = true;
    count_message(judge, position);
}

// The rule that says best what is wrong with a PSN at that distance from the expected one.
static enum roce_rule rule_of(const struct roce_judge *judge, int64_t distance, uint64_t heard) {
    const struct roce_requests *requests = &judge->flow->requests;
    const uint32_t psn = judge->packet->psn;
    const uint32_t before = requests->previous;
    const uint32_t expected = roce_psn(requests->next);
    const bool reliable = judge->flow->service == ROCE_RC;
    if (roce_reversed(before) != before &&
        roce_reversed(psn) == ((roce_reversed(before) + 1) & (ROCE_PSN_MODULUS - 1)))
        return RULE_BTH_14;
    if (expected == 0 || (expected % ROCE_RESTART == 0 && distance == -ROCE_RESTART))
        return RULE_PSN_03;
    if (reliable && requests->previous_was_read)
        return RULE_PSN_05;
    if (requests->previous_was_empty && psn == before)
        return RULE_PSN_04;
    if (reliable && distance > 0 && (uint64_t)distance == heard)
        return RULE_PSN_07;
    return reliable ? RULE_PSN_02 : RULE_PSN_18;
}

static void accuse(struct roce_judge *judge, enum roce_rule rule, uint32_t expected) {
    judge->flow->requests.spoilt = true;
    roce_found(judge, rule, roce_text(judge, "PSN 0x%06x", expected),
               roce_text(judge, "0x%06x", judge->packet->psn));
}

// A PSN that is not the expected one: a gap for the time being, or wrong.
static void suspect(struct roce_judge *judge, enum roce_rule rule, uint32_t expected,
                    int64_t position, int64_t distance) {
    if (judge->flow->service == ROCE_RC && distance > 0 && distance <= ROCE_RESTART)
        roce_gap_open(judge, rule, position - distance, position - 1, expected);
    else
        accuse(judge, rule, expected);
}

// The first request of a flow, or since its QP was set up.
static void begin(struct roce_judge *judge) {
    struct roce_flow *flow = judge->flow;
    const uint32_t psn = judge->packet->psn;
    step_to_first(&flow->requests, psn);
    if (flow->start_psn >= 0) {
        const uint32_t start = (uint32_t)flow->start_psn;
        const int64_t ahead = roce_distance(psn, start);
        flow->requests.start_known = ahead == 0;
        if (ahead != 0)
            suspect(judge, RULE_PSN_01, start, flow->requests.newest, ahead);
    }
    take_new(judge, flow->requests.newest);
}

// Behind what could not be followed, the next packet says where the flow is.
static void adopt(struct roce_judge *judge) {
    struct roce_requests *requests = &judge->flow->requests;
    const int64_t position = roce_near(requests->newest, judge->packet->psn);
    const struct roce_sent *sent = roce_sent_at(requests, judge->packet->psn);
    if (judge->flow->service == ROCE_RC && ((sent != NULL && may_be_same(judge->packet, sent)) ||
                                            roce_read_is_repeated(judge, position))) {
        take_copy(judge, position);
        return;
    }
    if (position <= requests->newest || position > requests->newest + ROCE_RESTART)
        roce_doubt(requests);
    take_new(judge, position);
}

// Whether an RC packet behind the expected PSN is neither late nor a copy.
static bool is_wrong_behind(struct roce_judge *judge, int64_t position, int64_t distance) {
    const struct roce_requests *requests = &judge->flow->requests;
    if (-distance > ROCE_KEPT_PSNS)
        return distance == -ROCE_RESTART && judge->packet->psn % ROCE_RESTART == 0;
    const struct roce_sent *sent = roce_sent_at(requests, judge->packet->psn);
    if ((sent != NULL && may_be_same(judge->packet, sent)) ||
        roce_read_is_repeated(judge, position))
        return false;
    const struct roce_read *read = roce_read_at(requests, position);
    return sent != NULL || (read != NULL && read->position != position);
}

// Whether the packet asks for the rest of a READ, but for another address or length.
static bool is_wrong_rest(struct roce_judge *judge, int64_t position) {
    struct roce_rest rest;
    if (!roce_read_rest(judge, position, &rest) || rest.begins ||
        (rest.due == rest.got) == (rest.due_bytes == rest.got_bytes))
        return false;
    roce_found(judge, RULE_RTX_17,
               roce_text(judge, "%u bytes at 0x%" PRIx64, rest.due_bytes, rest.due),
               roce_text(judge, "%u bytes at 0x%" PRIx64, rest.got_bytes, rest.got));
    return true;
}

static bool is_late(struct roce_judge *judge, int64_t position) {
    const int64_t span = span_of(judge);
    if (!roce_gaps_fill(judge, position, position + (span ? span : 1) - 1))
        return false;
    judge->flow->requests.new_since_aeth = true;
    roce_sent_keep(judge, &judge->flow->requests, judge->packet);
    roce_read_keep(judge, position);
    return true;
}

static void judge_step(struct roce_judge *judge, int64_t distance, uint32_t lost, uint64_t heard) {
    struct roce_requests *requests = &judge->flow->requests;
    const int64_t position = roce_near(requests->newest, judge->packet->psn);
    if (distance < 0 && judge->flow->service == ROCE_RC) {
        if (is_late(judge, position))
            return;
        if (!is_wrong_behind(judge, position, distance) || is_wrong_rest(judge, position)) {
            take_copy(judge, position);
            return;
        }
    }
    roce_doubt(requests);
    if (distance != lost)
        suspect(judge, rule_of(judge, distance, heard), roce_psn(requests->next), position,
                distance);
    take_new(judge, position);
}

void roce_judge_psn(struct roce_judge *judge, int64_t distance) {
    struct roce_requests *requests = &judge->flow->requests;
    const uint32_t lost = requests->lost_bad;
    const uint64_t heard = requests->responses_since;
    requests->lost_bad = 0;
    requests->responses_since = 0;
    if (requests->awaited == (int32_t)judge->packet->psn)
        requests->awaited = -1;
    if (!requests->any)
        begin(judge);
    else if (requests->adopts)
        adopt(judge);
    else if (distance == 0)
        take_new(judge, requests->next);
    else
        judge_step(judge, distance, lost, heard);
}

void roce_take_datagram(struct roce_judge *judge) {
    struct roce_requests *requests = &judge->flow->requests;
    const uint32_t psn = judge->packet->psn;
    if (!requests->any)
        step_to_first(requests, psn);
    roce_reach(requests, roce_near(requests->newest, psn), 1);
}
