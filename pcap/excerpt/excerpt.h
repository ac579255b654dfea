// SPDX-License-Identifier: BSD-2-Clause
//
// An excerpt: of a capture too long to be looked at frame by frame, those that a
// diagnosis needs. For each station that sent wrong ICRCs these are a run of its
// frames behind the first one, all wrong ones or some from everywhere, right ones as
// different as can be, so many that what is rare stays rare; and what stood beside the
// wrong ones, only to be looked up. For PSNs it is a few stretches of the capture, whole, around
// what is out of order. A short capture is its own excerpt. The same capture always gives the same.

#ifndef ROCEPROOF_EXCERPT_H
#define ROCEPROOF_EXCERPT_H

#include <stdio.h>

#include "flow/facts.h"

struct roce_excerpt_limits {
    uint64_t whole;   // frames: a capture of no more is not shortened
    uint64_t stretch; // frames of one
    uint64_t wrong;   // of a station, if it is the only one that sent any
    uint64_t run;     // frames of a station behind its first wrong one
};

// Read the file twice and write the excerpt: one line of JSON,
//
//   {"frames":1000000,"roce":999000,"wrong":900,"judged":9000,"judged_wrong":500,
//    "stretches":[[1,10000]],"cut":false,"error":null}
//
// then each frame as `struct roce_excerpt_frame` in the machine's own byte order, with its bytes
// behind. Returns false if nothing could be written, with one line in `error`.
bool roce_excerpt(const char *path, const struct roce_facts *facts,
                  const struct roce_excerpt_limits *limits, FILE *out, char *error,
                  size_t error_bytes);

enum roce_excerpt_mark {
    ROCE_EXCERPT_CHOSEN = 1,       // for the ICRCs; else it only belongs to a stretch
    ROCE_EXCERPT_AFTER_OTHERS = 2, // of its station, which were left out
    ROCE_EXCERPT_AFTER_FLOW = 4,   // the same of its QP
    ROCE_EXCERPT_BESIDE = 8,       // only there for those beside it
};

// 32 bytes without holes.
struct roce_excerpt_frame {
    uint64_t number;
    uint64_t time_ns;
    uint32_t size;
    uint32_t full_size;
    uint32_t interface;
    uint8_t fcs_bytes;
    uint8_t is_ethernet;
    uint8_t marks;   // enum roce_excerpt_mark
    uint8_t stretch; // counted from 1; 0 for none
};

#endif
