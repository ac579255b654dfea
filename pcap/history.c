// SPDX-License-Identifier: BSD-2-Clause
//
// What a flow keeps of its requests: a ring over the last 1024 PSNs, which grows as
// far as it is needed, and the last 64 requests that are answered by data.

#include <stdlib.h>
#include <string.h>

#include "judge.h"

enum { FIRST_SLOTS = 32, MOST_SEEN_BITS = 1 << 23 };

struct roce_sent *roce_sent_at(const struct roce_flow *flow, int64_t position) {
    if (flow->sent_slots == 0)
        return NULL;
    struct roce_sent *sent = &flow->sent[(uint64_t)position & (flow->sent_slots - 1)];
    return sent->present && sent->position == position ? sent : NULL;
}

const struct roce_sent *roce_sent_upto(const struct roce_flow *flow, int64_t position) {
    for (int64_t back = 0; back < flow->sent_slots; back++) {
        const struct roce_sent *sent = roce_sent_at(flow, position - back);
        if (sent != NULL)
            return sent;
        if (position - back < flow->first)
            break;
    }
    return NULL;
}

static bool grow(struct roce_oracle *oracle, struct roce_flow *flow) {
    const uint32_t slots = flow->sent_slots ? 2 * flow->sent_slots : FIRST_SLOTS;
    struct roce_sent *sent = roce_flow_allocate(&oracle->table, slots * sizeof *sent);
    if (sent == NULL)
        return false;
    for (uint32_t i = 0; i < flow->sent_slots; i++)
        if (flow->sent[i].present)
            sent[(uint64_t)flow->sent[i].position & (slots - 1)] = flow->sent[i];
    roce_flow_release(&oracle->table, flow->sent, flow->sent_slots * sizeof *sent);
    flow->sent = sent;
    flow->sent_slots = slots;
    return true;
}

struct roce_sent *roce_sent_add(struct roce_oracle *oracle, struct roce_flow *flow,
                                int64_t position) {
    for (;;) {
        struct roce_sent *sent =
            flow->sent_slots ? &flow->sent[(uint64_t)position & (flow->sent_slots - 1)] : NULL;
        const bool crowded = sent == NULL || (sent->present && sent->position != position &&
                                              position - sent->position < ROCE_KEPT_PSNS);
        if (!crowded || (flow->sent_slots == ROCE_KEPT_PSNS) || !grow(oracle, flow)) {
            if (sent != NULL) {
                memset(sent, 0, sizeof *sent);
                sent->present = true;
                sent->position = position;
            }
            return sent;
        }
    }
}

int64_t roce_span(uint32_t length, uint32_t path_mtu) {
    if (length <= 256)
        return 1;
    return path_mtu == 0 ? 0 : ((int64_t)length + path_mtu - 1) / path_mtu;
}

struct roce_read *roce_read_at(const struct roce_flow *flow, int64_t position) {
    const uint32_t kept = flow->read_count < ROCE_KEPT_READS ? flow->read_count : ROCE_KEPT_READS;
    for (uint32_t back = 1; back <= kept; back++) {
        struct roce_read *read = &flow->reads[(flow->read_count - back) % ROCE_KEPT_READS];
        const int64_t span = read->span ? read->span : 1;
        if (position >= read->position && position < read->position + span)
            return read;
    }
    return NULL;
}

void roce_read_add(struct roce_oracle *oracle, struct roce_flow *flow, int64_t position) {
    const size_t bytes = ROCE_KEPT_READS * sizeof *flow->reads;
    if (flow->reads == NULL && (flow->reads = roce_flow_allocate(&oracle->table, bytes)) == NULL)
        return;
    struct roce_read *read = &flow->reads[flow->read_count++ % ROCE_KEPT_READS];
    roce_flow_release(&oracle->table, read->seen, read->seen_bits / 8);
    const uint8_t family = oracle->row->family;
    const uint8_t *reth = roce_body(oracle->packet) + (family == ROCE_FLUSH ? 4 : 0);
    const bool has_reth = roce_body_has(oracle->packet, oracle->row->header_bytes);
    *read = (struct roce_read){
        .position = position,
        .frame = oracle->record->number,
        .repeat = -1,
        .is_read = family != ROCE_ATOMIC,
        .is_atomic = family == ROCE_ATOMIC,
        .span = 1,
    };
    if (family != ROCE_READ)
        return;
    if (has_reth) {
        read->address = roce_u64(reth);
        read->rkey = roce_u32(reth + 8);
        read->length = roce_u32(reth + 12);
    }
    read->span = has_reth ? roce_span(read->length, flow->path_mtu) : 0;
    read->known = has_reth;
}

// Marks a response as seen and returns whether it is the first of its kind.
bool roce_read_mark(struct roce_oracle *oracle, struct roce_read *read, uint32_t response) {
    if (response >= MOST_SEEN_BITS)
        return false;
    if (response >= read->seen_bits) {
        uint32_t bits = read->seen_bits ? read->seen_bits : 64;
        while (bits <= response)
            bits *= 2;
        uint8_t *seen = roce_flow_allocate(&oracle->table, bits / 8);
        if (seen == NULL)
            return false;
        if (read->seen_bits)
            memcpy(seen, read->seen, read->seen_bits / 8);
        roce_flow_release(&oracle->table, read->seen, read->seen_bits / 8);
        read->seen = seen;
        read->seen_bits = bits;
    }
    const uint8_t bit = (uint8_t)(1U << response % 8);
    const bool first = !(read->seen[response / 8] & bit);
    read->seen[response / 8] |= bit;
    read->answered += first;
    return first;
}
