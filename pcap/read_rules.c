// SPDX-License-Identifier: BSD-2-Clause
//
// READ responses and ATOMIC ACKs against their requests: PSN-20, READ-02, READ-03,
// READ-12, ACK-12, MSN-09.

#include "judge.h"

struct place {
    bool opens;
    bool closes;
};

static struct place place_in(int64_t at, int64_t span) {
    return (struct place){at == 0, at == span - 1};
}

static bool stands_at(const struct roce_opcode *row, struct place place) {
    return row->opens == place.opens && row->closes == place.closes;
}

static void judge_form(struct roce_oracle *oracle, const struct roce_flow *asked,
                       const struct roce_read *read, int64_t at) {
    const struct roce_opcode *row = oracle->row;
    if (read->span == 0)
        return;
    const enum roce_rule rule = read->length == 0 ? RULE_READ_03 : RULE_READ_02;
    const bool fits = stands_at(row, place_in(at, read->span)) ||
                      (read->repeat > 0 && at >= read->repeat &&
                       stands_at(row, place_in(at - read->repeat, read->span - read->repeat)));
    if (!fits) {
        roce_found(oracle, rule,
                   roce_text(oracle, "the opcode of response %u of %u", (unsigned)at + 1,
                             (unsigned)read->span),
                   row->name);
        return;
    }
    const uint64_t mtu = asked->path_mtu;
    if (mtu == 0 || !read->known) {
        if (read->length == 0 && read->known && oracle->payload != 0)
            roce_found(oracle, rule, "no data", roce_text(oracle, "%u bytes", oracle->payload));
        return;
    }
    const uint64_t before = (uint64_t)at * mtu;
    const uint64_t left = read->length > before ? read->length - before : 0;
    const uint64_t size = left < mtu ? left : mtu;
    const bool extra_aeth = row->headers == 0 && oracle->payload == mtu + 4;
    if (oracle->payload != size && !extra_aeth)
        roce_found(oracle, rule, roce_text(oracle, "%u bytes", (unsigned)size),
                   roce_text(oracle, "%u", oracle->payload));
}

static void judge_order(struct roce_oracle *oracle, const struct roce_read *read) {
    struct roce_flow *flow = oracle->flow;
    if (read->repeat >= 0)
        return;
    if (read->span != 0 && flow->has_ack && flow->ack_frame > read->frame &&
        flow->ack >= read->position + read->span - 1)
        roce_found(oracle, RULE_ACK_12, "the responses of a request before later ACKs",
                   roce_text(oracle, "PSN 0x%06x behind ACK 0x%06x", oracle->packet->psn,
                             roce_psn(flow->ack)));
    if (read->is_read && flow->has_answered && flow->newest_answered > read->position)
        roce_found(oracle, RULE_READ_12, "READs answered in their order",
                   roce_text(oracle, "PSN 0x%06x behind a later READ's", oracle->packet->psn));
}

static void judge_read_msn(struct roce_oracle *oracle, struct roce_read *read) {
    if (!(oracle->row->headers & ROCE_HAS_AETH))
        return;
    const uint32_t msn = roce_u24(roce_body(oracle->packet) + 1);
    if (read->has_msn && roce_distance(msn, read->msn) < 0) {
        roce_found(oracle, RULE_MSN_09, roce_text(oracle, "MSN of at least %u", read->msn),
                   roce_text(oracle, "%u", msn));
        return;
    }
    read->has_msn = true;
    read->msn = msn;
}

bool roce_judge_data_response(struct roce_oracle *oracle, struct roce_flow *asked, int64_t q) {
    struct roce_flow *flow = oracle->flow;
    struct roce_read *read = roce_read_at(asked, q);
    const bool is_atomic = oracle->row->family == ROCE_ATOMIC_ACK;
    if (read == NULL || read->is_atomic != is_atomic) {
        if (!is_atomic && read == NULL && roce_sent_at(asked, q) != NULL) {
            roce_found(oracle, RULE_PSN_20, "a PSN in the range of a READ",
                       roce_text(oracle, "0x%06x", oracle->packet->psn));
            return false;
        }
        return true;
    }
    const int64_t at = q - read->position;
    if (!is_atomic)
        judge_form(oracle, asked, read, at);
    if (roce_read_mark(oracle, read, (uint32_t)at))
        judge_order(oracle, read);
    if (read->is_read && (!flow->has_answered || read->position > flow->newest_answered)) {
        flow->newest_answered = read->position;
        flow->has_answered = true;
    }
    if (!is_atomic)
        judge_read_msn(oracle, read);
    return true;
}
