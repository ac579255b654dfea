// SPDX-License-Identifier: BSD-2-Clause

#include "packet/checksum.h"

#include <libdeflate.h>

#include "packet/crc_fold.h"

#define POLYNOMIAL 0xEDB88320U // reflected

enum { STEP = 1024, LINE = 64 };

uint32_t roce_crc(uint32_t crc, const uint8_t *data, size_t bytes) {
    return roce_crc_folds(bytes) ? roce_crc_fold(crc, data, bytes, 0)
                                 : libdeflate_crc32(crc, data, bytes);
}

uint32_t roce_crc_in_steps(uint32_t crc, const uint8_t *data, size_t bytes) {
    if (roce_crc_folds(bytes)) {
        roce_ask_ahead(data + bytes, 2 * LINE);
        return roce_crc_fold(crc, data, bytes, ROCE_AHEAD);
    }
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

// x to the power of 8 times 1, 2, 4, ...: what 2^n bytes behind others do to their CRC.
static const uint32_t POWERS[32] = {
    0x00800000, 0x00008000, 0xEDB88320, 0xB1E6B092, 0xA06A2517, 0xED627DAE, 0x88D14467, 0xD7BBFE6A,
    0xEC447F11, 0x8E7EA170, 0x6427800E, 0x4D47BAE0, 0x09FE548F, 0x83852D0F, 0x30362F1A, 0x7B5A9CC3,
    0x31FEC169, 0x9FEC022A, 0x6C8DEDC4, 0x15D6874D, 0x5FDE7A4E, 0xBAD90E37, 0x2E4E5EEF, 0x4EABA214,
    0xA8A472C0, 0x429A969E, 0x148D302A, 0xC40BA6D0, 0xC4E22C3C, 0x40000000, 0x20000000, 0x08000000,
};

// Without branches: bits of checksums cannot be predicted.
static uint32_t multiply(uint32_t a, uint32_t b) {
    uint32_t product = 0;
    for (; b != 0; b <<= 1) {
        product ^= a & -(b >> 31);
        a = a >> 1 ^ (POLYNOMIAL & -(a & 1));
    }
    return product;
}

uint32_t roce_crc_shift(uint32_t difference, uint32_t bytes) {
    for (const uint32_t *power = POWERS; bytes != 0; bytes >>= 1, power++)
        if (bytes & 1)
            difference = multiply(*power, difference);
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
