// SPDX-License-Identifier: BSD-2-Clause
//
// One captured frame taken apart: where the RoCE packet lies, its BTH, and the
// verdict on its ICRC. Stateless, allocation-free and safe on any bytes, so any
// number of threads may inspect at once. docs/observer.md, section 1, says what
// counts as a RoCE packet and what contradicts itself.

#ifndef ROCEPROOF_PACKET_H
#define ROCEPROOF_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/capture.h"
#include "packet/checksum.h"
#include "packet/opcodes.h"

enum roce_class {
    ROCE_OTHER,       // not RoCE
    ROCE_V2,          // UDP port 4791
    ROCE_V1,          // EtherType 0x8915 and GRH
    ROCE_EXTENDED,    // IPv6 extension headers in front of UDP port 4791
    ROCE_MISDIRECTED, // another UDP port, and an ICRC
    ROCE_WRONG_ETHER, // EtherType 0x8915 in front of IPv4
};

enum roce_fault {
    ROCE_SOUND,
    ROCE_FRAGMENT,
    ROCE_IP_LENGTH,  // runs past the frame
    ROCE_UDP_LENGTH, // is not what the IP length leaves
    ROCE_SHORT,      // no room for BTH and ICRC
};

enum roce_verdict { ROCE_UNCHECKED, ROCE_OK, ROCE_BAD };

enum {
    ROCE_UDP_BYTES = 8,
    ROCE_BTH_BYTES = 12,
    ROCE_ICRC_BYTES = 4,
    ROCE_GRH_BYTES = 40,
    ROCE_RETH_BYTES = 16,
    ROCE_MINIMUM_FRAME = 60,
};

struct roce_packet {
    const uint8_t *frame;
    uint32_t size;      // bytes captured, without FCS
    uint32_t full_size; // bytes on the wire, without FCS
    uint32_t ip;        // offsets into the frame
    uint32_t udp;       // of RoCEv1: that of the BTH
    uint32_t bth;
    uint32_t end;   // behind the ICRC, by the packet's own lengths
    uint32_t head;  // CRC of prefix and masked headers up to the end of the BTH
    uint32_t right; // the ICRC that the packet ought to carry, first byte in bits 7:0
    uint32_t found; // the one it carries
    uint32_t qpn;   // from here on the BTH; 0 without one
    uint32_t psn;
    uint16_t pkey;
    uint16_t port;   // UDP destination port
    uint8_t class;   // enum roce_class
    uint8_t fault;   // enum roce_fault
    uint8_t verdict; // enum roce_verdict
    uint8_t version; // of IP: 4 or 6; 6 for a GRH
    uint8_t tags;    // number of VLAN tags
    bool cut;        // the snap length took bytes in front of the end
    bool has_bth;    // all twelve bytes are there
    uint8_t opcode;
    uint8_t flags;      // SE, MigReq, PadCnt, TVer
    uint8_t congestion; // FECN, BECN and six reserved bits
    uint8_t ack;        // AckReq and seven reserved bits
    uint64_t look;      // not 0: the same in packets whose headers differ only in what counts up
};

void roce_inspect(const struct roce_record *record, struct roce_packet *packet);

static inline bool roce_all_zero(const uint8_t *bytes, uint32_t count) {
    uint32_t at = 0;
    while (at < count && bytes[at] == 0)
        at++;
    return at == count;
}

static inline uint16_t roce_u16(const uint8_t *at) {
    return (uint16_t)(at[0] << 8 | at[1]);
}

static inline uint32_t roce_u24(const uint8_t *at) {
    return (uint32_t)at[0] << 16 | (uint32_t)at[1] << 8 | at[2];
}

static inline uint32_t roce_u32(const uint8_t *at) {
    return (uint32_t)at[0] << 24 | roce_u24(at + 1);
}

static inline uint64_t roce_u64(const uint8_t *at) {
    return (uint64_t)roce_u32(at) << 32 | roce_u32(at + 4);
}

// UDP length; of RoCEv1 the GRH's payload length plus 8, which means the same.
static inline uint32_t roce_udp_length(const struct roce_packet *packet) {
    return packet->end - packet->bth + ROCE_UDP_BYTES;
}

static inline const uint8_t *roce_body(const struct roce_packet *packet) {
    return packet->frame + packet->bth + ROCE_BTH_BYTES;
}

// Bytes between BTH and ICRC, captured or not; sound packets only.
static inline uint32_t roce_body_bytes(const struct roce_packet *packet) {
    return packet->end - packet->bth - ROCE_BTH_BYTES - ROCE_ICRC_BYTES;
}

// Whether that many bytes behind the BTH are both in the packet and in the capture.
static inline bool roce_body_has(const struct roce_packet *packet, uint32_t bytes) {
    return roce_body_bytes(packet) >= bytes && packet->bth + ROCE_BTH_BYTES + bytes <= packet->size;
}

// Four bytes as the ICRC has them, the first in bits 7:0.
static inline uint32_t roce_u32_reversed(const uint8_t *at) {
    return (uint32_t)at[3] << 24 | (uint32_t)at[2] << 16 | (uint32_t)at[1] << 8 | at[0];
}

// Judge the ICRC of a sound packet that is captured whole, from the CRC of its headers.
static inline void roce_check_icrc(struct roce_packet *packet, uint32_t head) {
    packet->head = head;
    packet->right = roce_crc_in_row(head, roce_body(packet), roce_body_bytes(packet));
    packet->found = roce_u32_reversed(packet->frame + packet->end - ROCE_ICRC_BYTES);
    packet->verdict = packet->found == packet->right ? ROCE_OK : ROCE_BAD;
}

// The innermost tag, four bytes: TPID and TCI.
static inline const uint8_t *roce_tag(const struct roce_packet *packet) {
    return packet->frame + packet->ip - 6;
}

#endif
