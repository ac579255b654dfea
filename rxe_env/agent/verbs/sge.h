// SPDX-License-Identifier: BSD-2-Clause
//
// The scatter/gather list of a work request.
#ifndef ROCEPROOF_AGENT_SGE_H
#define ROCEPROOF_AGENT_SGE_H

#include <infiniband/verbs.h>
#include <jansson.h>
#include <stdbool.h>

#include "protocol/fail.h"
#include "verbs/table.h"

enum { SGE_MAX = 32 };

// Reads the optional "sge" list of {"mr", "offset", "length"}; every range lies
// within its region.
bool sge_from(struct table *table, const json_t *request, struct ibv_sge sge[SGE_MAX], int *count,
              struct fail *f);

#endif
