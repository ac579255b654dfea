// SPDX-License-Identifier: BSD-2-Clause
//
// How many messages of a flow have ended up to a PSN, to be held against the MSN.
// Only the last 1024 ends are kept; of what lies before them nothing is asked.

#include <string.h>

#include "judge.h"

enum { FIRST_SLOTS = 16 };

static bool grow(struct roce_oracle *oracle, struct roce_tally *tally) {
    const uint32_t slots = tally->slots ? 2 * tally->slots : FIRST_SLOTS;
    struct roce_end *ends = roce_flow_allocate(&oracle->table, slots * sizeof *ends);
    if (ends == NULL)
        return false;
    const uint32_t kept = tally->total < tally->slots ? tally->total : tally->slots;
    for (uint32_t i = tally->total - kept; i != tally->total; i++)
        ends[i & (slots - 1)] = tally->ends[i & (tally->slots - 1)];
    roce_flow_release(&oracle->table, tally->ends, tally->slots * sizeof *ends);
    tally->ends = ends;
    tally->slots = slots;
    return true;
}

void roce_tally_start(struct roce_tally *tally, int64_t position, bool from_start) {
    tally->counts = true;
    tally->from_start = tally->has_base = from_start;
    tally->base = tally->total = tally->received = 0;
    tally->start = position;
}

void roce_tally_add(struct roce_oracle *oracle, struct roce_tally *tally, int64_t position,
                    bool received) {
    if (tally->total >= tally->slots && tally->slots < ROCE_KEPT_ENDS)
        grow(oracle, tally);
    if (tally->slots == 0) {
        tally->counts = false;
        return;
    }
    tally->received += received;
    tally->ends[tally->total++ & (tally->slots - 1)] = (struct roce_end){position, tally->received};
}

bool roce_tally_count(const struct roce_tally *tally, int64_t position,
                      struct roce_tally_counts *counts) {
    *counts = (struct roce_tally_counts){0};
    if (position < tally->start)
        return tally->from_start;
    const uint32_t kept = tally->total < tally->slots ? tally->total : tally->slots;
    uint32_t low = tally->total - kept;
    uint32_t high = tally->total;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (tally->ends[middle & (tally->slots - 1)].position <= position)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return true;
    if (low == tally->total - kept)
        return false;
    counts->all = low;
    counts->received = tally->ends[(low - 1) & (tally->slots - 1)].received;
    return true;
}
