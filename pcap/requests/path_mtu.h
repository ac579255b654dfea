// SPDX-License-Identifier: BSD-2-Clause
//
// What packets teach of a flow's path MTU.

#ifndef ROCEPROOF_PATH_MTU_H
#define ROCEPROOF_PATH_MTU_H

#include "flow/flow.h"

// And of its counterpart's, each where it was not known.
void roce_learn_mtu(struct roce_flow *flow, uint32_t path_mtu);

#endif
