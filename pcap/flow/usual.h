// SPDX-License-Identifier: BSD-2-Clause
//
// Packets in which nothing was found. One whose headers are the same, but for what
// counts up, need not be shown to the rules that look at headers: they would find
// nothing again. Most packets of most captures are of that kind.

#ifndef ROCEPROOF_USUAL_H
#define ROCEPROOF_USUAL_H

#include "flow/flow.h"
#include "packet/opcodes.h"

enum { ROCE_USUAL_PLACES = 256, ROCE_USUAL_LOOKS = 8 };

// All that those rules read of a packet, but for what the key of its flow says.
struct roce_look {
    uint64_t macs[2];
    uint64_t ip; // without length, ID, checksum and addresses
    uint64_t udp;
    uint64_t bth; // without QPN and PSN; and an AETH's syndrome
    uint32_t size;
    uint32_t path_mtu;
};

struct roce_usual {
    const struct roce_flow *flow; // NULL: nothing yet
    uint32_t payload;
    struct roce_look look;
    struct roce_constants constants;  // what the packet made them
    uint64_t looks[ROCE_USUAL_LOOKS]; // as inspectors number them, that were found to be the same
};

// Whether a packet of that flow and opcode, with a right ICRC, looks the same: byte by byte.
bool roce_usual_compare(struct roce_usual *usual, const struct roce_packet *packet,
                        const struct roce_opcode *row);

// Remember a packet in which nothing was found, if all that is read of it can be compared.
void roce_usual_note(struct roce_usual *places, const struct roce_flow *flow,
                     const struct roce_packet *packet, const struct roce_opcode *row,
                     uint32_t payload);

static inline struct roce_usual *roce_usual_place(struct roce_usual *places,
                                                  const struct roce_flow *flow, uint8_t opcode) {
    return &places[((uint32_t)flow->number * 4 + opcode) % ROCE_USUAL_PLACES];
}

static inline const struct roce_constants *roce_usual_constants(const struct roce_flow *flow,
                                                                const struct roce_opcode *row) {
    return roce_is_request(row) ? &flow->request_constants : &flow->response_constants;
}

// Where the number of a look is kept: apart for what an inspector tells apart, and for what two
// of them do.
static inline uint64_t *roce_usual_number(struct roce_usual *usual, uint64_t look) {
    return &usual->looks[(look >> 7 & 6) | (look & 1)];
}

// Whether the flow is as it was when the packet was noted, as far as those rules look.
static inline bool roce_usual_holds(const struct roce_usual *usual, const struct roce_flow *flow,
                                    const struct roce_opcode *row) {
    return flow->path_mtu == usual->look.path_mtu &&
           memcmp(&usual->constants, roce_usual_constants(flow, row), sizeof usual->constants) == 0;
}

// The same, by the number of its look where it has one.
static inline bool roce_looks_usual(struct roce_usual *usual, const struct roce_packet *packet,
                                    const struct roce_opcode *row) {
    // An inspector does not look at syndromes.
    return (packet->look != 0 && *roce_usual_number(usual, packet->look) == packet->look &&
            !(row->headers & ROCE_HAS_AETH)) ||
           roce_usual_compare(usual, packet, row);
}

#endif
