// SPDX-License-Identifier: BSD-2-Clause
//
// Reads no byte before its presence has been checked against the captured size;
// lengths are judged against the size on the wire.

#include "packet/packet.h"

#include <string.h>

#include "packet/checksum.h"

enum {
    ETHERNET_BYTES = 14,
    TAG_BYTES = 4,
    IPV4_BYTES = 20,
    IPV6_BYTES = 40,
    LONGEST_IPV4_BYTES = 60,
    FCS_BYTES = 4,
    PROTOCOL_UDP = 17,
    NEXT_HEADER_BTH = 0x1B,
    ROCE_PORT = 4791,
    ETHER_IPV4 = 0x0800,
    ETHER_IPV6 = 0x86DD,
    ETHER_ROCE_V1 = 0x8915,
    AUTHENTICATION = 51,
    FRAGMENT_HEADER = 44,
    FRAGMENT_OFFSET = 0xFFF8,
};

static bool is_tag(uint16_t ether_type) {
    return ether_type == 0x8100 || ether_type == 0x88A8 || ether_type == 0x9100;
}

// CRC over prefix and masked headers; the head lies wholly in the frame.
static uint32_t masked_head(const struct roce_packet *packet) {
    uint8_t head[LONGEST_IPV4_BYTES + ROCE_UDP_BYTES + ROCE_BTH_BYTES];
    enum { PLAIN_IPV4 = IPV4_BYTES + ROCE_UDP_BYTES + ROCE_BTH_BYTES };
    const size_t bytes = packet->bth + ROCE_BTH_BYTES - packet->ip;
    if (bytes == PLAIN_IPV4)
        memcpy(head, packet->frame + packet->ip, PLAIN_IPV4);
    else
        memcpy(head, packet->frame + packet->ip, bytes);
    if (packet->version == 4) {
        head[1] = 0xFF;  // TOS
        head[8] = 0xFF;  // TTL
        head[10] = 0xFF; // header checksum
        head[11] = 0xFF;
    } else {
        head[0] |= 0x0F; // traffic class and flow label
        memset(head + 1, 0xFF, 3);
        head[7] = 0xFF; // hop limit
    }
    if (packet->class != ROCE_V1)
        memset(head + (packet->udp - packet->ip) + 6, 0xFF, 2); // UDP checksum
    head[bytes - ROCE_BTH_BYTES + 4] = 0xFF;                    // FECN, BECN, reserved
    return roce_crc(ROCE_PREFIX_CRC, head, bytes);
}

static void take_off_fcs(struct roce_packet *packet) {
    const uint32_t data = packet->size - FCS_BYTES;
    if (packet->size < packet->end + FCS_BYTES || packet->full_size != packet->size ||
        roce_u32_reversed(packet->frame + data) != roce_crc(0, packet->frame, data))
        return;
    packet->size = packet->full_size = data;
}

static void read_bth(struct roce_packet *packet) {
    packet->has_bth = packet->size >= packet->bth + ROCE_BTH_BYTES;
    if (!packet->has_bth)
        return;
    const uint8_t *bth = packet->frame + packet->bth;
    packet->opcode = bth[0];
    packet->flags = bth[1];
    packet->pkey = roce_u16(bth + 2);
    packet->congestion = bth[4];
    packet->qpn = roce_u24(bth + 5);
    packet->ack = bth[8];
    packet->psn = roce_u24(bth + 9);
}

// What follows once ip, udp, bth and end are known.
static void finish(struct roce_packet *packet, uint32_t ip_end, bool fragment) {
    if (fragment)
        packet->fault = ROCE_FRAGMENT;
    else if (ip_end > packet->full_size)
        packet->fault = ROCE_IP_LENGTH;
    else if (packet->end != ip_end)
        packet->fault = ROCE_UDP_LENGTH;
    else if (roce_udp_length(packet) < ROCE_UDP_BYTES + ROCE_BTH_BYTES + ROCE_ICRC_BYTES)
        packet->fault = ROCE_SHORT;
    read_bth(packet);
    packet->cut = packet->size < packet->full_size && packet->size < packet->end;
    if (packet->fault != ROCE_SOUND || packet->cut)
        return;
    roce_check_icrc(packet, masked_head(packet));
    if (packet->size > packet->end)
        take_off_fcs(packet);
}

// Whether a UDP packet to another port ends in an ICRC, for that port or for the right one.
static bool is_misdirected(struct roce_packet *packet, uint32_t ip_end) {
    const uint32_t least = ROCE_UDP_BYTES + ROCE_BTH_BYTES + ROCE_ICRC_BYTES;
    if (ip_end > packet->size || packet->end != ip_end || packet->end - packet->udp < least)
        return false;
    roce_check_icrc(packet, masked_head(packet));
    if (packet->verdict == ROCE_OK)
        return true;
    // The port's two bytes lie before the rest of UDP and BTH in the head.
    const uint8_t change[2] = {(uint8_t)(packet->port >> 8 ^ ROCE_PORT >> 8),
                               (uint8_t)(packet->port ^ (ROCE_PORT & 0xFF))};
    const uint8_t nothing[2] = {0, 0};
    const uint32_t moved = roce_crc(0, change, 2) ^ roce_crc(0, nothing, 2);
    const uint32_t behind = packet->end - ROCE_ICRC_BYTES - packet->udp - 4;
    return (packet->right ^ roce_crc_shift(moved, behind)) == packet->found;
}

static void inspect_udp(struct roce_packet *packet, uint32_t ip_end, bool fragment) {
    if (packet->size < packet->udp + ROCE_UDP_BYTES)
        return;
    const uint8_t *udp = packet->frame + packet->udp;
    packet->port = roce_u16(udp + 2);
    packet->bth = packet->udp + ROCE_UDP_BYTES;
    packet->end = packet->udp + roce_u16(udp + 4);
    if (packet->port == ROCE_PORT) {
        packet->class = ROCE_V2;
        finish(packet, ip_end, fragment);
    } else if (!fragment && is_misdirected(packet, ip_end)) {
        packet->class = ROCE_MISDIRECTED;
    }
}

static void inspect_ipv4(struct roce_packet *packet) {
    const uint8_t *ip = packet->frame + packet->ip;
    if (packet->size < packet->ip + IPV4_BYTES || ip[0] >> 4 != 4)
        return;
    const uint32_t header = 4U * (ip[0] & 15U);
    const uint16_t fragment = roce_u16(ip + 6);
    if (header < IPV4_BYTES || ip[9] != PROTOCOL_UDP || (fragment & 0x1FFF) != 0)
        return;
    packet->version = 4;
    packet->udp = packet->ip + header;
    inspect_udp(packet, packet->ip + roce_u16(ip + 2), (fragment & 0x2000) != 0);
}

static bool is_extension(uint8_t next) {
    return next == 0 || next == 43 || next == FRAGMENT_HEADER || next == AUTHENTICATION ||
           next == 60 || next == 135;
}

// Steps over extension headers; true if they end in UDP to the RoCE port.
static bool extensions_lead_to_roce(const struct roce_packet *packet, uint8_t next) {
    uint32_t at = packet->ip + IPV6_BYTES;
    while (is_extension(next)) {
        if (packet->size < at + 8)
            return false;
        const uint8_t *header = packet->frame + at;
        if (next == FRAGMENT_HEADER && (roce_u16(header + 2) & FRAGMENT_OFFSET) != 0)
            return false;
        const uint32_t units = header[1];
        at += next == FRAGMENT_HEADER  ? 8
              : next == AUTHENTICATION ? 4 * (units + 2)
                                       : 8 * (units + 1);
        next = header[0];
    }
    return next == PROTOCOL_UDP && packet->size >= at + ROCE_UDP_BYTES &&
           roce_u16(packet->frame + at + 2) == ROCE_PORT;
}

static void inspect_ipv6(struct roce_packet *packet) {
    const uint8_t *ip = packet->frame + packet->ip;
    if (packet->size < packet->ip + IPV6_BYTES || ip[0] >> 4 != 6)
        return;
    packet->version = 6;
    packet->udp = packet->ip + IPV6_BYTES;
    if (ip[6] == PROTOCOL_UDP)
        inspect_udp(packet, packet->udp + roce_u16(ip + 4), false);
    else if (is_extension(ip[6]) && extensions_lead_to_roce(packet, ip[6]))
        packet->class = ROCE_EXTENDED;
}

static void inspect_v1(struct roce_packet *packet) {
    if (packet->size <= packet->ip)
        return;
    const uint8_t *grh = packet->frame + packet->ip;
    if (grh[0] == 0x45) {
        packet->class = ROCE_WRONG_ETHER;
        return;
    }
    if (packet->size < packet->ip + ROCE_GRH_BYTES || grh[0] >> 4 != 6 || grh[6] != NEXT_HEADER_BTH)
        return;
    packet->class = ROCE_V1;
    packet->version = 6;
    packet->udp = packet->bth = packet->ip + ROCE_GRH_BYTES;
    packet->end = packet->bth + roce_u16(grh + 4);
    finish(packet, packet->end, false);
}

void roce_inspect(const struct roce_record *record, struct roce_packet *packet) {
    // In halves: of the whole, compilers make an instruction that is slow to start.
    memset(packet, 0, offsetof(struct roce_packet, right));
    memset(&packet->right, 0, sizeof *packet - offsetof(struct roce_packet, right));
    packet->frame = record->data;
    packet->size = record->size;
    packet->full_size = record->full_size;
    if (!record->is_ethernet || record->full_size < record->fcs_bytes)
        return;
    packet->full_size -= record->fcs_bytes;
    if (packet->size > packet->full_size)
        packet->size = packet->full_size;

    uint32_t at = ETHERNET_BYTES;
    if (packet->size < at)
        return;
    uint16_t ether_type = roce_u16(packet->frame + at - 2);
    while (is_tag(ether_type)) {
        if (packet->size < at + TAG_BYTES)
            return;
        at += TAG_BYTES;
        packet->tags = packet->tags < UINT8_MAX ? packet->tags + 1 : UINT8_MAX;
        ether_type = roce_u16(packet->frame + at - 2);
    }
    packet->ip = at;
    if (ether_type == ETHER_IPV4)
        inspect_ipv4(packet);
    else if (ether_type == ETHER_IPV6)
        inspect_ipv6(packet);
    else if (ether_type == ETHER_ROCE_V1)
        inspect_v1(packet);
}
