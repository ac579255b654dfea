// SPDX-License-Identifier: BSD-2-Clause
//
// What a switch whose queue has grown tells of that in a frame (RFC 3168).

#ifndef ROCEPROOF_CONGESTION_H
#define ROCEPROOF_CONGESTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Turns ECT(0) and ECT(1) of an IP packet into CE. A right IPv4 checksum stays right, a wrong one
// wrong. False, and nothing is changed, where a frame says neither.
bool congestion_mark(uint8_t *frame, size_t length);

#endif
