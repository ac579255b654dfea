// SPDX-License-Identifier: BSD-2-Clause
//
// Findings that several judges make at once, kept to be reported in capture order.

#ifndef ROCEPROOF_KEPT_FINDINGS_H
#define ROCEPROOF_KEPT_FINDINGS_H

#include "flow/flow.h"
#include "judge/finding.h"

struct roce_kept;

// Those of one judge in a number of frames, in order.
struct roce_kept_findings {
    struct roce_kept *rows;
    uint32_t count;
    uint32_t room;
    uint32_t place; // of the frame that is being judged
};

// A `roce_report`; the context is one of the above.
void roce_keep_finding(void *context, const struct roce_finding *finding);

// Report what all judges have kept, by place, and forget it.
void roce_report_kept(struct roce_kept_findings kept[ROCE_JUDGES], roce_report *report,
                      void *context);

void roce_kept_free(struct roce_kept_findings kept[ROCE_JUDGES]);

#endif
