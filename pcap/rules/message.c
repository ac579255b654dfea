// SPDX-License-Identifier: BSD-2-Clause
//
// Opcode sequence and lengths of a message: docs/observer.md, section 3.2.
//
// Decides IMM-03, MTU-01, MTU-02, MTU-03, MTU-04, MTU-07, OPC-01, OPC-02, OPC-03, OPC-05, PAD-01,
// PAD-03, PAD-04, RETH-02, RETH-03.

#include <string.h>

#include "rules/rules.h"

enum { IMM_BYTES = 4, LARGEST_MTU = 4096 };

static uint32_t limit(const struct roce_flow *flow) {
    return flow->path_mtu ? flow->path_mtu : LARGEST_MTU;
}

static bool is_full(const struct roce_flow *flow, uint32_t size) {
    return flow->path_mtu ? size == flow->path_mtu : roce_is_path_mtu(size);
}

static bool repeats_reth(const struct roce_judge *judge) {
    const struct roce_message *message = &judge->flow->requests.message;
    const uint32_t at = judge->row->header_bytes;
    return message->has_reth && judge->payload >= ROCE_RETH_BYTES &&
           roce_body_has(judge->packet, at + ROCE_RETH_BYTES) &&
           memcmp(roce_body(judge->packet) + at + 8, message->reth + 8, 8) == 0;
}

static void judge_sequence(struct roce_judge *judge) {
    struct roce_message *message = &judge->flow->requests.message;
    const struct roce_opcode *row = judge->row;
    if (row->opens) {
        if (message->open) {
            const bool ends = row->closes && row->family == message->family &&
                              (row->headers & (ROCE_HAS_IMM | ROCE_HAS_INV));
            roce_found(judge, ends ? RULE_OPC_02 : RULE_OPC_03,
                       "MIDDLE or LAST of the open message", row->name);
        }
        message->open = message->whole = true;
        message->frame = judge->record->number;
        message->mixed = false;
        message->family = row->family;
        message->carried = 0;
        message->has_reth = (row->headers & ROCE_HAS_RETH) && row->family == ROCE_WRITE &&
                            roce_body_has(judge->packet, ROCE_RETH_BYTES);
        message->has_length = message->has_reth;
        if (message->has_reth) {
            memcpy(message->reth, roce_body(judge->packet), ROCE_RETH_BYTES);
            message->length = roce_u32(message->reth + 12);
        }
        return;
    }
    if (!message->open) {
        if (!message->doubt)
            roce_found(judge, RULE_OPC_01, "FIRST or ONLY", row->name);
        message->doubt =
            !message->doubt; // told: in doubt from here; in doubt: opened by this packet
        message->open = !message->doubt;
        message->frame = judge->record->number;
        message->whole = message->mixed = message->has_length = message->has_reth = false;
        message->family = row->family;
        message->carried = 0;
        return;
    }
    if (row->family != message->family && !message->mixed) {
        roce_found(judge, RULE_OPC_05,
                   message->family == ROCE_SEND ? "a SEND opcode" : "a WRITE opcode", row->name);
        message->mixed = true;
        message->has_length = false;
    }
}

static void judge_only(struct roce_judge *judge) {
    const struct roce_message *message = &judge->flow->requests.message;
    const uint32_t size = judge->payload;
    const uint32_t most = limit(judge->flow);
    if (size > most || (judge->row->family == ROCE_ATOMIC_WRITE && size != 8))
        roce_found(judge, RULE_MTU_04, roce_text(judge, "at most %u bytes", most),
                   roce_text(judge, "%u", size));
    if (!message->has_length || message->length == size)
        return;
    const bool padded = judge->pad > 0 && message->length == (uint64_t)size + judge->pad;
    const bool rounded = (message->length + 3) / 4 * 4 == (uint64_t)size + judge->pad;
    if (padded)
        roce_found(judge, RULE_PAD_03, roce_text(judge, "DMALen %u", size),
                   roce_text(judge, "%u", (unsigned)message->length));
    else if (rounded)
        roce_found(judge, RULE_PAD_01,
                   roce_text(judge, "PadCnt %u", (unsigned)(-message->length & 3)),
                   roce_text(judge, "%u", judge->pad));
    else
        roce_found(judge, RULE_MTU_07,
                   roce_text(judge, "%u bytes as in RETH", (unsigned)message->length),
                   roce_text(judge, "%u", size));
}

// FIRST and MIDDLE; returns the bytes of payload, mistaken extras taken off.
static uint32_t judge_full(struct roce_judge *judge) {
    const struct roce_opcode *row = judge->row;
    uint32_t size = judge->payload;
    if (judge->pad != 0) {
        size += judge->pad;
        roce_found(judge, RULE_PAD_04, roce_text(judge, "%s with PadCnt 0", row->name),
                   roce_text(judge, "%u", judge->pad));
    } else if (size > ROCE_RETH_BYTES && is_full(judge->flow, size - ROCE_RETH_BYTES) &&
               repeats_reth(judge)) {
        size -= ROCE_RETH_BYTES;
        roce_found(judge, RULE_RETH_03, roce_text(judge, "%s without RETH", row->name),
                   "a RETH in front of the payload");
    } else if (size > IMM_BYTES && is_full(judge->flow, size - IMM_BYTES)) {
        size -= IMM_BYTES;
        roce_found(judge, RULE_IMM_03, roce_text(judge, "%s of %u bytes", row->name, size),
                   "4 bytes more");
    } else if (!is_full(judge->flow, size)) {
        roce_found(judge, row->opens ? RULE_MTU_01 : RULE_MTU_02,
                   judge->flow->path_mtu
                       ? roce_text(judge, "%s of %u bytes", row->name, judge->flow->path_mtu)
                       : roce_text(judge, "%s of one path MTU", row->name),
                   roce_text(judge, "%u bytes", size));
    }
    return size;
}

static void judge_first(struct roce_judge *judge) {
    struct roce_message *message = &judge->flow->requests.message;
    message->carried = judge_full(judge);
    if (message->has_length && message->length <= message->carried) {
        roce_found(judge, RULE_RETH_02,
                   roce_text(judge, "DMALen above %u", (unsigned)message->carried),
                   roce_text(judge, "%u", (unsigned)message->length));
        message->has_length = false;
    }
}

static void judge_middle(struct roce_judge *judge) {
    struct roce_message *message = &judge->flow->requests.message;
    message->carried += judge_full(judge);
    if (message->has_length && message->carried >= message->length) {
        roce_found(judge, RULE_OPC_01,
                   roce_text(judge, "LAST within %u bytes", (unsigned)message->length),
                   judge->row->name);
        message->has_length = false;
    }
}

static void judge_total(struct roce_judge *judge) {
    const struct roce_message *message = &judge->flow->requests.message;
    const uint64_t total = message->carried + judge->payload;
    const uint64_t left =
        message->length > message->carried ? message->length - message->carried : 0;
    const uint64_t padded = (uint64_t)judge->payload + judge->pad;
    const uint64_t mtu = judge->flow->path_mtu;
    const char *got = roce_text(judge, "%u", (unsigned)message->length);
    if (message->length == total + judge->pad)
        roce_found(judge, RULE_PAD_03, roce_text(judge, "DMALen %u", (unsigned)total), got);
    else if (left > 0 && (left + 3) / 4 * 4 == padded)
        roce_found(judge, RULE_PAD_01, roce_text(judge, "PadCnt %u", (unsigned)(-left & 3)),
                   roce_text(judge, "%u", judge->pad));
    else if (mtu != 0 && message->length == (total + mtu - 1) / mtu * mtu)
        roce_found(judge, RULE_RETH_02, roce_text(judge, "DMALen %u", (unsigned)total), got);
    else
        roce_found(judge, RULE_MTU_07, roce_text(judge, "%s bytes as in RETH", got),
                   roce_text(judge, "%u", (unsigned)total));
}

static void judge_last(struct roce_judge *judge) {
    const struct roce_message *message = &judge->flow->requests.message;
    const uint32_t size = judge->payload;
    const uint32_t most = limit(judge->flow);
    if (repeats_reth(judge))
        roce_found(judge, RULE_RETH_03, "LAST without RETH", "a RETH in front of the payload");
    else if (size == 0 || size > most)
        roce_found(judge, RULE_MTU_03, roce_text(judge, "LAST of 1 to %u bytes", most),
                   roce_text(judge, "%u", size));
    else if (message->has_length && message->length != message->carried + size)
        judge_total(judge);
}

void roce_judge_message(struct roce_judge *judge) {
    struct roce_message *message = &judge->flow->requests.message;
    const struct roce_opcode *row = judge->row;
    judge_sequence(judge);
    if (row->opens && row->closes)
        judge_only(judge);
    else if (row->opens)
        judge_first(judge);
    else if (row->closes)
        judge_last(judge);
    else
        judge_middle(judge);
    if (row->closes)
        message->open = false;
    if (row->opens)
        message->doubt = false;
}
