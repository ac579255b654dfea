// SPDX-License-Identifier: BSD-2-Clause
//
// Opcode sequence and lengths of a message: docs/observer.md, section 3.2.

#include <string.h>

#include "judge.h"

enum { IMM_BYTES = 4, LARGEST_MTU = 4096 };

static uint32_t limit(const struct roce_flow *flow) {
    return flow->path_mtu ? flow->path_mtu : LARGEST_MTU;
}

static bool is_full(const struct roce_flow *flow, uint32_t size) {
    return flow->path_mtu ? size == flow->path_mtu : roce_is_path_mtu(size);
}

static bool repeats_reth(const struct roce_oracle *oracle) {
    const struct roce_flow *flow = oracle->flow;
    const uint32_t at = oracle->row->header_bytes;
    return flow->has_reth && oracle->payload >= ROCE_RETH_BYTES &&
           roce_body_has(oracle->packet, at + ROCE_RETH_BYTES) &&
           memcmp(roce_body(oracle->packet) + at + 8, flow->reth + 8, 8) == 0;
}

static void judge_sequence(struct roce_oracle *oracle) {
    struct roce_flow *flow = oracle->flow;
    const struct roce_opcode *row = oracle->row;
    if (row->opens) {
        if (flow->open) {
            const bool ends = row->closes && row->family == flow->family &&
                              (row->headers & (ROCE_HAS_IMM | ROCE_HAS_INV));
            roce_found(oracle, ends ? RULE_OPC_02 : RULE_OPC_03,
                       "MIDDLE or LAST of the open message", row->name);
        }
        flow->open = true;
        flow->mixed = false;
        flow->family = row->family;
        flow->carried = 0;
        flow->has_reth = (row->headers & ROCE_HAS_RETH) && row->family == ROCE_WRITE &&
                         roce_body_has(oracle->packet, ROCE_RETH_BYTES);
        flow->has_length = flow->has_reth;
        if (flow->has_reth) {
            memcpy(flow->reth, roce_body(oracle->packet), ROCE_RETH_BYTES);
            flow->length = roce_u32(flow->reth + 12);
        }
        return;
    }
    if (!flow->open) {
        if (!flow->doubt)
            roce_found(oracle, RULE_OPC_01, "FIRST or ONLY", row->name);
        flow->doubt = !flow->doubt; // told: in doubt from here; in doubt: opened by this packet
        flow->open = !flow->doubt;
        flow->mixed = flow->has_length = flow->has_reth = false;
        flow->family = row->family;
        flow->carried = 0;
        return;
    }
    if (row->family != flow->family && !flow->mixed) {
        roce_found(oracle, RULE_OPC_05,
                   flow->family == ROCE_SEND ? "a SEND opcode" : "a WRITE opcode", row->name);
        flow->mixed = true;
        flow->has_length = false;
    }
}

static void judge_only(struct roce_oracle *oracle) {
    const struct roce_flow *flow = oracle->flow;
    const uint32_t size = oracle->payload;
    const uint32_t most = limit(flow);
    if (size > most || (oracle->row->family == ROCE_ATOMIC_WRITE && size != 8)) {
        roce_found(oracle, RULE_MTU_04, roce_text(oracle, "at most %u bytes", most),
                   roce_text(oracle, "%u", size));
        return;
    }
    if (!flow->has_length || flow->length == size)
        return;
    const bool padded = oracle->pad > 0 && flow->length == (uint64_t)size + oracle->pad;
    const bool rounded = (flow->length + 3) / 4 * 4 == (uint64_t)size + oracle->pad;
    if (padded)
        roce_found(oracle, RULE_PAD_03, roce_text(oracle, "DMALen %u", size),
                   roce_text(oracle, "%u", (unsigned)flow->length));
    else if (rounded)
        roce_found(oracle, RULE_PAD_01,
                   roce_text(oracle, "PadCnt %u", (unsigned)(-flow->length & 3)),
                   roce_text(oracle, "%u", oracle->pad));
    else
        roce_found(oracle, RULE_MTU_07,
                   roce_text(oracle, "%u bytes as in RETH", (unsigned)flow->length),
                   roce_text(oracle, "%u", size));
}

// FIRST and MIDDLE; returns the bytes of payload, mistaken extras taken off.
static uint32_t judge_full(struct roce_oracle *oracle) {
    const struct roce_flow *flow = oracle->flow;
    const struct roce_opcode *row = oracle->row;
    uint32_t size = oracle->payload;
    if (oracle->pad != 0) {
        size += oracle->pad;
        roce_found(oracle, RULE_PAD_04, roce_text(oracle, "%s with PadCnt 0", row->name),
                   roce_text(oracle, "%u", oracle->pad));
    } else if (size > ROCE_RETH_BYTES && is_full(flow, size - ROCE_RETH_BYTES) &&
               repeats_reth(oracle)) {
        size -= ROCE_RETH_BYTES;
        roce_found(oracle, RULE_RETH_03, roce_text(oracle, "%s without RETH", row->name),
                   "a RETH in front of the payload");
    } else if (size > IMM_BYTES && is_full(flow, size - IMM_BYTES)) {
        size -= IMM_BYTES;
        roce_found(oracle, RULE_IMM_03, roce_text(oracle, "%s of %u bytes", row->name, size),
                   "4 bytes more");
    } else if (!is_full(flow, size)) {
        roce_found(oracle, row->opens ? RULE_MTU_01 : RULE_MTU_02,
                   flow->path_mtu ? roce_text(oracle, "%s of %u bytes", row->name, flow->path_mtu)
                                  : roce_text(oracle, "%s of one path MTU", row->name),
                   roce_text(oracle, "%u bytes", size));
    }
    return size;
}

static void judge_first(struct roce_oracle *oracle) {
    struct roce_flow *flow = oracle->flow;
    flow->carried = judge_full(oracle);
    if (flow->has_length && flow->length <= flow->carried) {
        roce_found(oracle, RULE_RETH_02,
                   roce_text(oracle, "DMALen above %u", (unsigned)flow->carried),
                   roce_text(oracle, "%u", (unsigned)flow->length));
        flow->has_length = false;
    }
}

static void judge_middle(struct roce_oracle *oracle) {
    struct roce_flow *flow = oracle->flow;
    flow->carried += judge_full(oracle);
    if (flow->has_length && flow->carried >= flow->length) {
        roce_found(oracle, RULE_OPC_01,
                   roce_text(oracle, "LAST within %u bytes", (unsigned)flow->length),
                   oracle->row->name);
        flow->has_length = false;
    }
}

static void judge_total(struct roce_oracle *oracle) {
    const struct roce_flow *flow = oracle->flow;
    const uint64_t total = flow->carried + oracle->payload;
    const uint64_t left = flow->length > flow->carried ? flow->length - flow->carried : 0;
    const uint64_t padded = (uint64_t)oracle->payload + oracle->pad;
    const uint64_t mtu = flow->path_mtu;
    const char *got = roce_text(oracle, "%u", (unsigned)flow->length);
    if (flow->length == total + oracle->pad)
        roce_found(oracle, RULE_PAD_03, roce_text(oracle, "DMALen %u", (unsigned)total), got);
    else if (left > 0 && (left + 3) / 4 * 4 == padded)
        roce_found(oracle, RULE_PAD_01, roce_text(oracle, "PadCnt %u", (unsigned)(-left & 3)),
                   roce_text(oracle, "%u", oracle->pad));
    else if (mtu != 0 && flow->length == (total + mtu - 1) / mtu * mtu)
        roce_found(oracle, RULE_RETH_02, roce_text(oracle, "DMALen %u", (unsigned)total), got);
    else
        roce_found(oracle, RULE_MTU_07, roce_text(oracle, "%s bytes as in RETH", got),
                   roce_text(oracle, "%u", (unsigned)total));
}

static void judge_last(struct roce_oracle *oracle) {
    const struct roce_flow *flow = oracle->flow;
    const uint32_t size = oracle->payload;
    const uint32_t most = limit(flow);
    if (repeats_reth(oracle))
        roce_found(oracle, RULE_RETH_03, "LAST without RETH", "a RETH in front of the payload");
    else if (size == 0 || size > most)
        roce_found(oracle, RULE_MTU_03, roce_text(oracle, "LAST of 1 to %u bytes", most),
                   roce_text(oracle, "%u", size));
    else if (flow->has_length && flow->length != flow->carried + size)
        judge_total(oracle);
}

void roce_judge_message(struct roce_oracle *oracle) {
    struct roce_flow *flow = oracle->flow;
    const struct roce_opcode *row = oracle->row;
    judge_sequence(oracle);
    if (row->opens && row->closes)
        judge_only(oracle);
    else if (row->opens)
        judge_first(oracle);
    else if (row->closes)
        judge_last(oracle);
    else
        judge_middle(oracle);
    if (row->closes)
        flow->open = false;
    if (row->opens)
        flow->doubt = false;
}
