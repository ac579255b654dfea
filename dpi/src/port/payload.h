// SPDX-License-Identifier: BSD-2-Clause
//
// One message's payload on its way to the DUT: bytes from the host, or a
// pattern made here so that huge messages cross no channel.
//
// The pattern is a run of 64-bit little-endian words. Word k is
// (seed * 0x9E3779B97F4A7C15 mod 2^64) / 2 + k * 0x9E3779B1: no two words of a
// message are equal, and none overflows below 2^31 bytes.

#ifndef ROCEPROOF_PAYLOAD_H
#define ROCEPROOF_PAYLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    CHUNK_BYTES = 128,
    NULL_LANE =
        0xA5, // in every lane of a chunk that carries no byte, so that nobody leans on zeros
};

struct payload {
    uint8_t *bytes; // owned; NULL for a pattern
    uint64_t seed;
    uint64_t length;
    uint64_t position; // bytes given so far
    unsigned offset;   // null lanes before the first byte, less than a chunk
};

// Writes message bytes [position, position + size) of the pattern.
void payload_pattern(uint64_t seed, uint64_t position, uint8_t *bytes, size_t size);

struct payload_chunk {
    unsigned first; // bytes [first, stop) of the chunk count
    unsigned stop;
    bool last;
};

// Fills the next chunk, zeros where nothing counts. The payload is not empty.
struct payload_chunk payload_next(struct payload *payload, uint8_t chunk[CHUNK_BYTES]);

void payload_free(struct payload *payload);

#endif
