// SPDX-License-Identifier: BSD-2-Clause

#include "checksum.h"

#include <libdeflate.h>

#define POLYNOMIAL 0xEDB88320U // reflected
#define ONE 0x80000000U        // x^0
#define X8 0x00800000U         // x^8: one byte

enum { STEP = 1024, LINE = 64 };

uint32_t roce_crc(uint32_t crc, const uint8_t *data, size_t bytes) {
    return libdeflate_crc32(crc, data, bytes);
}

uint32_t roce_crc_in_steps(uint32_t crc, const uint8_t *data, size_t bytes) {
    for (;;) {
        // Later steps begin at a line, where the library needs no run-up.
        const size_t step = bytes < 2 * STEP ? bytes : STEP + (-(uintptr_t)data & (LINE - 1));
        roce_ask_ahead(data, step + LINE);
        crc = roce_crc(crc, data, step);
        if (step == bytes)
            return crc;
        data += step;
        bytes -= step;
    }
}

static uint32_t multiply(uint32_t a, uint32_t b) {
    uint32_t product = 0;
    for (; b != 0; b <<= 1) {
        if (b & ONE)
            product ^= a;
        a = a & 1 ? a >> 1 ^ POLYNOMIAL : a >> 1;
    }
    return product;
}

uint32_t roce_crc_shift(uint32_t difference, size_t bytes) {
    for (uint32_t power = X8; bytes != 0; bytes >>= 1) {
        if (bytes & 1)
            difference = multiply(difference, power);
        power = multiply(power, power);
    }
    return difference;
}

uint16_t roce_internet_residue(const uint8_t *data, size_t bytes, uint32_t sum) {
    size_t at = 0;
    for (; at + 1 < bytes; at += 2)
        sum += (uint32_t)(data[at] << 8 | data[at + 1]);
    if (at < bytes)
        sum += (uint32_t)data[at] << 8;
    while (sum >> 16)
        sum = (sum & 0xFFFF) + (sum >> 16);
    return (uint16_t)~sum;
}
