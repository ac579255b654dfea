// SPDX-License-Identifier: BSD-2-Clause
//
// One end of a conversation inside this host: a queue pair, the completion
// queue of all its work, the memory of its messages, and how it waits.
#ifndef ROCEPROOF_AGENT_END_H
#define ROCEPROOF_AGENT_END_H

#include <infiniband/verbs.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "protocol/fail.h"
#include "verbs/table.h"

enum wait { WAIT_BUSY, WAIT_EVENT, WAIT_SOLICITED };

struct end {
    struct ibv_qp *qp;
    struct ibv_cq *cq;
    const struct mr *mr;
    enum wait wait;
    bool awake;           // it looks at its queue
    uint32_t completions; // taken off the queue
    uint32_t events;      // that woke it
};

// Both ends of a request: "qp" and "mr" of the near one, "far_qp" and "far_mr".
// Each is RC or UC, receives from a queue of its own, and has one completion
// queue, which is not the other's, for at least `depth`.
bool ends_from(struct table *table, const json_t *request, struct end ends[2], uint32_t depth,
               struct fail *f);

// How they wait from now on.
bool ends_wait_by(struct end ends[2], enum wait near, enum wait far, struct fail *f);

// Until one has reason to look at its queue; false at `deadline`.
bool ends_rest(struct end ends[2], int64_t deadline, struct fail *f);

// Takes what one that is awake has to take: 1 with a completion, which was
// successful, 0 when there is none and it sleeps again, -1 with the reason.
int end_take(struct end *end, struct ibv_wc *wc, struct fail *f);

// What they have counted, as fields of an answer.
json_t *ends_told(const struct end ends[2]);

#endif
