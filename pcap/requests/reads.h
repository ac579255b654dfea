// SPDX-License-Identifier: BSD-2-Clause
//
// The requests of a flow that are answered with data, by number and by position.

#ifndef ROCEPROOF_READS_H
#define ROCEPROOF_READS_H

#include "judge/judge.h"

int64_t roce_span(uint32_t length, uint32_t path_mtu);
struct roce_read *roce_read_number(const struct roce_requests *requests, uint32_t number);
uint32_t roce_reads_oldest(const struct roce_requests *requests);
int64_t roce_read_offset(const struct roce_read *read, int64_t position);
struct roce_read *roce_read_at(const struct roce_requests *requests, int64_t position);
void roce_read_keep(struct roce_judge *judge, int64_t position);
void roce_read_forget(struct roce_judge *judge, struct roce_read *read);

// What a READ request inside a READ asks for, and what is due from its PSN on.
struct roce_rest {
    uint64_t due, got;             // address
    uint32_t due_bytes, got_bytes; // length
    bool begins;                   // at the first PSN of that READ
};

bool roce_read_rest(const struct roce_judge *judge, int64_t position, struct roce_rest *rest);
bool roce_read_is_repeated(const struct roce_judge *judge, int64_t position);
void roce_read_repeat(struct roce_judge *judge, int64_t position);
bool roce_read_has_restart(const struct roce_read *read, uint32_t response);
bool roce_read_answer(struct roce_judge *judge, struct roce_requests *asked, struct roce_read *read,
                      uint32_t response); // whether it is new

// The last request of a flow that is answered with data, if its answer has not been seen whole and
// nothing behind it was acknowledged; else NULL.
const struct roce_read *roce_read_unanswered(const struct roce_flow *flow);

#endif
