// SPDX-License-Identifier: BSD-2-Clause
//
// The last 64 requests of a flow that are answered with data, and what was seen of
// their answers.

#include "requests/reads.h"

#include <string.h>

#include "flow/psn.h"

enum { FIRST_BYTES = 8, MOST_BITS = 1 << 23 };

// Adds a number and returns whether it was missing; false, too, for want of memory.
static bool add(struct roce_judge *judge, struct roce_bits *bits, uint32_t number) {
    if (number >= MOST_BITS)
        return false;
    if (number / 8 >= bits->size) {
        uint32_t size = bits->size ? bits->size : FIRST_BYTES;
        while (size <= number / 8)
            size *= 2;
        uint8_t *bytes = roce_flow_allocate(&judge->memory, size);
        if (bytes == NULL)
            return false;
        if (bits->size != 0)
            memcpy(bytes, bits->bytes, bits->size);
        roce_flow_release(&judge->memory, bits->bytes, bits->size);
        *bits = (struct roce_bits){bytes, size};
    }
    const uint8_t bit = (uint8_t)(1U << number % 8);
    const bool missing = !(bits->bytes[number / 8] & bit);
    bits->bytes[number / 8] |= bit;
    return missing;
}

static bool holds(const struct roce_bits *bits, uint32_t number) {
    return number / 8 < bits->size && (bits->bytes[number / 8] >> number % 8 & 1);
}

int64_t roce_span(uint32_t length, uint32_t path_mtu) {
    if (length <= 256)
        return 1;
    return path_mtu == 0 ? 0 : ((int64_t)length + path_mtu - 1) / path_mtu;
}

struct roce_read *roce_read_number(const struct roce_requests *requests, uint32_t number) {
    return &requests->reads[number % ROCE_KEPT_READS];
}

uint32_t roce_reads_oldest(const struct roce_requests *requests) {
    return requests->read_count > ROCE_KEPT_READS ? requests->read_count - ROCE_KEPT_READS : 0;
}

// PSNs, not positions: a READ may be longer than half their circle.
int64_t roce_read_offset(const struct roce_read *read, int64_t position) {
    return roce_distance(roce_psn(position), roce_psn(read->position));
}

static bool covers(const struct roce_read *read, int64_t position) {
    const int64_t at = roce_read_offset(read, position);
    return at >= 0 && at < (read->span ? read->span : 1);
}

struct roce_read *roce_read_at(const struct roce_requests *requests, int64_t position) {
    for (uint32_t i = requests->read_count; i != roce_reads_oldest(requests); i--) {
        struct roce_read *read = roce_read_number(requests, i - 1);
        if (covers(read, position))
            return read;
    }
    return NULL;
}

// False where the packet asks for no part of a READ that is known.
bool roce_read_rest(const struct roce_judge *judge, int64_t position, struct roce_rest *rest) {
    const struct roce_flow *flow = judge->flow;
    const struct roce_read *read = roce_read_at(&flow->requests, position);
    if (judge->row->family != ROCE_READ || flow->path_mtu == 0 || read == NULL || read->is_atomic ||
        !read->known || !roce_body_has(judge->packet, ROCE_RETH_BYTES))
        return false;
    const uint8_t *reth = roce_body(judge->packet);
    const int64_t at = roce_read_offset(read, position);
    const uint64_t ahead = (uint64_t)at * flow->path_mtu;
    *rest = (struct roce_rest){
        .due = read->address + ahead,
        .got = roce_u64(reth),
        .due_bytes = (uint32_t)(read->length - ahead),
        .got_bytes = roce_u32(reth + 12),
        .begins = at == 0,
    };
    return ahead <= read->length;
}

bool roce_read_is_repeated(const struct roce_judge *judge, int64_t position) {
    struct roce_rest rest;
    return roce_read_rest(judge, position, &rest) && rest.due == rest.got &&
           rest.due_bytes == rest.got_bytes;
}

void roce_read_repeat(struct roce_judge *judge, int64_t position) {
    struct roce_read *read = roce_read_at(&judge->flow->requests, position);
    if (read == NULL)
        return;
    read->is_repeated = true;
    add(judge, &read->restarts, (uint32_t)roce_read_offset(read, position));
}

void roce_read_keep(struct roce_judge *judge, int64_t position) {
    struct roce_requests *requests = &judge->flow->requests;
    const size_t bytes = ROCE_KEPT_READS * sizeof *requests->reads;
    const uint8_t family = judge->row->family;
    if (family < ROCE_READ)
        return;
    if (requests->reads == NULL &&
        (requests->reads = roce_flow_allocate(&judge->memory, bytes)) == NULL)
        return;
    struct roce_read *read = roce_read_number(requests, requests->read_count++);
    if (requests->reads_done < roce_reads_oldest(requests))
        requests->reads_done = roce_reads_oldest(requests);
    roce_read_forget(judge, read);
    read->position = position;
    read->frame = judge->record->number;
    read->opcode = judge->packet->opcode;
    read->is_atomic = family == ROCE_ATOMIC;
    read->span = 1;
    read->known = true;
    read->acked = -1;
    if (family != ROCE_READ)
        return;
    read->known = roce_body_has(judge->packet, ROCE_RETH_BYTES);
    if (read->known) {
        read->address = roce_u64(roce_body(judge->packet));
        read->length = roce_u32(roce_body(judge->packet) + 12);
    }
    read->span = read->known ? roce_span(read->length, judge->flow->path_mtu) : 0;
}

void roce_read_forget(struct roce_judge *judge, struct roce_read *read) {
    roce_flow_release(&judge->memory, read->seen.bytes, read->seen.size);
    roce_flow_release(&judge->memory, read->restarts.bytes, read->restarts.size);
    memset(read, 0, sizeof *read);
}

bool roce_read_has_restart(const struct roce_read *read, uint32_t response) {
    return holds(&read->restarts, response);
}

bool roce_read_answer(struct roce_judge *judge, struct roce_requests *asked, struct roce_read *read,
                      uint32_t response) {
    const bool first = add(judge, &read->seen, response);
    read->answered += first;
    read->is_complete = read->is_complete || (int64_t)read->answered == read->span;
    while (asked->reads_done < asked->read_count &&
           roce_read_number(asked, asked->reads_done)->is_complete)
        asked->reads_done++;
    return first;
}

const struct roce_read *roce_read_unanswered(const struct roce_flow *flow) {
    const struct roce_requests *requests = &flow->requests;
    if (requests->read_count == 0 || flow->counterpart == NULL)
        return NULL;
    const struct roce_read *read = roce_read_number(requests, requests->read_count - 1);
    const bool passed = read->span != 0 && read->acked >= read->span - 1;
    return read->is_complete || passed ? NULL : read;
}
