// SPDX-License-Identifier: BSD-2-Clause
//
// READ responses and ATOMIC ACKs against their requests: READ-02, READ-03, READ-12,
// ACK-12; and ACKNOWLEDGEs that come instead of them: DUP-03, ACK-12.
//
// Decides ACK-12, DUP-03, READ-02, READ-03, READ-12.

#include "requests/reads.h"
#include "rules/rules.h"

static bool stands_at(const struct roce_opcode *row, int64_t at, int64_t span) {
    return row->opens == (at == 0) && row->closes == (at == span - 1);
}

static void judge_form(struct roce_judge *judge, const struct roce_flow *asked,
                       const struct roce_read *read, int64_t at) {
    const struct roce_opcode *row = judge->row;
    const uint32_t mtu = asked->path_mtu;
    const uint64_t length = read->length;
    if (read->span == 0)
        return;
    const enum roce_rule rule = length == 0 ? RULE_READ_03 : RULE_READ_02;
    const bool again = roce_read_has_restart(read, (uint32_t)at);
    if (!stands_at(row, at, read->span) && !(again && stands_at(row, 0, read->span - at)))
        roce_found(judge, rule,
                   roce_text(judge, "the opcode of response %u of %u", (unsigned)at + 1,
                             (unsigned)read->span),
                   row->name);
    if (mtu == 0 && length != 0)
        return;
    const uint64_t left = length - (uint64_t)at * mtu;
    const uint64_t size = left < mtu ? left : mtu;
    if (judge->payload != size && !roce_middle_has_aeth(judge, mtu))
        roce_found(judge, rule, roce_text(judge, "%u bytes", (unsigned)size),
                   roce_text(judge, "%u", judge->payload));
}

static void judge_order(struct roce_judge *judge, const struct roce_read *read) {
    const char *got = roce_text(judge, "PSN 0x%06x behind later ones", judge->packet->psn);
    if (read->span != 0 && read->acked >= read->span - 1)
        roce_found(judge, RULE_ACK_12, "the responses of a request before later ACKs", got);
    if (read->overtaken)
        roce_found(judge, RULE_READ_12, "READs answered in their order", got);
}

struct roce_read *roce_read_answered(const struct roce_judge *judge,
                                     const struct roce_requests *asked, int64_t q) {
    struct roce_read *read = roce_read_at(asked, q);
    const bool is_atomic = judge->row->family == ROCE_ATOMIC_ACK;
    return read != NULL && read->is_atomic == is_atomic ? read : NULL;
}

void roce_judge_data(struct roce_judge *judge, struct roce_flow *asked, struct roce_read *read,
                     int64_t q) {
    struct roce_requests *requests = &asked->requests;
    const int64_t at = roce_read_offset(read, q);
    if (!read->is_atomic)
        judge_form(judge, asked, read, at);
    if (roce_read_answer(judge, requests, read, (uint32_t)at) && !read->is_repeated)
        judge_order(judge, read);
    if (read->is_atomic)
        return;
    for (uint32_t i = requests->reads_done; i != requests->read_count; i++) {
        struct roce_read *other = roce_read_number(requests, i);
        if (!other->is_complete && !other->is_atomic && roce_read_offset(other, read->position) > 0)
            other->overtaken = true;
    }
}

void roce_judge_reads_acked(struct roce_judge *judge, struct roce_requests *asked, int64_t q) {
    for (uint32_t i = asked->reads_done; i != asked->read_count; i++) {
        struct roce_read *read = roce_read_number(asked, i);
        const int64_t at = roce_read_offset(read, q);
        if (read->is_complete)
            continue;
        if (read->span != 0 && at >= 0 && at < read->span)
            roce_found(judge, asked->replaying ? RULE_DUP_03 : RULE_ACK_12,
                       "a PSN outside a request that is answered with data",
                       roce_text(judge, "0x%06x", judge->packet->psn));
        if (at > read->acked && q <= asked->newest)
            read->acked = at;
    }
}
