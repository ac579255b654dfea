// SPDX-License-Identifier: BSD-2-Clause
//
// Rules that one frame decides by itself: docs/observer.md, sections 1 and 2.

#include <string.h>

#include "checksum.h"
#include "judge.h"

enum { TVER = 0x0F, SOLICITED = 0x80, FECN = 0x80, BECN = 0x40, RESERVED6 = 0x3F, ACK_REQ = 0x80 };
enum { DONT_FRAGMENT = 0x4000, DEI = 0x10, MULTICAST_QPN = 0xFFFFFF, PROTOCOL_UDP = 17 };

static void length_rule(struct roce_oracle *oracle, enum roce_rule rule, uint32_t expected) {
    const struct roce_packet *packet = oracle->packet;
    const bool v1 = packet->class == ROCE_V1;
    roce_found(oracle, v1 ? RULE_IP_02 : rule,
               roce_text(oracle, "%s of %u", v1 ? "IP length" : "UDP length", expected),
               roce_text(oracle, "%u", roce_udp_length(packet) - (v1 ? ROCE_UDP_BYTES : 0)));
}

static void mismatched_lengths(struct roce_oracle *oracle) {
    const struct roce_packet *packet = oracle->packet;
    const uint8_t *ip = packet->frame + packet->ip;
    const uint32_t start = packet->version == 4 ? packet->ip : packet->ip + 40;
    const uint32_t claimed = roce_u16(ip + (packet->version == 4 ? 2 : 4));
    const uint32_t room = packet->full_size - start;
    const bool fits =
        claimed == room || (claimed < room && packet->full_size <= ROCE_MINIMUM_FRAME);
    if (fits && packet->class != ROCE_V1)
        length_rule(oracle, RULE_UDP_02, claimed - (packet->udp - start));
    else
        roce_found(oracle, RULE_IP_02,
                   roce_text(oracle, "IP length of %u",
                             packet->class == ROCE_V1 ? room : packet->end - start),
                   roce_text(oracle, "%u", claimed));
}

void roce_judge_broken(struct roce_oracle *oracle) {
    const struct roce_packet *packet = oracle->packet;
    switch ((enum roce_fault)packet->fault) {
    case ROCE_SOUND:
        break;
    case ROCE_FRAGMENT:
        roce_found(oracle, RULE_IP_03, "no fragment", "More Fragments");
        break;
    case ROCE_SHORT:
        if (roce_udp_length(packet) == ROCE_UDP_BYTES + ROCE_BTH_BYTES)
            roce_found(oracle, RULE_ICRC_01, "four bytes of ICRC", "none");
        else
            length_rule(oracle, RULE_UDP_02, ROCE_UDP_BYTES + ROCE_BTH_BYTES + ROCE_ICRC_BYTES);
        break;
    case ROCE_IP_LENGTH:
    case ROCE_UDP_LENGTH:
        mismatched_lengths(oracle);
        break;
    }
}

static bool all_zero(const uint8_t *bytes, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        if (bytes[i] != 0)
            return false;
    return true;
}

static void judge_ethernet(struct roce_oracle *oracle) {
    const struct roce_packet *packet = oracle->packet;
    if (!packet->cut) {
        const uint32_t excess = packet->full_size - packet->end;
        const uint32_t pad =
            packet->end < ROCE_MINIMUM_FRAME ? ROCE_MINIMUM_FRAME - packet->end : 0;
        if (packet->full_size < ROCE_MINIMUM_FRAME)
            roce_found_as(oracle, RULE_ETH_02, ROCE_INFO, "60 bytes at least",
                          roce_text(oracle, "%u", packet->full_size));
        else if (excess > pad)
            roce_found_as(oracle, RULE_ETH_02, ROCE_SHOULD,
                          roce_text(oracle, "%u bytes behind the ICRC", pad),
                          roce_text(oracle, "%u", excess));
        const uint32_t there = packet->size > packet->end ? packet->size - packet->end : 0;
        if (!all_zero(packet->frame + packet->end, there < pad ? there : pad))
            roce_found(oracle, RULE_ETH_04, "a pad of zeros", "other bytes");
    }
    const bool group = packet->frame[0] & 1;
    const bool multicast = packet->has_bth && packet->qpn == MULTICAST_QPN &&
                           roce_service_of(packet->opcode) == ROCE_UD;
    if (all_zero(packet->frame, 6) || (group && !multicast && packet->has_bth))
        roce_found(oracle, RULE_ETH_05, "the MAC address of one station",
                   group ? "a group address" : "00:00:00:00:00:00");
    if (oracle->flow != NULL && !oracle->flow->told_tags && packet->tags != 0 &&
        (packet->tags > 1 || (roce_tag(packet)[2] & DEI))) {
        oracle->flow->told_tags = true;
        roce_found(oracle, RULE_VLAN_04, "one tag without DEI",
                   packet->tags > 1 ? roce_text(oracle, "%u tags", packet->tags) : "DEI");
    }
}

static void judge_ipv4(struct roce_oracle *oracle) {
    const struct roce_packet *packet = oracle->packet;
    const uint8_t *ip = packet->frame + packet->ip;
    if ((ip[0] & 15) != 5)
        roce_found(oracle, RULE_IP_01, "IHL 5", roce_text(oracle, "IHL %u", ip[0] & 15U));
    const uint16_t fragment = roce_u16(ip + 6);
    if (fragment != DONT_FRAGMENT)
        roce_found(oracle, RULE_IP_03, "flags 0x4000", roce_text(oracle, "0x%04x", fragment));
    if (roce_internet_residue(ip, packet->udp - packet->ip, 0) != 0) {
        const uint16_t found = roce_u16(ip + 10);
        const uint16_t right =
            roce_internet_residue(ip, packet->udp - packet->ip, (uint32_t)(uint16_t)~found);
        roce_found(oracle, RULE_IP_05, roce_text(oracle, "checksum 0x%04x", right),
                   roce_text(oracle, "0x%04x", found));
    }
}

static void judge_udp_checksum(struct roce_oracle *oracle) {
    const struct roce_packet *packet = oracle->packet;
    const uint8_t *udp = packet->frame + packet->udp;
    const uint16_t found = roce_u16(udp + 6);
    if (found == 0 || packet->cut)
        return;
    const uint8_t *ip = packet->frame + packet->ip;
    const uint32_t length = packet->end - packet->udp;
    uint32_t sum = PROTOCOL_UDP + length;
    const uint32_t addresses = packet->version == 4 ? 12 : 8;
    const uint32_t bytes = packet->version == 4 ? 8 : 32;
    for (uint32_t i = 0; i < bytes; i += 2)
        sum += roce_u16(ip + addresses + i);
    if (roce_internet_residue(udp, length, sum) != 0)
        roce_found(oracle, RULE_UDP_03, "checksum 0, or right", roce_text(oracle, "0x%04x", found));
}

void roce_judge_network(struct roce_oracle *oracle) {
    const struct roce_packet *packet = oracle->packet;
    const uint8_t *ip = packet->frame + packet->ip;
    if (packet->has_bth) {
        const uint32_t mtu = oracle->facts ? oracle->facts->mtu : 0;
        if (mtu != 0 && packet->end - packet->ip > mtu)
            roce_found(oracle, RULE_MTU_09, roce_text(oracle, "at most %u bytes of IP", mtu),
                       roce_text(oracle, "%u", packet->end - packet->ip));
        judge_ethernet(oracle);
    }
    if (packet->version == 4)
        judge_ipv4(oracle);
    if (ip[packet->version == 4 ? 8 : 7] == 0)
        roce_found(oracle, RULE_IP_06, "at least 1 hop", "0");
    if (!packet->has_bth)
        return;
    if (roce_udp_length(packet) % 4 != 0)
        roce_found(oracle, packet->class == ROCE_V1 ? RULE_IP_02 : RULE_UDP_02,
                   "a length that divides by 4", roce_text(oracle, "%u", roce_udp_length(packet)));
    if (packet->class == ROCE_V2)
        judge_udp_checksum(oracle);
}

static bool may_solicit(const struct roce_opcode *row) {
    return row->closes && (row->family == ROCE_SEND || (row->headers & ROCE_HAS_IMM));
}

void roce_judge_bth(struct roce_oracle *oracle) {
    const struct roce_packet *packet = oracle->packet;
    const struct roce_opcode *row = oracle->row;
    const enum roce_service service = roce_service_of(packet->opcode);
    if (row->family == ROCE_RESERVED)
        roce_found(oracle,
                   service == ROCE_UC   ? RULE_OPC_11
                   : service == ROCE_UD ? RULE_OPC_12
                                        : RULE_BTH_01,
                   "a defined opcode", roce_text(oracle, "0x%02x", packet->opcode));
    else if ((packet->flags & SOLICITED) && roce_is_request(row) && !may_solicit(row))
        roce_found(oracle, RULE_BTH_02, roce_text(oracle, "%s without Solicited Event", row->name),
                   "Solicited Event");
    if (packet->flags & TVER)
        roce_found(oracle, RULE_BTH_04, "TVer 0", roce_text(oracle, "%u", packet->flags & TVER));
    if (packet->pkey != 0xFFFF)
        roce_found(oracle, RULE_BTH_06, "P_Key 0xffff", roce_text(oracle, "0x%04x", packet->pkey));
    const bool cnp = row->family == ROCE_CNP;
    if ((packet->congestion & (FECN | RESERVED6)) || ((packet->congestion & BECN) && !cnp))
        roce_found(oracle, RULE_BTH_08, cnp ? "BTH byte 4 of 0x40" : "BTH byte 4 of 0x00",
                   roce_text(oracle, "0x%02x", packet->congestion));
    if (packet->ack & 0x7F)
        roce_found(oracle, RULE_PSN_19, "0x00 beside AckReq",
                   roce_text(oracle, "0x%02x", packet->ack & 0x7FU));
    if ((packet->ack & ACK_REQ) && (service == ROCE_UC || service == ROCE_UD))
        roce_found(oracle, service == ROCE_UC ? RULE_UC_02 : RULE_UD_06, "AckReq 0", "AckReq 1");
}

// The rule for the first header that does not fit behind the BTH.
static enum roce_rule rule_of_header(uint8_t headers, uint32_t room) {
    static const struct {
        uint8_t header;
        uint8_t bytes;
        enum roce_rule rule;
    } ROWS[] = {
        {ROCE_HAS_DETH, 8, RULE_UD_01},      {ROCE_HAS_AETH, 4, RULE_AETH_01},
        {ROCE_HAS_FETH, 4, RULE_UDP_02},     {ROCE_HAS_RETH, 16, RULE_RETH_01},
        {ROCE_HAS_ATOMIC, 28, RULE_ATOM_01}, {ROCE_HAS_ATOMIC_ACK, 8, RULE_UDP_02},
        {ROCE_HAS_IMM, 4, RULE_IMM_01},      {ROCE_HAS_INV, 4, RULE_UDP_02},
    };
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        if (!(headers & ROWS[i].header))
            continue;
        if (room < ROWS[i].bytes)
            return ROWS[i].rule;
        room -= ROWS[i].bytes;
    }
    return RULE_UDP_02;
}

static bool immediate_first(struct roce_oracle *oracle) {
    if (oracle->row->headers != (ROCE_HAS_RETH | ROCE_HAS_IMM) ||
        !roce_body_has(oracle->packet, 20))
        return false;
    const uint8_t *body = roce_body(oracle->packet);
    return roce_u32(body + 12) != oracle->payload && roce_u32(body + 16) == oracle->payload;
}

bool roce_judge_headers(struct roce_oracle *oracle) {
    const struct roce_packet *packet = oracle->packet;
    const struct roce_opcode *row = oracle->row;
    const uint32_t bytes = roce_body_bytes(packet);
    if (bytes < row->header_bytes) {
        roce_found(oracle, rule_of_header(row->headers, bytes),
                   roce_text(oracle, "%u bytes of headers behind the BTH", row->header_bytes),
                   roce_text(oracle, "%u", bytes));
        return false;
    }
    const uint32_t pad = packet->flags >> 4 & 3U;
    const uint32_t behind = bytes - row->header_bytes;
    oracle->pad = pad <= behind ? pad : 0;
    oracle->payload = behind - oracle->pad;
    if (immediate_first(oracle)) {
        roce_found(oracle, RULE_IMM_01, "RETH before the immediate", "the immediate before RETH");
        return false;
    }
    if (!row->carries) {
        if (pad != 0)
            roce_found(oracle, RULE_PAD_05, roce_text(oracle, "%s with PadCnt 0", row->name),
                       roce_text(oracle, "%u", pad));
        return pad <= behind;
    }
    if (pad > behind) {
        roce_found(oracle, RULE_PAD_01, "PadCnt within the payload", roce_text(oracle, "%u", pad));
        return false;
    }
    const uint32_t at = packet->end - ROCE_ICRC_BYTES - pad;
    if (!packet->cut && !all_zero(packet->frame + at, pad))
        roce_found(oracle, RULE_PAD_02, "a pad of zeros", "other bytes");
    return true;
}

static void judge_empty(struct roce_oracle *oracle) {
    static const enum roce_rule RULES[] = {
        [ROCE_ACKNOWLEDGE] = RULE_ACK_07, [ROCE_READ] = RULE_READ_01, [ROCE_ATOMIC] = RULE_ATOM_01,
        [ROCE_ATOMIC_ACK] = RULE_ATOM_02, [ROCE_CNP] = RULE_CNP_01,   [ROCE_FLUSH] = RULE_UDP_02,
    };
    const struct roce_opcode *row = oracle->row;
    if (!row->carries && oracle->payload + oracle->pad != 0)
        roce_found(oracle, RULES[row->family], roce_text(oracle, "%s without payload", row->name),
                   roce_text(oracle, "%u bytes", oracle->payload + oracle->pad));
}

static void judge_aeth(struct roce_oracle *oracle) {
    if (!roce_body_has(oracle->packet, 1))
        return;
    const uint8_t syndrome = roce_body(oracle->packet)[0];
    const unsigned int type = syndrome >> 5;
    const bool defined = type == 0 || type == 1 || (type == 3 && (syndrome & 31) <= 4);
    if (!defined)
        roce_found(oracle, RULE_AETH_02, "a defined syndrome",
                   roce_text(oracle, "0x%02x", syndrome));
    else if (type != 0 && oracle->row->family != ROCE_ACKNOWLEDGE)
        roce_found(oracle, RULE_AETH_03, roce_text(oracle, "%s with an ACK", oracle->row->name),
                   roce_text(oracle, "0x%02x", syndrome));
}

bool roce_middle_has_aeth(const struct roce_oracle *oracle, uint32_t path_mtu) {
    if (oracle->row->family != ROCE_READ_RESPONSE || oracle->row->headers != 0)
        return false;
    const uint32_t size = oracle->payload - 4;
    return path_mtu != 0 ? size == path_mtu : roce_is_path_mtu(size);
}

static void judge_response_form(struct roce_oracle *oracle) {
    const struct roce_packet *packet = oracle->packet;
    if ((packet->flags & SOLICITED) || (packet->ack & ACK_REQ))
        roce_found(oracle, RULE_ACK_07, "a response without SE and AckReq",
                   packet->flags & SOLICITED ? "Solicited Event" : "AckReq");
    if (roce_middle_has_aeth(oracle, oracle->flow ? oracle->flow->path_mtu : 0))
        roce_found(oracle, RULE_AETH_01, "READ RESP MIDDLE without AETH", "4 bytes more");
    if (oracle->row->headers & ROCE_HAS_AETH)
        judge_aeth(oracle);
}

static void judge_cnp_form(struct roce_oracle *oracle) {
    const struct roce_packet *packet = oracle->packet;
    const uint32_t reserved = oracle->row->header_bytes;
    const bool known = roce_body_has(packet, reserved);
    if ((packet->flags & (SOLICITED | 0x30)) || (packet->congestion & FECN) ||
        !(packet->congestion & BECN) || (packet->ack & ACK_REQ) || packet->psn != 0 ||
        (known && !all_zero(roce_body(packet), reserved)))
        roce_found(oracle, RULE_CNP_01, "BECN, and otherwise zeros",
                   roce_text(oracle, "flags 0x%02x, byte 4 0x%02x, PSN 0x%06x", packet->flags,
                             packet->congestion, packet->psn));
}

static void judge_datagram(struct roce_oracle *oracle) {
    const struct roce_packet *packet = oracle->packet;
    if (roce_body_has(packet, 8) && roce_body(packet)[4] != 0)
        roce_found(oracle, RULE_UD_01, "DETH byte 4 of 0x00",
                   roce_text(oracle, "0x%02x", roce_body(packet)[4]));
    const uint32_t most = oracle->flow && oracle->flow->path_mtu ? oracle->flow->path_mtu : 4096;
    if (oracle->payload > most)
        roce_found(oracle, RULE_UD_04, roce_text(oracle, "at most %u bytes", most),
                   roce_text(oracle, "%u", oracle->payload));
}

void roce_judge_forms(struct roce_oracle *oracle) {
    judge_empty(oracle);
    if (roce_is_response(oracle->row))
        judge_response_form(oracle);
    else if (oracle->row->family == ROCE_CNP)
        judge_cnp_form(oracle);
    else if (roce_service_of(oracle->packet->opcode) == ROCE_UD)
        judge_datagram(oracle);
    if (oracle->packet->qpn == 1)
        roce_judge_mad(oracle);
}
