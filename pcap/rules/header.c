// SPDX-License-Identifier: BSD-2-Clause
//
// BTH, the headers behind it, payload and pad of one frame by itself: docs/observer.md,
// section 2.
//
// Decides ACK-07, AETH-01, AETH-02, AETH-03, ATOM-01, ATOM-02, BTH-01, BTH-02, BTH-04, BTH-06,
// BTH-08, CNP-01, CNP-10, IMM-01, OPC-11, OPC-12, PAD-01, PAD-02, PAD-05, PSN-19, READ-01, RETH-01,
// UC-02, UD-01, UD-04, UD-06, UDP-02.

#include "rules/rules.h"

enum {
    TVER = 0x0F,
    SOLICITED = 0x80,
    MIGREQ = 0x40,
    FECN = 0x80,
    BECN = 0x40,
    RESERVED6 = 0x3F,
    ACK_REQ = 0x80
};

static bool may_solicit(const struct roce_opcode *row) {
    return row->closes && (row->family == ROCE_SEND || (row->headers & ROCE_HAS_IMM));
}

// Whether the end that sends has a row; of another queue pair the site may have given the P_Key.
static bool is_configured(const struct roce_judge *judge) {
    return judge->flow != NULL && judge->flow->own_fact != NULL;
}

void roce_judge_bth(struct roce_judge *judge) {
    const struct roce_packet *packet = judge->packet;
    const struct roce_opcode *row = judge->row;
    const enum roce_service service = roce_service_of(packet->opcode);
    if (row->family == ROCE_RESERVED)
        roce_found(judge,
                   service == ROCE_UC   ? RULE_OPC_11
                   : service == ROCE_UD ? RULE_OPC_12
                                        : RULE_BTH_01,
                   "a defined opcode", roce_text(judge, "0x%02x", packet->opcode));
    else if ((packet->flags & SOLICITED) && roce_is_request(row) && !may_solicit(row))
        roce_found(judge, RULE_BTH_02, roce_text(judge, "%s without Solicited Event", row->name),
                   "Solicited Event");
    if (packet->flags & TVER)
        roce_found(judge, RULE_BTH_04, "TVer 0", roce_text(judge, "%u", packet->flags & TVER));
    if (packet->pkey != 0xFFFF)
        roce_found_as(judge, RULE_BTH_06, is_configured(judge) ? ROCE_MUST : ROCE_SHOULD,
                      "P_Key 0xffff", roce_text(judge, "0x%04x", packet->pkey));
    const bool cnp = row->family == ROCE_CNP;
    if ((packet->congestion & (FECN | RESERVED6)) || ((packet->congestion & BECN) && !cnp))
        roce_found_as(judge, RULE_BTH_08, packet->congestion & RESERVED6 ? ROCE_MUST : ROCE_SHOULD,
                      cnp ? "BTH byte 4 of 0x40" : "BTH byte 4 of 0x00",
                      roce_text(judge, "0x%02x", packet->congestion));
    if (packet->ack & 0x7F)
        roce_found(judge, RULE_PSN_19, "0x00 beside AckReq",
                   roce_text(judge, "0x%02x", packet->ack & 0x7FU));
    if ((packet->ack & ACK_REQ) && (service == ROCE_UC || service == ROCE_UD))
        roce_found(judge, service == ROCE_UC ? RULE_UC_02 : RULE_UD_06, "AckReq 0", "AckReq 1");
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

static bool immediate_first(struct roce_judge *judge) {
    if (judge->row->headers != (ROCE_HAS_RETH | ROCE_HAS_IMM) || !roce_body_has(judge->packet, 20))
        return false;
    const uint8_t *body = roce_body(judge->packet);
    return roce_u32(body + 12) != judge->payload && roce_u32(body + 16) == judge->payload;
}

bool roce_judge_headers(struct roce_judge *judge) {
    const struct roce_packet *packet = judge->packet;
    const struct roce_opcode *row = judge->row;
    const uint32_t bytes = roce_body_bytes(packet);
    if (bytes < row->header_bytes) {
        roce_found(judge, rule_of_header(row->headers, bytes),
                   roce_text(judge, "%u bytes of headers behind the BTH", row->header_bytes),
                   roce_text(judge, "%u", bytes));
        return false;
    }
    const uint32_t pad = packet->flags >> 4 & 3U;
    const uint32_t behind = bytes - row->header_bytes;
    judge->pad = pad <= behind ? pad : 0;
    judge->payload = behind - judge->pad;
    if (immediate_first(judge)) {
        roce_found(judge, RULE_IMM_01, "RETH before the immediate", "the immediate before RETH");
        return false;
    }
    if (!row->carries) {
        if (pad != 0)
            roce_found(judge, RULE_PAD_05, roce_text(judge, "%s with PadCnt 0", row->name),
                       roce_text(judge, "%u", pad));
        return pad <= behind;
    }
    if (pad > behind) {
        roce_found(judge, RULE_PAD_01, "PadCnt within the payload", roce_text(judge, "%u", pad));
        return false;
    }
    const uint32_t at = packet->end - ROCE_ICRC_BYTES - pad;
    if (!packet->cut && !roce_all_zero(packet->frame + at, pad))
        roce_found(judge, RULE_PAD_02, "a pad of zeros", "other bytes");
    return true;
}

static void judge_empty(struct roce_judge *judge) {
    static const enum roce_rule RULES[] = {
        [ROCE_ACKNOWLEDGE] = RULE_ACK_07, [ROCE_READ] = RULE_READ_01, [ROCE_ATOMIC] = RULE_ATOM_01,
        [ROCE_ATOMIC_ACK] = RULE_ATOM_02, [ROCE_CNP] = RULE_CNP_01,   [ROCE_FLUSH] = RULE_UDP_02,
    };
    const struct roce_opcode *row = judge->row;
    if (!row->carries && judge->payload + judge->pad != 0)
        roce_found(judge, RULES[row->family], roce_text(judge, "%s without payload", row->name),
                   roce_text(judge, "%u bytes", judge->payload + judge->pad));
}

static void judge_aeth(struct roce_judge *judge) {
    if (!roce_body_has(judge->packet, 1))
        return;
    const uint8_t syndrome = roce_body(judge->packet)[0];
    const unsigned int type = syndrome >> 5;
    const bool defined = type == 0 || type == 1 || (type == 3 && (syndrome & 31) <= 4);
    if (!defined)
        roce_found(judge, RULE_AETH_02, "a defined syndrome", roce_text(judge, "0x%02x", syndrome));
    else if (type != 0 && judge->row->family != ROCE_ACKNOWLEDGE)
        roce_found(judge, RULE_AETH_03, roce_text(judge, "%s with an ACK", judge->row->name),
                   roce_text(judge, "0x%02x", syndrome));
}

bool roce_middle_has_aeth(const struct roce_judge *judge, uint32_t path_mtu) {
    if (judge->row->family != ROCE_READ_RESPONSE || judge->row->headers != 0)
        return false;
    const uint32_t size = judge->payload - 4;
    return path_mtu != 0 ? size == path_mtu : roce_is_path_mtu(size);
}

static void judge_response_form(struct roce_judge *judge) {
    const struct roce_packet *packet = judge->packet;
    if ((packet->flags & SOLICITED) || (packet->ack & ACK_REQ))
        roce_found(judge, RULE_ACK_07, "a response without SE and AckReq",
                   packet->flags & SOLICITED ? "Solicited Event" : "AckReq");
    if (roce_middle_has_aeth(judge, judge->flow ? judge->flow->path_mtu : 0))
        roce_found(judge, RULE_AETH_01, "READ RESP MIDDLE without AETH", "4 bytes more");
    if (judge->row->headers & ROCE_HAS_AETH)
        judge_aeth(judge);
}

static void judge_cnp_form(struct roce_judge *judge) {
    const struct roce_packet *packet = judge->packet;
    const uint32_t reserved = judge->row->header_bytes;
    const bool known = roce_body_has(packet, reserved);
    if ((packet->flags & (SOLICITED | 0x30)) || (packet->ack & ACK_REQ) || packet->psn != 0 ||
        (known && !roce_all_zero(roce_body(packet), reserved)))
        roce_found(judge, RULE_CNP_01, "zeros",
                   roce_text(judge, "flags 0x%02x, PSN 0x%06x", packet->flags, packet->psn));
    if ((packet->flags & MIGREQ) || !(packet->congestion & BECN))
        roce_found(
            judge, RULE_CNP_10, "MigReq 0 and BECN",
            roce_text(judge, "flags 0x%02x, byte 4 0x%02x", packet->flags, packet->congestion));
}

static void judge_datagram(struct roce_judge *judge) {
    const struct roce_packet *packet = judge->packet;
    if (roce_body_has(packet, 8) && roce_body(packet)[4] != 0)
        roce_found(judge, RULE_UD_01, "DETH byte 4 of 0x00",
                   roce_text(judge, "0x%02x", roce_body(packet)[4]));
    const uint32_t most = judge->flow && judge->flow->path_mtu ? judge->flow->path_mtu : 4096;
    if (judge->payload > most)
        roce_found(judge, RULE_UD_04, roce_text(judge, "at most %u bytes", most),
                   roce_text(judge, "%u", judge->payload));
}

void roce_judge_forms(struct roce_judge *judge) {
    judge_empty(judge);
    if (roce_is_response(judge->row))
        judge_response_form(judge);
    else if (judge->row->family == ROCE_CNP)
        judge_cnp_form(judge);
    else if (roce_service_of(judge->packet->opcode) == ROCE_UD)
        judge_datagram(judge);
    if (judge->packet->qpn == 1)
        roce_judge_mad(judge);
}
