// SPDX-License-Identifier: BSD-2-Clause
//
// What an excerpt remembers of every frame: a few bytes, from which it is chosen.

#ifndef ROCEPROOF_EXCERPT_ROWS_H
#define ROCEPROOF_EXCERPT_ROWS_H

#include "excerpt/excerpt.h"
#include "packet/packet.h"

enum {
    ROCE_STATIONS = 256, // the last one stands for all further ones
    ROCE_ROW_FLOWS = 1 << 16,
    ROCE_MOST_STRETCHES = 3,
};

enum roce_row_bits {
    ROCE_ROW_ROCE = 1,
    ROCE_ROW_WRONG = 2,    // its ICRC, or lengths that contradict each other
    ROCE_ROW_RARE = 4,     // its headers have not been seen, or only long ago
    ROCE_ROW_ORDER = 8,    // something is reported of PSNs or responses
    ROCE_ROW_AGAIN = 16,   // a repetition, or a NAK
    ROCE_ROW_SEED = 32,    // judged with what stands beside it
    ROCE_ROW_JUDGED = 64,  // judged
    ROCE_ROW_CHOSEN = 128, // judged, or only beside one that is
};

struct roce_row {
    uint32_t packet; // hash of station, QP, opcode and PSN
    uint16_t flow;   // hash of station and QP
    uint8_t station;
    uint8_t bits;
};

struct roce_station {
    uint64_t key;
    uint64_t frames, wrong, again;
    uint32_t rare; // by headers
    uint32_t odd;  // by headers, length and QP
};

struct roce_rows {
    struct roce_row **blocks;
    uint64_t count;
    uint64_t roce, wrong, bytes;
    uint32_t station_count;
    struct roce_station stations[ROCE_STATIONS];
    bool cut; // there are more frames than can be remembered
    char damage[256];
};

struct roce_stretch {
    uint64_t first, last;
};

static inline struct roce_row *roce_row(const struct roce_rows *rows, uint64_t number) {
    return &rows->blocks[(number - 1) >> 16][(number - 1) & 0xFFFF];
}

// Read and judge the capture up to its end or damage. False if not even the first frame was read,
// or without memory, with one line in `error`. To be freed in any case.
bool roce_rows_read(struct roce_rows *rows, const char *path, const struct roce_facts *facts,
                    char *error, size_t error_bytes);
void roce_rows_free(struct roce_rows *rows);

// Set ROCE_ROW_CHOSEN, and return how many stretches there are.
void roce_rows_choose(struct roce_rows *rows, const struct roce_excerpt_limits *limits);
uint32_t roce_rows_stretches(const struct roce_rows *rows, const struct roce_excerpt_limits *limits,
                             struct roce_stretch stretches[ROCE_MOST_STRETCHES]);

#endif
