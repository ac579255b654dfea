// SPDX-License-Identifier: BSD-2-Clause
//
// CE marks: a packet with one, noted for its way; what a CNP with that key answers.

#ifndef ROCEPROOF_MARKS_H
#define ROCEPROOF_MARKS_H

#include "routing/shared.h"

bool roce_is_marked(const struct roce_packet *packet);
void roce_note_mark(struct roce_oracle *oracle, const struct roce_key *key);
uint8_t roce_marks_of(const struct roce_oracle *oracle, const struct roce_key *key);

#endif
