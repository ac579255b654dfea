// SPDX-License-Identifier: BSD-2-Clause
//
// The entry that libFuzzer and replay.c call with each input. A target returns
// 0, or aborts if the code under test broke a promise that no sanitizer checks.

#ifndef ROCEPROOF_FUZZ_TARGET_H
#define ROCEPROOF_FUZZ_TARGET_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

static inline void demand(int promise) {
    if (!promise)
        abort();
}

#ifdef __cplusplus
extern "C"
#endif
    int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
