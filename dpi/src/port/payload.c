// SPDX-License-Identifier: BSD-2-Clause
//
// One message's payload on its way to the DUT.

#include "port/payload.h"

#include <stdlib.h>
#include <string.h>

static uint64_t pattern_word(uint64_t seed, uint64_t position) {
    return seed * 0x9E3779B97F4A7C15u / 2 + position / 8 * 0x9E3779B1u;
}

void payload_pattern(uint64_t seed, uint64_t position, uint8_t *bytes, size_t size) {
    const uint8_t *end = bytes + size;
    while (bytes < end && position % 8) {
        *bytes++ = (uint8_t)(pattern_word(seed, position) >> (position % 8 * 8));
        position++;
    }
    for (; end - bytes >= 8; bytes += 8, position += 8) {
        uint64_t word = pattern_word(seed, position);
        for (unsigned i = 0; i < 8; i++) {
            bytes[i] = (uint8_t)(word >> (8 * i));
        }
    }
    for (; bytes < end; bytes++, position++) {
        *bytes = (uint8_t)(pattern_word(seed, position) >> (position % 8 * 8));
    }
}

struct payload_chunk payload_next(struct payload *payload, uint8_t chunk[CHUNK_BYTES]) {
    unsigned first = payload->position == 0 ? payload->offset : 0;
    uint64_t left = payload->length - payload->position;
    size_t size = CHUNK_BYTES - first;
    if (size > left) {
        size = (size_t)left;
    }
    memset(chunk, NULL_LANE, CHUNK_BYTES);
    if (payload->bytes) {
        memcpy(chunk + first, payload->bytes + payload->position, size);
    } else {
        payload_pattern(payload->seed, payload->position, chunk + first, size);
    }
    payload->position += size;
    return (struct payload_chunk){
        .first = first,
        .stop = first + (unsigned)size,
        .last = payload->position == payload->length,
    };
}

void payload_free(struct payload *payload) {
    free(payload->bytes);
    payload->bytes = NULL;
}
