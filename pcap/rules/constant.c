// SPDX-License-Identifier: BSD-2-Clause
//
// What must not change within a flow, and what the configuration says of it:
// docs/observer.md, sections 3 and 6.
//
// Decides BTH-03, BTH-10, IP-06, IP-07, IP-08, UDP-04, UDP-05, VLAN-02.

#include <string.h>

#include "rules/rules.h"

enum {
    MIGREQ = 0x40,
    UNTAGGED = -2,
    NO_PORT = -2,
    FIRST_ENTROPY_PORT = 0xC000,
    PCP_AND_VID = 0xEFFF,
    VID = 0x0FFF
};

// What a network may have changed is no proof.
static const enum roce_severity CHANGED_ON_THE_WAY = ROCE_SHOULD;

static int32_t dscp_of(const struct roce_packet *packet) {
    const uint8_t *ip = packet->frame + packet->ip;
    return packet->version == 4 ? ip[1] >> 2 : roce_u16(ip) >> 6 & 63;
}

static bool is_connected_request(const struct roce_judge *judge) {
    const enum roce_service service = roce_service_of(judge->packet->opcode);
    return roce_is_request(judge->row) && (service == ROCE_RC || service == ROCE_UC);
}

// Takes the new value and returns whether it differs from the one before.
static bool changes(int32_t *reference, int32_t value) {
    const int32_t before = *reference;
    *reference = value;
    return before != -1 && before != value;
}

static void judge_port(struct roce_judge *judge, struct roce_constants *constants) {
    struct roce_flow *flow = judge->flow;
    if (!is_connected_request(judge))
        return;
    const int32_t port = judge->packet->class == ROCE_V1
                             ? NO_PORT
                             : roce_u16(judge->packet->frame + judge->packet->udp);
    const int32_t before = constants->port;
    if (changes(&constants->port, port))
        roce_found(judge, RULE_UDP_04, roce_text(judge, "source port %d", before),
                   roce_text(judge, "%d", port));
    if (port == NO_PORT)
        return;
    if (flow->first_port < 0)
        flow->first_port = port;
    if (!flow->told_port) {
        flow->told_port = true;
        if (port < FIRST_ENTROPY_PORT)
            roce_found(judge, RULE_UDP_05, "a source port from 49152 on",
                       roce_text(judge, "%d", port));
    }
}

static void judge_tag(struct roce_judge *judge, struct roce_constants *constants, bool cnp) {
    const struct roce_packet *packet = judge->packet;
    const int32_t tag =
        packet->tags == 0 ? UNTAGGED : roce_u16(roce_tag(packet) + 2) & (cnp ? VID : PCP_AND_VID);
    const int32_t before = constants->vlan;
    if (changes(&constants->vlan, tag))
        roce_found_as(judge, RULE_VLAN_02, CHANGED_ON_THE_WAY,
                      before == UNTAGGED ? "no tag"
                                         : roce_text(judge, "tag 0x%04x", (unsigned)before),
                      tag == UNTAGGED ? "no tag" : roce_text(judge, "0x%04x", (unsigned)tag));
}

void roce_judge_constants(struct roce_judge *judge) {
    const struct roce_packet *packet = judge->packet;
    struct roce_flow *flow = judge->flow;
    const bool cnp = judge->row->family == ROCE_CNP;
    struct roce_constants *constants = cnp                            ? &flow->cnp_constants
                                       : roce_is_response(judge->row) ? &flow->response_constants
                                                                      : &flow->request_constants;
    judge_port(judge, constants);
    const int32_t dscp = constants->dscp;
    if (changes(&constants->dscp, dscp_of(packet)))
        roce_found_as(judge, RULE_IP_07, CHANGED_ON_THE_WAY, roce_text(judge, "DSCP %d", dscp),
                      roce_text(judge, "%d", dscp_of(packet)));
    judge_tag(judge, constants, cnp);
    if (!cnp && changes(&constants->migreq, (packet->flags & MIGREQ) != 0))
        roce_found(judge, RULE_BTH_03, roce_text(judge, "MigReq %d", !constants->migreq),
                   roce_text(judge, "%d", constants->migreq));
}

void roce_judge_destination(struct roce_judge *judge) {
    const struct roce_flow *flow = judge->flow;
    if (!flow->is_stranger)
        return;
    if (flow->is_elsewhere)
        roce_found(judge, RULE_IP_08, "the addresses of the QP",
                   roce_text(judge, "QPN 0x%06x between others", flow->key.qpn));
    else
        roce_found(judge, RULE_BTH_10, "a configured destination QPN",
                   roce_text(judge, "0x%06x", flow->key.qpn));
}

void roce_judge_configured(struct roce_judge *judge) {
    const struct roce_fact *own = judge->flow->own_fact;
    if (own == NULL)
        return;
    const struct roce_packet *packet = judge->packet;
    if (own->dscp >= 0 && dscp_of(packet) != own->dscp)
        roce_found_as(judge, RULE_IP_07, CHANGED_ON_THE_WAY, roce_text(judge, "DSCP %d", own->dscp),
                      roce_text(judge, "%d", dscp_of(packet)));
    const int32_t hops = packet->frame[packet->ip + (packet->version == 4 ? 8 : 7)];
    if (own->ttl >= 0 && hops > own->ttl)
        roce_found_as(judge, RULE_IP_06, CHANGED_ON_THE_WAY,
                      roce_text(judge, "at most %d hops", own->ttl), roce_text(judge, "%d", hops));
}
