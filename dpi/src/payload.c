// SPDX-License-Identifier: BSD-2-Clause
//
// One message's payload on its way to the DUT.

#include "payload.h"

#include <stdlib.h>
#include <string.h>

void payload_pattern(uint64_t seed, uint64_t position, uint8_t *bytes, size_t size) {
    uint64_t start = seed * 0x9E3779B97F4A7C15u / 2;
    size_t done = 0;
    while (done < size) {
        uint64_t word = start + (position + done) / 8 * 0x9E3779B1u;
        for (unsigned i = (unsigned)((position + done) % 8); i < 8 && done < size; i++) {
            bytes[done++] = (uint8_t)(word >> (8 * i));
        }
    }
}

struct payload_chunk payload_next(struct payload *payload, uint8_t chunk[CHUNK_BYTES]) {
    unsigned first = payload->position == 0 ? payload->offset : 0;
    uint64_t left = payload->length - payload->position;
    size_t size = CHUNK_BYTES - first;
    if (size > left) {
        size = (size_t)left;
    }
    memset(chunk, 0, CHUNK_BYTES);
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
