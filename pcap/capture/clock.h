// SPDX-License-Identifier: BSD-2-Clause
//
// Time stamps of one interface: ticks of any resolution to nanoseconds. Ticks
// that no 64 bits of nanoseconds can hold wrap around.

#ifndef ROCEPROOF_CAPTURE_CLOCK_H
#define ROCEPROOF_CAPTURE_CLOCK_H

#include <stdint.h>

struct roce_clock {
    uint64_t multiplier;
    uint64_t divisor;
    uint64_t offset_ns;
    uint32_t binary_digits; // not 0: ticks are 2^-n s, and only the offset counts besides
};

// From if_tsresol (6 where a file has none) and if_tsoffset in seconds.
static inline struct roce_clock roce_clock_make(uint8_t resolution, uint64_t offset_s) {
    const uint32_t digits = resolution & 0x7F;
    struct roce_clock clock = {
        .multiplier = 1,
        .divisor = 1,
        .offset_ns = offset_s * 1000000000U,
    };
    if (resolution == 0x80)
        clock.multiplier = 1000000000U;
    else if (resolution & 0x80)
        clock.binary_digits = digits;
    else
        for (uint32_t i = 0; i < digits || i < 9; i++) {
            if (i >= digits)
                clock.multiplier *= 10;
            else if (i >= 9 && i < 28) // 10^19 is the last in 64 bits
                clock.divisor *= 10;
        }
    return clock;
}

static inline uint64_t roce_clock_read(const struct roce_clock *clock, uint64_t ticks) {
    if (clock->binary_digits == 0) {
        const uint64_t scaled = ticks * clock->multiplier;
        return (clock->divisor == 1 ? scaled : scaled / clock->divisor) + clock->offset_ns;
    }
    const uint32_t digits = clock->binary_digits;
    const uint64_t seconds = digits < 64 ? ticks >> digits : 0;
    uint64_t fraction = digits < 64 ? ticks - (seconds << digits) : ticks;
    uint32_t fraction_digits = digits;
    if (fraction_digits > 32) { // finer than a nanosecond can show
        fraction = fraction_digits - 32 < 64 ? fraction >> (fraction_digits - 32) : 0;
        fraction_digits = 32;
    }
    return seconds * 1000000000U + (fraction * 1000000000U >> fraction_digits) + clock->offset_ns;
}

#endif
