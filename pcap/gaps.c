// SPDX-License-Identifier: BSD-2-Clause
//
// Gaps in the PSNs of an RC flow. A gap is an accusation only once neither a late
// packet has filled it nor an acknowledgement has shown that the capture lost the
// frames: docs/observer.md, section 3.1.

#include <stdlib.h>
#include <string.h>

#include "judge.h"

static size_t bitmap_bytes(const struct roce_gap *gap) {
    return (size_t)(gap->last - gap->first) / 8 + 1;
}

static void drop(struct roce_oracle *oracle, struct roce_flow *flow, uint32_t index) {
    struct roce_gap *gap = &flow->gaps[index];
    roce_flow_release(&oracle->table, gap->filled, bitmap_bytes(gap));
    memmove(gap, gap + 1, (flow->gap_count - index - 1) * sizeof *gap);
    flow->gap_count--;
}

static void accuse(struct roce_oracle *oracle, struct roce_flow *flow, const struct roce_gap *gap) {
    roce_found_at(oracle, (enum roce_rule)gap->rule, gap->frame, flow,
                  roce_text(oracle, "PSN 0x%06x", gap->expected),
                  roce_text(oracle, "0x%06x", gap->got));
}

bool roce_gap_open(struct roce_oracle *oracle, enum roce_rule rule, int64_t first, int64_t last,
                   uint32_t expected) {
    struct roce_flow *flow = oracle->flow;
    const size_t bytes = ROCE_KEPT_GAPS * sizeof *flow->gaps;
    if (flow->gaps == NULL && (flow->gaps = roce_flow_allocate(&oracle->table, bytes)) == NULL)
        return false;
    if (flow->gap_count == ROCE_KEPT_GAPS) {
        accuse(oracle, flow, &flow->gaps[0]);
        drop(oracle, flow, 0);
    }
    struct roce_gap gap = {
        .frame = oracle->record->number,
        .first = first,
        .last = last,
        .left = (uint32_t)(last - first + 1),
        .rule = rule,
        .expected = expected,
        .got = oracle->packet->psn,
    };
    gap.filled = roce_flow_allocate(&oracle->table, bitmap_bytes(&gap));
    if (gap.filled == NULL)
        return false;
    flow->gaps[flow->gap_count++] = gap;
    return true;
}

bool roce_gap_fill(struct roce_oracle *oracle, int64_t first, int64_t last) {
    struct roce_flow *flow = oracle->flow;
    bool filled = false;
    for (uint32_t i = 0; i < flow->gap_count; i++) {
        struct roce_gap *gap = &flow->gaps[i];
        const int64_t from = first > gap->first ? first : gap->first;
        const int64_t upto = last < gap->last ? last : gap->last;
        for (int64_t at = from; at <= upto; at++) {
            uint8_t *byte = &gap->filled[(at - gap->first) / 8];
            const uint8_t bit = (uint8_t)(1U << (at - gap->first) % 8);
            if (*byte & bit)
                continue;
            *byte |= bit;
            gap->left--;
            filled = filled || at == first;
        }
        if (gap->left == 0)
            drop(oracle, flow, i--);
    }
    return filled;
}

void roce_gaps_covered(struct roce_oracle *oracle, struct roce_flow *flow, int64_t position) {
    for (uint32_t i = 0; i < flow->gap_count; i++)
        if (flow->gaps[i].last <= position) {
            flow->lost_by_capture += flow->gaps[i].left;
            drop(oracle, flow, i--);
        }
}

void roce_gaps_report(struct roce_oracle *oracle, struct roce_flow *flow) {
    while (flow->gap_count > 0) {
        accuse(oracle, flow, &flow->gaps[0]);
        drop(oracle, flow, 0);
    }
}
