// SPDX-License-Identifier: BSD-2-Clause
//
// Gaps in the PSNs of an RC flow. A gap is an accusation only once neither a late
// packet has filled it nor an acknowledgement has shown that the capture lost the
// frames: docs/observer.md, section 3.1.

#include "requests/gaps.h"

#include <stdlib.h>
#include <string.h>

static void drop(struct roce_judge *judge, struct roce_requests *requests, uint32_t index) {
    struct roce_gap *gap = &requests->gaps[index];
    roce_flow_release(&judge->memory, gap->filled, roce_gap_bytes(gap));
    memmove(gap, gap + 1, (requests->gap_count - index - 1) * sizeof *gap);
    requests->gap_count--;
}

static void accuse(struct roce_judge *judge, struct roce_flow *flow, const struct roce_gap *gap) {
    roce_found_at(judge, (enum roce_rule)gap->rule, gap->frame, flow,
                  roce_text(judge, "PSN 0x%06x", gap->expected),
                  roce_text(judge, "0x%06x", gap->got));
}

void roce_gap_open(struct roce_judge *judge, enum roce_rule rule, int64_t first, int64_t last,
                   uint32_t expected) {
    struct roce_requests *requests = &judge->flow->requests;
    const size_t bytes = ROCE_KEPT_GAPS * sizeof *requests->gaps;
    if (requests->gaps == NULL &&
        (requests->gaps = roce_flow_allocate(&judge->memory, bytes)) == NULL)
        return;
    if (requests->gap_count == ROCE_KEPT_GAPS) {
        accuse(judge, judge->flow, &requests->gaps[0]);
        drop(judge, requests, 0);
    }
    struct roce_gap gap = {
        .frame = judge->record->number,
        .first = first,
        .last = last,
        .left = (uint32_t)(last - first + 1),
        .rule = rule,
        .expected = expected,
        .got = judge->packet->psn,
    };
    gap.filled = roce_flow_allocate(&judge->memory, roce_gap_bytes(&gap));
    if (gap.filled != NULL)
        requests->gaps[requests->gap_count++] = gap;
}

static bool is_missing(const struct roce_gap *gap, int64_t position) {
    const int64_t at = position - gap->first;
    return at >= 0 && position <= gap->last && !(gap->filled[at / 8] >> at % 8 & 1);
}

// Steps over what is filled by whole bytes: a capture may ask for the same PSNs again and again.
static void take(struct roce_gap *gap, int64_t first, int64_t last) {
    const int64_t from = (first > gap->first ? first : gap->first) - gap->first;
    const int64_t upto = (last < gap->last ? last : gap->last) - gap->first;
    for (int64_t at = from; at <= upto; at++) {
        uint8_t *byte = &gap->filled[at / 8];
        const uint8_t bit = (uint8_t)(1U << at % 8);
        if (*byte == 0xFF) {
            at |= 7;
        } else if (!(*byte & bit)) {
            *byte |= bit;
            gap->left--;
        }
    }
}

bool roce_gaps_fill(struct roce_judge *judge, int64_t first, int64_t last) {
    struct roce_requests *requests = &judge->flow->requests;
    bool filled = false;
    for (uint32_t i = 0; i < requests->gap_count; i++)
        filled = filled || is_missing(&requests->gaps[i], first);
    for (uint32_t i = 0; filled && i < requests->gap_count; i++) {
        take(&requests->gaps[i], first, last);
        if (requests->gaps[i].left == 0)
            drop(judge, requests, i--);
    }
    return filled;
}

void roce_gaps_covered(struct roce_judge *judge, struct roce_flow *flow, int64_t position) {
    struct roce_requests *requests = &flow->requests;
    for (uint32_t i = 0; i < requests->gap_count; i++)
        if (requests->gaps[i].last <= position) {
            flow->count.lost_by_capture += requests->gaps[i].left;
            drop(judge, requests, i--);
        }
}

void roce_gaps_report(struct roce_judge *judge, struct roce_flow *flow) {
    struct roce_requests *requests = &flow->requests;
    while (requests->gap_count > 0) {
        accuse(judge, flow, &requests->gaps[0]);
        drop(judge, requests, 0);
    }
}
