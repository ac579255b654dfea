// SPDX-License-Identifier: BSD-2-Clause
//
// What the rules share: the frame that is being judged, and what was said of it in turn.
// Inside the library only.
//
// There are several judges, each with flows of its own and their counterparts, so that
// threads may judge at once. A judge looks at frames in capture order, and touches what
// all share (shared.h) only while it is told that it is its turn.

#ifndef ROCEPROOF_JUDGE_H
#define ROCEPROOF_JUDGE_H

#include "capture/capture.h"
#include "flow/table.h"
#include "flow/usual.h"
#include "judge/finding.h"

#define ROCE_IS_KNOWN ((uint64_t)1 << 32)

enum { ROCE_LANES = 1024 };

// What was said of a packet in turn, before it was judged.
enum roce_note {
    ROCE_WAY_MARKED = 1, // a CE mark was seen on the way that a CNP answers
    ROCE_ANY_MARKED = 2, // one was seen at all
    ROCE_ALONE = 4,      // nobody can be the counterpart of its flow, if that has none
    ROCE_NO_ROOM = 8,    // for its flow
    ROCE_UNBEGUN = 16,   // its flow was known of, but had no sound packet yet
};

struct roce_routed {
    struct roce_flow *flow; // NULL if it has none
    uint64_t previous;      // the right ICRC of the RoCE frame before it on its interface, and
                            // ROCE_IS_KNOWN; 0 if there was none
    uint8_t judge;          // its number; ROCE_JUDGES for none
    uint8_t notes;          // enum roce_note
};

// Requests of one look that were taken in order; what that takes still holds while nothing else
// happened to their flow.
struct roce_lane {
    uint64_t look; // 0: none
    const struct roce_flow *flow;
    uint64_t changes; // of the flow
    const struct roce_opcode *row;
    uint32_t payload;
    bool is_whole; // a message of its own that fits the path
    bool has_reth;
    bool is_received; // as roce_msn_counter_add has it
};

struct roce_judge {
    struct roce_oracle *oracle;
    const struct roce_facts *facts;
    roce_report *report;
    void *context;
    uint8_t number;
    struct roce_totals totals;
    struct roce_memory memory;
    struct roce_usual usual[ROCE_USUAL_PLACES];
    struct roce_lane lanes[ROCE_LANES]; // by the look

    // The frame that is being judged.
    const struct roce_record *record;
    const struct roce_packet *packet;
    const struct roce_routed *routed;
    const struct roce_opcode *row;
    struct roce_flow *flow; // NULL if it has none
    uint32_t payload;       // bytes, without pad
    uint32_t pad;
    bool is_usual; // nothing was found in headers like these
    char texts[ROCE_TEXTS][ROCE_TEXT_BYTES];
    unsigned int text;
};

// Whether a packet's ICRC vouches for its header fields.
static inline bool roce_is_trusted(const struct roce_judge *judge) {
    return judge->packet->verdict != ROCE_BAD || !judge->flow->trusted_icrc;
}

#endif
