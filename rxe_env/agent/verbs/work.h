// SPDX-License-Identifier: BSD-2-Clause
//
// A send work request from its JSON form.
#ifndef ROCEPROOF_AGENT_WORK_H
#define ROCEPROOF_AGENT_WORK_H

#include <infiniband/verbs.h>
#include <jansson.h>
#include <stdbool.h>

#include "protocol/fail.h"
#include "verbs/table.h"

// `wr->sg_list` points to room for SGE_MAX entries.
bool work_from(struct table *table, const struct ibv_qp *qp, const json_t *entry,
               struct ibv_send_wr *wr, struct fail *f);

#endif
