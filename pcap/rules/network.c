// SPDX-License-Identifier: BSD-2-Clause
//
// Ethernet, VLAN, IP and UDP of one frame by itself, and frames that contradict
// themselves: docs/observer.md, sections 1 and 2.
//
// Decides ETH-02, ETH-04, ETH-05, ICRC-01, IP-01, IP-02, IP-03, IP-05, IP-06, MTU-09, UDP-02,
// UDP-03, VLAN-04.

#include "packet/checksum.h"
#include "rules/rules.h"

enum { DONT_FRAGMENT = 0x4000, DEI = 0x10, MULTICAST_QPN = 0xFFFFFF, PROTOCOL_UDP = 17 };

// BTH and ICRC alone are 24 bytes with a UDP header.
static void too_short(struct roce_judge *judge) {
    const struct roce_packet *packet = judge->packet;
    const uint32_t least = ROCE_UDP_BYTES + ROCE_BTH_BYTES + ROCE_ICRC_BYTES;
    const bool v1 = packet->class == ROCE_V1;
    roce_found(judge, v1 ? RULE_IP_02 : RULE_UDP_02,
               roce_text(judge, "%s length of %u or more for BTH and ICRC", v1 ? "an IP" : "a UDP",
                         least - (v1 ? ROCE_UDP_BYTES : 0)),
               roce_text(judge, "%u", roce_udp_length(packet) - (v1 ? ROCE_UDP_BYTES : 0)));
}

static void mismatched_lengths(struct roce_judge *judge) {
    const struct roce_packet *packet = judge->packet;
    const uint8_t *ip = packet->frame + packet->ip;
    const uint32_t start = packet->version == 4 ? packet->ip : packet->ip + 40;
    const uint32_t claimed = roce_u16(ip + (packet->version == 4 ? 2 : 4));
    const uint32_t room = packet->full_size - start;
    const bool fits =
        claimed == room || (claimed < room && packet->full_size <= ROCE_MINIMUM_FRAME);
    if (fits && packet->class != ROCE_V1)
        roce_found(judge, RULE_UDP_02,
                   roce_text(judge, "a UDP length of %u, which the IP length leaves",
                             claimed - (packet->udp - start)),
                   roce_text(judge, "%u", roce_udp_length(packet)));
    else if (claimed > room)
        roce_found(
            judge, RULE_IP_02,
            roce_text(judge, "an IP length of at most %u, which the frame has room for", room),
            roce_text(judge, "%u", claimed));
    else
        roce_found(
            judge, RULE_IP_02,
            roce_text(judge, "an IP length of %u, which the UDP length needs", packet->end - start),
            roce_text(judge, "%u", claimed));
}

void roce_judge_broken(struct roce_judge *judge) {
    const struct roce_packet *packet = judge->packet;
    switch ((enum roce_fault)packet->fault) {
    case ROCE_SOUND:
        break;
    case ROCE_FRAGMENT:
        roce_found(judge, RULE_IP_03, "no fragment", "More Fragments");
        break;
    case ROCE_SHORT:
        if (roce_udp_length(packet) == ROCE_UDP_BYTES + ROCE_BTH_BYTES)
            roce_found(judge, RULE_ICRC_01, "four bytes of ICRC", "none");
        else
            too_short(judge);
        break;
    case ROCE_IP_LENGTH:
    case ROCE_UDP_LENGTH:
        mismatched_lengths(judge);
        break;
    }
}

static void judge_ethernet(struct roce_judge *judge) {
    const struct roce_packet *packet = judge->packet;
    if (!packet->cut) {
        const uint32_t excess = packet->full_size - packet->end;
        const uint32_t pad =
            packet->end < ROCE_MINIMUM_FRAME ? ROCE_MINIMUM_FRAME - packet->end : 0;
        if (packet->full_size < ROCE_MINIMUM_FRAME)
            roce_found_as(judge, RULE_ETH_02, ROCE_INFO, "60 bytes at least",
                          roce_text(judge, "%u", packet->full_size));
        else if (excess > pad)
            roce_found_as(judge, RULE_ETH_02, ROCE_SHOULD,
                          roce_text(judge, "%u bytes behind the ICRC", pad),
                          roce_text(judge, "%u", excess));
        const uint32_t there = packet->size > packet->end ? packet->size - packet->end : 0;
        if (!roce_all_zero(packet->frame + packet->end, there < pad ? there : pad))
            roce_found(judge, RULE_ETH_04, "a pad of zeros", "other bytes");
    }
    const bool group = packet->frame[0] & 1;
    const bool multicast = packet->has_bth && packet->qpn == MULTICAST_QPN &&
                           roce_service_of(packet->opcode) == ROCE_UD;
    if (roce_all_zero(packet->frame, 6) || (group && !multicast && packet->has_bth))
        roce_found(judge, RULE_ETH_05, "the MAC address of one station",
                   group ? "a group address" : "00:00:00:00:00:00");
    if (judge->flow != NULL && !judge->flow->told_tags && packet->tags != 0 &&
        (packet->tags > 1 || (roce_tag(packet)[2] & DEI))) {
        judge->flow->told_tags = true;
        roce_found(judge, RULE_VLAN_04, "one tag without DEI",
                   packet->tags > 1 ? roce_text(judge, "%u tags", packet->tags) : "DEI");
    }
}

static void judge_ipv4(struct roce_judge *judge) {
    const struct roce_packet *packet = judge->packet;
    const uint8_t *ip = packet->frame + packet->ip;
    if ((ip[0] & 15) != 5)
        roce_found(judge, RULE_IP_01, "IHL 5", roce_text(judge, "IHL %u", ip[0] & 15U));
    const uint16_t fragment = roce_u16(ip + 6);
    if (fragment != DONT_FRAGMENT)
        roce_found(judge, RULE_IP_03, "flags 0x4000", roce_text(judge, "0x%04x", fragment));
    if (roce_internet_residue(ip, packet->udp - packet->ip, 0) != 0) {
        const uint16_t found = roce_u16(ip + 10);
        const uint16_t right =
            roce_internet_residue(ip, packet->udp - packet->ip, (uint32_t)(uint16_t)~found);
        roce_found(judge, RULE_IP_05, roce_text(judge, "checksum 0x%04x", right),
                   roce_text(judge, "0x%04x", found));
    }
}

static void judge_udp_checksum(struct roce_judge *judge) {
    const struct roce_packet *packet = judge->packet;
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
        roce_found(judge, RULE_UDP_03, "checksum 0, or right", roce_text(judge, "0x%04x", found));
}

void roce_judge_network(struct roce_judge *judge) {
    const struct roce_packet *packet = judge->packet;
    const uint8_t *ip = packet->frame + packet->ip;
    if (packet->has_bth) {
        const uint32_t mtu = judge->facts ? judge->facts->mtu : 0;
        if (mtu != 0 && packet->end - packet->ip > mtu)
            roce_found(judge, RULE_MTU_09, roce_text(judge, "at most %u bytes of IP", mtu),
                       roce_text(judge, "%u", packet->end - packet->ip));
        judge_ethernet(judge);
    }
    if (packet->version == 4)
        judge_ipv4(judge);
    if (ip[packet->version == 4 ? 8 : 7] == 0)
        roce_found(judge, RULE_IP_06, "at least 1 hop", "0");
    if (!packet->has_bth)
        return;
    if (roce_udp_length(packet) % 4 != 0)
        roce_found(judge, packet->class == ROCE_V1 ? RULE_IP_02 : RULE_UDP_02,
                   "a length that divides by 4", roce_text(judge, "%u", roce_udp_length(packet)));
    if (packet->class == ROCE_V2)
        judge_udp_checksum(judge);
}
