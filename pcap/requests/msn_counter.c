// SPDX-License-Identifier: BSD-2-Clause
//
// How many messages of a flow have ended up to a PSN, to be held against the MSN.
// Only the last 1024 ends are kept; of what lies before them nothing is asked.

#include "requests/msn_counter.h"

#include <string.h>

enum { FIRST_SLOTS = 16 };

static bool grow(struct roce_judge *judge, struct roce_msn_counter *msn_counter) {
    const uint32_t slots = msn_counter->slots ? 2 * msn_counter->slots : FIRST_SLOTS;
    struct roce_end *ends = roce_flow_allocate(&judge->memory, slots * sizeof *ends);
    if (ends == NULL)
        return false;
    const uint32_t kept =
        msn_counter->total < msn_counter->slots ? msn_counter->total : msn_counter->slots;
    for (uint32_t i = msn_counter->total - kept; i != msn_counter->total; i++)
        ends[i & (slots - 1)] = msn_counter->ends[i & (msn_counter->slots - 1)];
    roce_flow_release(&judge->memory, msn_counter->ends, msn_counter->slots * sizeof *ends);
    msn_counter->ends = ends;
    msn_counter->slots = slots;
    return true;
}

void roce_msn_counter_start(struct roce_msn_counter *msn_counter, int64_t position,
                            bool from_start) {
    msn_counter->counts = true;
    msn_counter->from_start = msn_counter->has_base = from_start;
    msn_counter->base = msn_counter->total = msn_counter->received = 0;
    msn_counter->base_frame = 0;
    msn_counter->start = position;
}

void roce_msn_counter_add_wider(struct roce_judge *judge, struct roce_flow *flow, int64_t position,
                                bool received) {
    struct roce_msn_counter *msn_counter = &flow->requests.msn_counter;
    if (msn_counter->total >= msn_counter->slots)
        grow(judge, msn_counter);
    if (msn_counter->slots != 0) {
        roce_msn_counter_put(msn_counter, position, received);
    } else {
        msn_counter->counts = false;
        flow->changes++;
    }
}

bool roce_msn_counter_count(const struct roce_msn_counter *msn_counter, int64_t position,
                            struct roce_msn_counter_counts *counts) {
    *counts = (struct roce_msn_counter_counts){0};
    if (position < msn_counter->start)
        return msn_counter->from_start;
    const uint32_t kept =
        msn_counter->total < msn_counter->slots ? msn_counter->total : msn_counter->slots;
    uint32_t low = msn_counter->total - kept;
    uint32_t high = msn_counter->total;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (msn_counter->ends[middle & (msn_counter->slots - 1)].position <= position)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return true;
    if (low == msn_counter->total - kept)
        return false;
    counts->all = low;
    counts->received = msn_counter->ends[(low - 1) & (msn_counter->slots - 1)].received;
    return true;
}
