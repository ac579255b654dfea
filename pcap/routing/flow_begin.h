// SPDX-License-Identifier: BSD-2-Clause
//
// A flow at its start: what configuration says of it.

#ifndef ROCEPROOF_FLOW_BEGIN_H
#define ROCEPROOF_FLOW_BEGIN_H

#include "routing/shared.h"

// The flow with that key, begun if there is none; NULL only for want of memory.
struct roce_flow *roce_flow_of(struct roce_oracle *oracle, const struct roce_key *key);

// All that packets have shown of it is dropped, but for its rings.
void roce_flow_reset(struct roce_flow *flow);

#endif
