// SPDX-License-Identifier: BSD-2-Clause
//
// CRC-32 by carry-less products of 32 bytes at once, for processors that have them: the version of
// the library that distributions ship multiplies 16. Other processors leave it to the library.

#ifndef ROCEPROOF_CRC_FOLD_H
#define ROCEPROOF_CRC_FOLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__x86_64__)

// Whether so many bytes can be folded here.
static inline bool roce_crc_folds(size_t bytes) {
    enum { LEAST = 64 };
    return bytes >= LEAST && __builtin_cpu_supports("vpclmulqdq") && __builtin_cpu_supports("avx2");
}

// As roce_crc, where they can be. Memory is asked `ahead` bytes ahead, if not 0; they need not
// exist.
uint32_t roce_crc_fold(uint32_t crc, const uint8_t *data, size_t bytes, size_t ahead);

#else

static inline bool roce_crc_folds(size_t bytes) {
    (void)bytes;
    return false;
}

static inline uint32_t roce_crc_fold(uint32_t crc, const uint8_t *data, size_t bytes,
                                     size_t ahead) {
    (void)crc, (void)data, (void)bytes, (void)ahead;
    return 0;
}

#endif
#endif
