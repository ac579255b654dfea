// SPDX-License-Identifier: BSD-2-Clause
//
// Finds the IP and UDP headers of a RoCEv2 packet. Reads no byte before its
// presence in the frame has been checked.

#include <stdbool.h>

#include "icrc.h"

enum {
    ETHERNET_BYTES = 14,
    VLAN_BYTES = 4,
    IPV4_BYTES = 20,
    IPV6_BYTES = 40,
    UDP_BYTES = 8,
    BTH_AND_ICRC_BYTES = 16,
    PROTOCOL_UDP = 17,
    ROCE_PORT = 4791,
};

static uint16_t read_u16(const uint8_t *at) {
    return (uint16_t)(at[0] << 8 | at[1]);
}

static bool is_vlan(uint16_t ether_type) {
    return ether_type == 0x8100 || ether_type == 0x88A8 || ether_type == 0x9100;
}

enum roce_icrc_verdict roce_locate(const uint8_t *frame, size_t size, struct roce_layout *layout) {
    if (size < ETHERNET_BYTES)
        return ROCE_ICRC_NOT_ROCE;
    size_t ip = ETHERNET_BYTES;
    uint16_t ether_type = read_u16(frame + ip - 2);
    while (is_vlan(ether_type)) {
        if (size - ip < VLAN_BYTES)
            return ROCE_ICRC_NOT_ROCE;
        ip += VLAN_BYTES;
        ether_type = read_u16(frame + ip - 2);
    }

    const uint8_t *header = frame + ip;
    const size_t room = size - ip;
    size_t header_bytes;
    size_t ip_bytes; // header and payload, as the IP header claims
    bool fragmented = false;
    if (ether_type == 0x0800) {
        if (room < IPV4_BYTES || header[0] >> 4 != 4)
            return ROCE_ICRC_NOT_ROCE;
        header_bytes = 4U * (header[0] & 15U);
        ip_bytes = read_u16(header + 2);
        const uint16_t fragment = read_u16(header + 6);
        if (header_bytes < IPV4_BYTES || header[9] != PROTOCOL_UDP || (fragment & 0x1FFF) != 0)
            return ROCE_ICRC_NOT_ROCE;
        fragmented = (fragment & 0x2000) != 0;
    } else if (ether_type == 0x86DD) {
        if (room < IPV6_BYTES || header[0] >> 4 != 6 || header[6] != PROTOCOL_UDP)
            return ROCE_ICRC_NOT_ROCE;
        header_bytes = IPV6_BYTES;
        ip_bytes = IPV6_BYTES + (size_t)read_u16(header + 4);
    } else {
        return ROCE_ICRC_NOT_ROCE;
    }

    if (room < header_bytes + UDP_BYTES || read_u16(header + header_bytes + 2) != ROCE_PORT)
        return ROCE_ICRC_NOT_ROCE;
    const size_t udp_bytes = read_u16(header + header_bytes + 4);
    if (fragmented || ip_bytes > room || header_bytes + udp_bytes != ip_bytes ||
        udp_bytes < UDP_BYTES + BTH_AND_ICRC_BYTES)
        return ROCE_ICRC_MALFORMED;

    layout->ip = ip;
    layout->udp = ip + header_bytes;
    layout->end = ip + ip_bytes;
    layout->ip_version = header[0] >> 4;
    return ROCE_ICRC_OK;
}
