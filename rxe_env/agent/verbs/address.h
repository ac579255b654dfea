// SPDX-License-Identifier: BSD-2-Clause
//
// The path to a remote port, as in modify_qp and create_ah.
#ifndef ROCEPROOF_AGENT_ADDRESS_H
#define ROCEPROOF_AGENT_ADDRESS_H

#include <infiniband/verbs.h>
#include <jansson.h>
#include <stdbool.h>

#include "protocol/fail.h"

bool address_from(const json_t *request, struct ibv_ah_attr *address, struct fail *f);

#endif
