// SPDX-License-Identifier: BSD-2-Clause
//
// CRC-32 as the ICRC uses it, and its linearity: two runs over the same bytes from
// different start values differ by the difference of those values, moved past the
// bytes. So a packet can be judged under other headers without reading its payload
// again.

#ifndef ROCEPROOF_CHECKSUM_H
#define ROCEPROOF_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

// CRC-32 of the eight bytes of ones that stand for the absent LRH.
#define ROCE_PREFIX_CRC 0x2144DF1CU

// CRC-32 of `bytes` more bytes behind those that gave `crc` (0 for none).
uint32_t roce_crc(uint32_t crc, const uint8_t *data, size_t bytes);

// Ask for bytes that lie a little behind these, since the processor does not run ahead across pages
// by itself. They need not exist.
enum { ROCE_AHEAD = 4096 };

static inline void roce_ask_ahead(const uint8_t *data, size_t bytes) {
    enum { LINE = 64 };
    for (size_t i = 0; i < bytes; i += LINE)
        __builtin_prefetch((const void *)((uintptr_t)data + ROCE_AHEAD + i));
}

// CRC-32 as above of what lies in a long row of packets: asks ahead meanwhile.
uint32_t roce_crc_in_steps(uint32_t crc, const uint8_t *data, size_t bytes);

static inline uint32_t roce_crc_in_row(uint32_t crc, const uint8_t *data, size_t bytes) {
    enum { SHORT = 128, REACH = 192 }; // with the headers around them
    if (bytes > SHORT)
        return roce_crc_in_steps(crc, data, bytes);
    roce_ask_ahead(data, REACH);
    return roce_crc(crc, data, bytes);
}

// What a difference of CRC values becomes behind that many more bytes, whatever they are.
uint32_t roce_crc_shift(uint32_t difference, uint32_t bytes);

// The Internet checksum's residue of `bytes` bytes: 0 over what holds its right checksum.
// `sum` is a partial sum of 16-bit words to start from.
uint16_t roce_internet_residue(const uint8_t *data, size_t bytes, uint32_t sum);

#endif
