// SPDX-License-Identifier: BSD-2-Clause
//
// What is found: a broken rule, reported of the frame that is being judged or of an earlier
// one, and counted.

#ifndef ROCEPROOF_FINDING_H
#define ROCEPROOF_FINDING_H

#include <stdint.h>

#include "judge/rule.h"

struct roce_flow;
struct roce_judge;

enum { ROCE_TEXTS = 4, ROCE_TEXT_BYTES = 128 };

struct roce_finding {
    enum roce_rule rule;
    enum roce_severity severity;
    uint64_t frame;
    int64_t flow; // its index, -1 for none
    const char *expected;
    const char *got;
};

struct roce_totals {
    uint64_t frames;
    uint64_t roce_frames;
    uint64_t icrc[3]; // by enum roce_verdict
    uint64_t rules[RULE_COUNT];
    uint64_t severities[3];
    uint64_t untracked; // RoCE frames of which there was no memory to keep anything, or not all
};

typedef void roce_report(void *context, const struct roce_finding *finding);

// Text for a finding; valid until three more have been made.
const char *roce_text(struct roce_judge *judge, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

void roce_found(struct roce_judge *judge, enum roce_rule rule, const char *expected,
                const char *got);

// As above with a severity of its own.
void roce_found_as(struct roce_judge *judge, enum roce_rule rule, enum roce_severity severity,
                   const char *expected, const char *got);

// As above for an earlier frame.
void roce_found_at(struct roce_judge *judge, enum roce_rule rule, uint64_t frame,
                   const struct roce_flow *flow, const char *expected, const char *got);

#endif
