// SPDX-License-Identifier: BSD-2-Clause
//
// The protocol's names for verbs enumerations.
#ifndef ROCEPROOF_AGENT_NAMES_H
#define ROCEPROOF_AGENT_NAMES_H

#include "protocol/words.h"

extern const struct word access_names[];
extern const struct word qp_type_names[];
extern const struct word qp_state_names[];
extern const struct word wr_opcode_names[];
extern const struct word wc_opcode_names[];
extern const struct word wc_status_names[];

#endif
