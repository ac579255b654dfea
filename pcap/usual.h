// SPDX-License-Identifier: BSD-2-Clause
//
// Packets in which nothing was found. One whose headers are the same, but for what
// counts up, need not be shown to the rules that look at headers: they would find
// nothing again. Most packets of most captures are of that kind.

#ifndef ROCEPROOF_USUAL_H
#define ROCEPROOF_USUAL_H

#include "flow.h"
#include "opcodes.h"

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

// The bytes of payload of a packet with a right ICRC that looks as one did before; -1 for another.
int64_t roce_usual_payload(struct roce_usual *places, const struct roce_flow *flow,
                           const struct roce_packet *packet, const struct roce_opcode *row);

// Remember a packet in which nothing was found, if all that is read of it can be compared.
void roce_usual_note(struct roce_usual *places, const struct roce_flow *flow,
                     const struct roce_packet *packet, const struct roce_opcode *row,
                     uint32_t payload);

#endif
