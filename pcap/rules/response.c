// SPDX-License-Identifier: BSD-2-Clause
//
// Responses against the requests they answer: docs/observer.md, section 4.
//
// Decides ACK-06, ACK-11, CRED-01, NAK-01, NAK-02, NAK-07, NAK-11, PSN-20, RNR-01, RNR-02.

#include "requests/gaps.h"
#include "requests/history.h"
#include "requests/path_mtu.h"
#include "routing/pairs.h"
#include "rules/rules.h"

enum { NO_CREDITS = 31 };
enum nature { POSITIVE, SEQUENCE_NAK, FATAL_NAK, OTHER_NAK, RNR_NAK, UNDEFINED };

static enum nature nature_of(uint8_t syndrome) {
    switch (syndrome >> 5) {
    case 0:
        return POSITIVE;
    case 1:
        return RNR_NAK;
    case 3:
        return syndrome == 0x60   ? SEQUENCE_NAK
               : syndrome <= 0x63 ? FATAL_NAK
               : syndrome == 0x64 ? OTHER_NAK
                                  : UNDEFINED;
    default:
        return UNDEFINED;
    }
}

static const char *psn_text(struct roce_judge *judge, const char *what, int64_t position) {
    return roce_text(judge, "%s 0x%06x", what, roce_psn(position));
}

static const char *psn_got(struct roce_judge *judge) {
    return roce_text(judge, "0x%06x", judge->packet->psn);
}

// Whether a PSN was acknowledged, and no copy may be answered.
static bool is_settled(const struct roce_judge *judge, const struct roce_requests *asked,
                       int64_t q) {
    const struct roce_responses *responses = &judge->flow->responses;
    return responses->has_acked && q <= responses->acked && !asked->replaying;
}

static void judge_acknowledge(struct roce_judge *judge, struct roce_requests *asked, int64_t q) {
    const int64_t acked = judge->flow->responses.acked;
    if (q > asked->newest)
        roce_found(judge, RULE_ACK_06, psn_text(judge, "PSN up to", asked->newest), psn_got(judge));
    else if (q != acked && is_settled(judge, asked, q))
        roce_found(judge, RULE_ACK_06, psn_text(judge, "PSN from", acked), psn_got(judge));
    roce_judge_reads_acked(judge, asked, q);
}

static void judge_sequence_nak(struct roce_judge *judge, struct roce_requests *asked, int64_t q) {
    if (q >= asked->newest || is_settled(judge, asked, q))
        roce_found(judge, RULE_NAK_01, "the PSN of a request that is missing", psn_got(judge));
    if (asked->awaited == (int32_t)judge->packet->psn)
        roce_found(judge, RULE_NAK_02, "one NAK for a gap", psn_got(judge));
    asked->awaited = (int32_t)judge->packet->psn;
}

static void judge_rnr_nak(struct roce_judge *judge, struct roce_requests *asked, int64_t q) {
    if (q > asked->newest)
        roce_found(judge, RULE_RNR_01, "the PSN of a request that was sent", psn_got(judge));
    if (asked->awaited == (int32_t)judge->packet->psn)
        asked->awaited = -1; // the request came
}

static void judge_configured(struct roce_judge *judge, uint8_t syndrome) {
    const struct roce_fact *own = judge->flow->own_fact;
    const uint8_t type = syndrome >> 5;
    const uint8_t value = syndrome & 31;
    if (own == NULL)
        return;
    if (type == 1 && own->min_rnr_timer >= 0 && value != own->min_rnr_timer)
        roce_found(judge, RULE_RNR_02, roce_text(judge, "timer code %d", own->min_rnr_timer),
                   roce_text(judge, "%u", value));
    if (type == 0 && own->credits == 0 && value != NO_CREDITS)
        roce_found(judge, RULE_CRED_01, "credit code 31", roce_text(judge, "%u", value));
}

static void advance(struct roce_judge *judge, struct roce_flow *asked, int64_t q) {
    struct roce_responses *responses = &judge->flow->responses;
    struct roce_requests *requests = &asked->requests;
    if (q > requests->newest)
        return;
    roce_gaps_covered(judge, asked, q);
    if (!responses->has_acked || q > responses->acked)
        responses->acked = q;
    responses->has_acked = true;
    if (requests->replaying && responses->acked > requests->replay)
        requests->replaying = false;
}

static void learn_from(struct roce_judge *judge) {
    const uint32_t size = judge->payload + judge->pad;
    if (judge->row->family == ROCE_READ_RESPONSE && !judge->row->closes && roce_is_path_mtu(size) &&
        judge->flow->path_mtu == 0)
        roce_learn_mtu(judge->flow, size);
}

static void count(struct roce_flow *flow, enum nature nature, bool acknowledge) {
    flow->count.acks += acknowledge && nature == POSITIVE;
    flow->count.rnr_naks += nature == RNR_NAK;
    flow->count.naks += nature == SEQUENCE_NAK || nature == FATAL_NAK || nature == OTHER_NAK;
}

static bool is_unanswered(const struct roce_flow *flow) {
    return flow->service == ROCE_UC || flow->service == ROCE_UD;
}

// False if the response is judged by no other row.
static bool judge_nature(struct roce_judge *judge, struct roce_flow *asked, enum nature nature,
                         int64_t q, struct roce_read **read) {
    struct roce_requests *requests = &asked->requests;
    const uint8_t family = judge->row->family;
    if (family != ROCE_ACKNOWLEDGE) {
        *read = roce_read_answered(judge, requests, q);
        if (*read != NULL) {
            roce_judge_data(judge, asked, *read, q);
        } else if (family == ROCE_READ_RESPONSE &&
                   roce_sent_at(requests, judge->packet->psn) != NULL) {
            roce_found(judge, RULE_PSN_20, "a PSN in the range of a READ", psn_got(judge));
            return false;
        }
    } else if (nature == POSITIVE) {
        judge_acknowledge(judge, requests, q);
    } else if (nature == SEQUENCE_NAK) {
        judge_sequence_nak(judge, requests, q);
    } else if (nature == RNR_NAK) {
        judge_rnr_nak(judge, requests, q);
    } else if (nature == FATAL_NAK && (q > requests->newest || is_settled(judge, requests, q))) {
        roce_found(judge, RULE_NAK_07, "the PSN of a request that is not acknowledged",
                   psn_got(judge));
    }
    return true;
}

void roce_judge_response(struct roce_judge *judge) {
    struct roce_flow *flow = judge->flow;
    const bool acknowledge = judge->row->family == ROCE_ACKNOWLEDGE;
    const bool carries_aeth = judge->row->headers & ROCE_HAS_AETH;
    flow->requests.responses_since++;
    if (carries_aeth && !roce_body_has(judge->packet, 4))
        return;
    const uint8_t syndrome = carries_aeth ? roce_body(judge->packet)[0] : 0;
    const enum nature nature = acknowledge ? nature_of(syndrome) : POSITIVE;
    count(flow, nature, acknowledge);
    if (nature == UNDEFINED)
        return;
    struct roce_flow *asked = NULL;
    if (!is_unanswered(flow)) {
        learn_from(judge);
        asked = roce_counterpart(judge);
    }
    if (is_unanswered(flow) || (asked != NULL && is_unanswered(asked))) {
        roce_found(judge, nature == POSITIVE ? RULE_ACK_11 : RULE_NAK_11,
                   "no response on this service", judge->row->name);
        return;
    }
    if (carries_aeth)
        judge_configured(judge, syndrome);
    if (asked == NULL || !asked->requests.any) {
        if (carries_aeth)
            roce_judge_msn(judge, NULL, 0, NULL);
        return;
    }
    const int64_t q = roce_near(asked->requests.newest, judge->packet->psn);
    struct roce_read *read = NULL;
    if (!asked->requests.spoilt && judge_nature(judge, asked, nature, q, &read) && carries_aeth)
        roce_judge_msn(judge, &asked->requests, q, read);
    if (nature == POSITIVE)
        advance(judge, asked, q);
}
