// SPDX-License-Identifier: BSD-2-Clause
//
// PSNs, which wrap, and positions, which do not.

#ifndef ROCEPROOF_PSN_H
#define ROCEPROOF_PSN_H

#include <stdint.h>

enum { ROCE_PSN_MODULUS = 1 << 24 };

static inline int64_t roce_distance(uint32_t a, uint32_t b) {
    const int32_t ahead = (int32_t)((a - b) & (ROCE_PSN_MODULUS - 1));
    return ahead < ROCE_PSN_MODULUS / 2 ? ahead : ahead - ROCE_PSN_MODULUS;
}

static inline uint32_t roce_psn(int64_t position) {
    return (uint32_t)position & (ROCE_PSN_MODULUS - 1);
}

// The position with that PSN that is nearest to another.
static inline int64_t roce_near(int64_t position, uint32_t psn) {
    return position + roce_distance(psn, roce_psn(position));
}

static inline uint32_t roce_reversed(uint32_t value) {
    return (value & 0xFF) << 16 | (value & 0xFF00) | value >> 16;
}

#endif
