// SPDX-License-Identifier: BSD-2-Clause
//
// Hashing of addresses and keys. The seed differs from run to run where memory is laid
// out at random, so that no capture can be made whose keys all fall into one place.

#ifndef ROCEPROOF_HASH_H
#define ROCEPROOF_HASH_H

#include <stdint.h>
#include <string.h>

#include "flow/facts.h"

static inline uint64_t roce_hash_seed(const void *anything) {
    return (uint64_t)(uintptr_t)anything * 0x9E3779B97F4A7C15U;
}

static inline uint64_t roce_hash(uint64_t hash, uint64_t word) {
    hash = (hash ^ word) * 0x9E3779B97F4A7C15U;
    return hash ^ hash >> 32;
}

static inline uint64_t roce_address_hash(uint64_t hash, const struct roce_address *address) {
    uint64_t half[2];
    memcpy(half, address->bytes, sizeof half);
    return roce_hash(roce_hash(hash, half[0]), half[1]);
}

#endif
