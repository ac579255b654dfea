// SPDX-License-Identifier: BSD-2-Clause
//
// Bytes at any address as one number in the machine's own order: to be compared, not to be read.

#ifndef ROCEPROOF_NATIVE_H
#define ROCEPROOF_NATIVE_H

#include <stdint.h>
#include <string.h>

static inline uint32_t roce_native16(const uint8_t *at) {
    uint16_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

static inline uint32_t roce_native32(const uint8_t *at) {
    uint32_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

static inline uint64_t roce_native64(const uint8_t *at) {
    uint64_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

#endif
