// SPDX-License-Identifier: BSD-2-Clause
//
// What a wrong ICRC resembles. Other headers are judged by linearity, so that the
// payload is not read again.
//
// Decides CNP-09, ICRC-01, ICRC-02, ICRC-03, ICRC-04, ICRC-05, ICRC-06, ICRC-08, ICRC-10, ICRC-17,
// ICRC-18, ICRC-22, IP-04, UDP-06.

#include <string.h>

#include "packet/checksum.h"
#include "rules/rules.h"

// The ICRC that the packet would need if its head were another; `at` and `bytes` give the place
// in the head that is replaced, by the bytes with which it differs (exclusive or).
static uint32_t with_change(const struct roce_packet *packet, uint32_t at, const uint8_t *change,
                            size_t bytes) {
    static const uint8_t NOTHING[4] = {0};
    const uint32_t moved = roce_crc(0, change, bytes) ^ roce_crc(0, NOTHING, bytes);
    const uint32_t behind = packet->end - ROCE_ICRC_BYTES - at - (uint32_t)bytes;
    return packet->right ^ roce_crc_shift(moved, behind);
}

static bool fits_word(const struct roce_packet *packet, uint32_t at, uint16_t value) {
    const uint16_t differs = (uint16_t)(roce_u16(packet->frame + at) ^ value);
    const uint8_t change[2] = {(uint8_t)(differs >> 8), (uint8_t)differs};
    return with_change(packet, at, change, 2) == packet->found;
}

static bool early_ident(const struct roce_packet *packet) {
    const uint32_t at = packet->ip + 4;
    const uint16_t ident = roce_u16(packet->frame + at);
    return packet->version == 4 &&
           (fits_word(packet, at, 0) || fits_word(packet, at, (uint16_t)(ident - 1)) ||
            fits_word(packet, at, (uint16_t)(ident + 1)));
}

static bool covers_pad(const struct roce_packet *packet) {
    const uint8_t *behind = packet->frame + packet->end;
    return packet->size > packet->end && packet->size <= ROCE_MINIMUM_FRAME &&
           roce_crc(packet->right, behind, packet->size - packet->end) == packet->found;
}

static bool covers_tag(const struct roce_packet *packet) {
    if (packet->tags == 0)
        return false;
    const uint32_t differs = roce_crc(ROCE_PREFIX_CRC, roce_tag(packet), 4) ^ ROCE_PREFIX_CRC;
    const uint32_t bytes = packet->end - ROCE_ICRC_BYTES - packet->ip;
    return (packet->right ^ roce_crc_shift(differs, bytes)) == packet->found;
}

static bool unmasked_congestion(const struct roce_packet *packet) {
    const uint8_t differs = packet->congestion ^ 0xFF;
    return differs != 0 && with_change(packet, packet->bth + 4, &differs, 1) == packet->found;
}

static bool other_port(const struct roce_judge *judge) {
    const struct roce_packet *packet = judge->packet;
    const int32_t first = judge->flow ? judge->flow->first_port : -1;
    return packet->class == ROCE_V2 && first >= 0 &&
           first != roce_u16(packet->frame + packet->udp) &&
           fits_word(packet, packet->udp, (uint16_t)first);
}

static bool is_placeholder(const struct roce_packet *packet) {
    return packet->found == 0 || packet->found == UINT32_MAX ||
           packet->found == roce_crc(0, packet->frame, packet->end - ROCE_ICRC_BYTES);
}

static uint32_t bytes_reversed(uint32_t value) {
    return value >> 24 | (value >> 8 & 0xFF00) | (value << 8 & 0xFF0000) | value << 24;
}

// Whether four bytes are missing, by the opcode's headers or by the length in the RETH.
static bool lacks_icrc(const struct roce_judge *judge) {
    const struct roce_packet *packet = judge->packet;
    const struct roce_opcode *row = judge->row;
    const uint32_t bytes = roce_body_bytes(packet);
    if (row->header_bytes > 0 && bytes + ROCE_ICRC_BYTES == row->header_bytes)
        return true;
    if (row->family != ROCE_WRITE || !row->opens || !row->closes || bytes < row->header_bytes)
        return false;
    const uint64_t promised = roce_u32(roce_body(packet) + 12);
    return (promised + 3) / 4 * 4 == (uint64_t)bytes - row->header_bytes + ROCE_ICRC_BYTES;
}

static void resemblances(struct roce_judge *judge, const char *right, const char *found) {
    const struct roce_packet *packet = judge->packet;
    if (early_ident(packet))
        roce_found(judge, RULE_IP_04, right, "the ICRC of another IPv4 ID");
    if (bytes_reversed(packet->found) == packet->right)
        roce_found(judge, RULE_ICRC_06, right, "its bytes in reverse");
    if (covers_pad(packet))
        roce_found(judge, RULE_ICRC_08, right, "an ICRC over the Ethernet pad, too");
    if (covers_tag(packet))
        roce_found(judge, RULE_ICRC_04, right, "an ICRC over the VLAN tag, too");
    if (unmasked_congestion(packet))
        roce_found(judge, RULE_ICRC_10, right, "an ICRC over BTH byte 4 as it is");
    if (judge->routed->previous == (ROCE_IS_KNOWN | packet->found))
        roce_found(judge, RULE_ICRC_17, right, "the ICRC of the packet before");
    if (other_port(judge))
        roce_found(judge, RULE_UDP_06, right, "the ICRC of another source port");
    if (judge->row->family == ROCE_CNP)
        roce_found(judge, RULE_CNP_09, right, found);
    if (roce_is_response(judge->row))
        roce_found(judge, RULE_ICRC_18, right, found);
    if (is_placeholder(packet))
        roce_found(judge, RULE_ICRC_22, right,
                   packet->found == 0            ? "zeros"
                   : packet->found == UINT32_MAX ? "ones"
                                                 : "the Ethernet CRC");
}

bool roce_judge_icrc(struct roce_judge *judge) {
    const struct roce_packet *packet = judge->packet;
    if (packet->verdict != ROCE_BAD)
        return true;
    if (lacks_icrc(judge)) {
        roce_found(judge, RULE_ICRC_01, "four bytes of ICRC behind the packet", "none");
        return false;
    }
    // Two texts that must outlast those of the resemblances.
    char right[20];
    char found[12];
    const uint32_t a = bytes_reversed(packet->right);
    const uint32_t b = bytes_reversed(packet->found);
    strcpy(right, roce_text(judge, "ICRC %08x", a));
    strcpy(found, roce_text(judge, "%08x", b));
    roce_found(judge,
               packet->class == ROCE_V1 ? RULE_ICRC_05
               : packet->version == 4   ? RULE_ICRC_02
                                        : RULE_ICRC_03,
               right, found);
    resemblances(judge, right, found);
    return true;
}
