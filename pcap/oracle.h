// SPDX-License-Identifier: BSD-2-Clause
//
// The wire oracle: judges frames in capture order by every rule that a capture can
// decide, as docs/observer.md says. Inspect packets first (roce_inspect, in any
// thread), then judge them one after the other; finish tells what is still open.
// Memory stays bounded whatever the capture holds.

#ifndef ROCEPROOF_ORACLE_H
#define ROCEPROOF_ORACLE_H

#include <stdint.h>

#include "capture.h"
#include "facts.h"
#include "flow.h"
#include "packet.h"
#include "rules.h"

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

struct roce_oracle; // opaque

// `facts` may be NULL and must live as long as the oracle. NULL if out of memory.
struct roce_oracle *roce_oracle_create(const struct roce_facts *facts, roce_report *report,
                                       void *context);

// Judge the next frame, as inspected, and return the flow it belongs to, if any. `packet->frame`
// need not outlive the call.
const struct roce_flow *roce_judge(struct roce_oracle *oracle, const struct roce_record *record,
                                   const struct roce_packet *packet);

// The same for several frames.
void roce_judge_few(struct roce_oracle *oracle, const struct roce_record *records,
                    const struct roce_packet *packets, unsigned int count);

// Report what the end of the capture decides.
void roce_finish(struct roce_oracle *oracle);

const struct roce_totals *roce_oracle_totals(struct roce_oracle *oracle);

// Flows in the order in which they began.
uint32_t roce_oracle_flows(const struct roce_oracle *oracle);
const struct roce_flow *roce_oracle_flow(const struct roce_oracle *oracle, uint32_t index);

// The last request of a flow that is answered with data, if its answer has not been seen whole and
// nothing behind it was acknowledged; else NULL.
const struct roce_read *roce_read_unanswered(const struct roce_flow *flow);

void roce_oracle_destroy(struct roce_oracle *oracle);

#endif
