// SPDX-License-Identifier: BSD-2-Clause
//
// Who answers whom.

#ifndef ROCEPROOF_PAIRS_H
#define ROCEPROOF_PAIRS_H

#include "routing/shared.h"

void roce_offer(struct roce_oracle *oracle, struct roce_flow *flow);
void roce_withdraw(struct roce_oracle *oracle, struct roce_flow *flow);
void roce_pair(struct roce_oracle *oracle, struct roce_flow *flow, struct roce_flow *other);
bool roce_is_alone(const struct roce_oracle *oracle, const struct roce_key *key);

// Hand a flow over to another judge, with what it remembers.
void roce_flow_move(struct roce_oracle *oracle, struct roce_flow *flow, uint8_t judge);

// That of the flow that is being judged, as far as its packet shows.
struct roce_flow *roce_counterpart(struct roce_judge *judge);

#endif
