// SPDX-License-Identifier: BSD-2-Clause
//
// splitmix64: seeds that are MIX_STEP apart give numbers that look random.

#ifndef ROCEPROOF_MIX_H
#define ROCEPROOF_MIX_H

#include <stdint.h>

#define MIX_STEP UINT64_C(0x9E3779B97F4A7C15)

static inline uint64_t mix(uint64_t x) {
    x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
    return x ^ x >> 31;
}

#endif
