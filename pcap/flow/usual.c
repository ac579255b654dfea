// SPDX-License-Identifier: BSD-2-Clause

#include "flow/usual.h"

#include "packet/native.h"

enum { ETHERNET_BYTES = 14, ACK_REQ = 0x80, PAD_COUNT = 0x30, IPV4_BYTES = 20 };

// Whether the packet ends with the frame, is captured whole, without tags and without a pad.
static bool is_plain(const struct roce_packet *packet) {
    return packet->class == ROCE_V2 && packet->ip == ETHERNET_BYTES && packet->verdict == ROCE_OK &&
           packet->size == packet->end && packet->full_size == packet->end &&
           packet->opcode < 0x40 && packet->qpn > 1 && !(packet->flags & PAD_COUNT);
}

static inline uint64_t ip_of(const struct roce_packet *packet) {
    const uint8_t *ip = packet->frame + packet->ip;
    return packet->version == 4 ? (uint64_t)roce_native32(ip + 6) << 32 | roce_native32(ip)
                                : roce_native64(ip);
}

// AckReq of an RC request may come and go.
static inline uint64_t bth_of(const struct roce_packet *packet, const struct roce_opcode *row) {
    const bool may_ask = roce_service_of(packet->opcode) == ROCE_RC && roce_is_request(row);
    const uint8_t ack = may_ask ? packet->ack & (uint8_t)~ACK_REQ : packet->ack;
    const uint8_t syndrome = row->headers & ROCE_HAS_AETH ? roce_body(packet)[0] : 0;
    return (uint64_t)roce_native32(packet->frame + packet->bth) << 32 |
           (uint64_t)packet->congestion << 16 | (uint64_t)ack << 8 | syndrome;
}

static inline struct roce_look look_of(const struct roce_packet *packet,
                                       const struct roce_flow *flow,
                                       const struct roce_opcode *row) {
    return (struct roce_look){
        .macs = {roce_native64(packet->frame), roce_native64(packet->frame + 6)},
        .ip = ip_of(packet),
        .udp = roce_native64(packet->frame + packet->udp),
        .bth = bth_of(packet, row),
        .size = packet->size,
        .path_mtu = flow->path_mtu,
    };
}

static bool has_right_checksum(const struct roce_packet *packet) {
    const uint8_t *ip = packet->frame + packet->ip;
    if (packet->version != 4)
        return true;
    uint64_t sum = roce_native32(ip);
    for (uint32_t at = 4; at < IPV4_BYTES; at += 4)
        sum += roce_native32(ip + at);
    sum = (sum & 0xFFFFFFFF) + (sum >> 32);
    sum = (sum & 0xFFFF) + (sum >> 16);
    sum = (sum & 0xFFFF) + (sum >> 16);
    return (sum & 0xFFFF) + (sum >> 16) == 0xFFFF;
}

// Compares all that there is to compare.
static bool looks_as(const struct roce_usual *usual, const struct roce_packet *packet,
                     const struct roce_opcode *row) {
    const struct roce_look *look = &usual->look;
    const uint32_t size = look->size;
    if (((packet->size ^ size) | (packet->end ^ size) | (packet->full_size ^ size) |
         (packet->ip ^ ETHERNET_BYTES)) != 0)
        return false;
    const uint8_t *frame = packet->frame;
    const uint64_t differs =
        (roce_native64(frame) ^ look->macs[0]) | (roce_native64(frame + 6) ^ look->macs[1]) |
        (ip_of(packet) ^ look->ip) | (roce_native64(frame + packet->udp) ^ look->udp) |
        (bth_of(packet, row) ^ look->bth);
    return differs == 0 && has_right_checksum(packet);
}

bool roce_usual_compare(struct roce_usual *usual, const struct roce_packet *packet,
                        const struct roce_opcode *row) {
    if (packet->class != ROCE_V2 || packet->fault != ROCE_SOUND || !looks_as(usual, packet, row))
        return false;
    if (packet->look != 0)
        *roce_usual_number(usual, packet->look) = packet->look;
    return true;
}

void roce_usual_note(struct roce_usual *places, const struct roce_flow *flow,
                     const struct roce_packet *packet, const struct roce_opcode *row,
                     uint32_t payload) {
    const bool reads_more = row->headers == (ROCE_HAS_RETH | ROCE_HAS_IMM) ||
                            roce_u16(packet->frame + packet->udp + 6) != 0;
    if (!is_plain(packet) || reads_more || flow->is_stranger || row->family == ROCE_RESERVED)
        return;
    *roce_usual_place(places, flow, packet->opcode) = (struct roce_usual){
        .flow = flow,
        .payload = payload,
        .look = look_of(packet, flow, row),
        .constants = *roce_usual_constants(flow, row),
    };
}
