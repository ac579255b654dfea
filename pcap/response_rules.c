// SPDX-License-Identifier: BSD-2-Clause
//
// Responses against the requests they answer: docs/observer.md, section 4.

#include "judge.h"

enum { NO_CREDITS = 31 };
enum nature { POSITIVE, SEQUENCE_NAK, FATAL_NAK, RNR_NAK, UNDEFINED };

static enum nature nature_of(uint8_t syndrome) {
    switch (syndrome >> 5) {
    case 0:
        return POSITIVE;
    case 1:
        return RNR_NAK;
    case 3:
        return syndrome == 0x60 ? SEQUENCE_NAK : (syndrome & 31) <= 4 ? FATAL_NAK : UNDEFINED;
    default:
        return UNDEFINED;
    }
}

static const char *psn_text(struct roce_oracle *oracle, const char *what, int64_t position) {
    return roce_text(oracle, "%s 0x%06x", what, roce_psn(position));
}

static const char *psn_got(struct roce_oracle *oracle) {
    return roce_text(oracle, "0x%06x", oracle->packet->psn);
}

static void not_answered(struct roce_oracle *oracle, bool positive) {
    roce_found(oracle, positive ? RULE_ACK_11 : RULE_NAK_11, "no response on this service",
               oracle->row->name);
}

// Whether a request behind what is acknowledged may still be answered.
static bool behind(const struct roce_oracle *oracle, const struct roce_flow *asked, int64_t q) {
    const struct roce_flow *flow = oracle->flow;
    return flow->has_acked && q <= flow->acked && !asked->replaying;
}

static void judge_acknowledge(struct roce_oracle *oracle, struct roce_flow *asked, int64_t q) {
    struct roce_flow *flow = oracle->flow;
    if (q > asked->newest)
        roce_found(oracle, RULE_ACK_06, psn_text(oracle, "PSN up to", asked->newest),
                   psn_got(oracle));
    else if (flow->has_acked && q < flow->acked && !asked->replaying)
        roce_found(oracle, RULE_ACK_06, psn_text(oracle, "PSN from", flow->acked), psn_got(oracle));
    const struct roce_read *read = roce_read_at(asked, q);
    if (read != NULL && read->span != 0 && (int64_t)read->answered < read->span)
        roce_found(oracle, asked->replaying ? RULE_DUP_03 : RULE_ACK_12,
                   "a PSN outside a request that is answered with data", psn_got(oracle));
    if (q > asked->newest)
        return;
    if (!flow->has_ack || q >= flow->ack) {
        flow->ack = q;
        flow->ack_frame = oracle->record->number;
    }
    flow->has_ack = true;
}

static void judge_sequence_nak(struct roce_oracle *oracle, struct roce_flow *asked, int64_t q) {
    struct roce_flow *flow = oracle->flow;
    if (q >= asked->newest)
        roce_found(oracle, RULE_NAK_01, psn_text(oracle, "PSN below", asked->newest),
                   psn_got(oracle));
    else if (behind(oracle, asked, q))
        roce_found(oracle, RULE_NAK_01, psn_text(oracle, "PSN above", flow->acked),
                   psn_got(oracle));
    if (flow->has_nak && flow->nak == q && !flow->nak_answered)
        roce_found(oracle, RULE_NAK_02, "one NAK for a gap", psn_got(oracle));
    flow->has_nak = true;
    flow->nak = q;
    flow->nak_answered = false;
}

static void judge_fatal_nak(struct roce_oracle *oracle, struct roce_flow *asked, int64_t q) {
    if (q > asked->newest || behind(oracle, asked, q))
        roce_found(oracle, RULE_NAK_07, "the PSN of a request that is not acknowledged",
                   psn_got(oracle));
}

static bool may_lack_receive(uint8_t opcode) {
    const struct roce_opcode *row = roce_opcode(opcode);
    return (row->family == ROCE_SEND && row->opens) ||
           (row->family == ROCE_WRITE && row->closes && (row->headers & ROCE_HAS_IMM));
}

static void judge_rnr_nak(struct roce_oracle *oracle, struct roce_flow *asked, int64_t q,
                          uint8_t syndrome) {
    const struct roce_sent *sent = roce_sent_at(asked, q);
    if (q > asked->newest || (sent != NULL && !may_lack_receive(sent->opcode)))
        roce_found(oracle, RULE_RNR_01, "the PSN of a request that takes a receive",
                   psn_got(oracle));
    const struct roce_fact *own = oracle->flow->own_fact;
    if (own != NULL && own->min_rnr_timer >= 0 && (syndrome & 31) != own->min_rnr_timer)
        roce_found(oracle, RULE_RNR_02, roce_text(oracle, "timer code %d", own->min_rnr_timer),
                   roce_text(oracle, "%u", syndrome & 31U));
}

static void judge_credits(struct roce_oracle *oracle, uint8_t syndrome) {
    const struct roce_fact *own = oracle->flow->own_fact;
    if (own != NULL && own->credits == 0 && syndrome >> 5 == 0 && (syndrome & 31) != NO_CREDITS)
        roce_found(oracle, RULE_CRED_01, "credit code 31", roce_text(oracle, "%u", syndrome & 31U));
}

static void advance(struct roce_oracle *oracle, struct roce_flow *asked, int64_t q) {
    struct roce_flow *flow = oracle->flow;
    if (q > asked->newest)
        return;
    roce_gaps_covered(oracle, asked, q);
    if (!flow->has_acked || q > flow->acked)
        flow->acked = q;
    flow->has_acked = true;
    if (asked->replaying && flow->acked > asked->replay)
        asked->replaying = false;
}

static void learn_from(struct roce_oracle *oracle) {
    const uint32_t size = oracle->payload + oracle->pad;
    if (oracle->row->family == ROCE_READ_RESPONSE && !oracle->row->closes &&
        roce_is_path_mtu(size) && oracle->flow->path_mtu == 0)
        roce_learn_mtu(oracle->flow, size);
}

static void count(struct roce_flow *flow, enum nature nature, bool acknowledge) {
    flow->responses_since_request++;
    flow->acks += acknowledge && nature == POSITIVE;
    flow->rnr_naks += nature == RNR_NAK;
    flow->naks += nature == SEQUENCE_NAK || nature == FATAL_NAK;
}

void roce_judge_response(struct roce_oracle *oracle) {
    struct roce_flow *flow = oracle->flow;
    const bool acknowledge = oracle->row->family == ROCE_ACKNOWLEDGE;
    const bool has_aeth =
        roce_body_has(oracle->packet, 4) && (oracle->row->headers & ROCE_HAS_AETH);
    if ((oracle->row->headers & ROCE_HAS_AETH) && !has_aeth)
        return;
    const uint8_t syndrome = has_aeth ? roce_body(oracle->packet)[0] : 0;
    const enum nature nature = acknowledge ? nature_of(syndrome) : POSITIVE;
    learn_from(oracle);
    count(flow, nature, acknowledge);
    if (nature == UNDEFINED)
        return;
    if (flow->service == ROCE_UC || flow->service == ROCE_UD) {
        not_answered(oracle, nature == POSITIVE);
        return;
    }
    struct roce_flow *asked = roce_counterpart(oracle);
    if (asked != NULL && (asked->service == ROCE_UC || asked->service == ROCE_UD)) {
        not_answered(oracle, nature == POSITIVE);
        return;
    }
    if (has_aeth)
        judge_credits(oracle, syndrome);
    if (asked == NULL || !asked->has_requests) {
        if (has_aeth)
            roce_judge_msn(oracle, NULL, 0);
        return;
    }
    const int64_t q = roce_near(asked->newest, oracle->packet->psn);
    if (asked->spoilt || (!acknowledge && !roce_judge_data_response(oracle, asked, q))) {
        if (nature == POSITIVE)
            advance(oracle, asked, q);
        return;
    }
    if (nature == POSITIVE && acknowledge)
        judge_acknowledge(oracle, asked, q);
    else if (nature == SEQUENCE_NAK)
        judge_sequence_nak(oracle, asked, q);
    else if (nature == FATAL_NAK)
        judge_fatal_nak(oracle, asked, q);
    else if (nature == RNR_NAK)
        judge_rnr_nak(oracle, asked, q, syndrome);
    if (has_aeth)
        roce_judge_msn(oracle, asked, q);
    if (nature == POSITIVE)
        advance(oracle, asked, q);
}
