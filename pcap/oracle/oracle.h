// SPDX-License-Identifier: BSD-2-Clause
//
// The wire oracle: judges frames in capture order by every rule that a capture can
// decide, as docs/observer.md says. Inspect packets first (roce_inspect, in any
// thread), then judge them one after the other; finish tells what is still open.
// Memory stays bounded whatever the capture holds.

#ifndef ROCEPROOF_ORACLE_H
#define ROCEPROOF_ORACLE_H

#include <stdint.h>

#include "capture/capture.h"
#include "flow/facts.h"
#include "flow/flow.h"
#include "judge/finding.h"
#include "packet/packet.h"

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

void roce_oracle_destroy(struct roce_oracle *oracle);

#endif
