// SPDX-License-Identifier: BSD-2-Clause
//
// Names of the link types that people meet when they capture RDMA the wrong way.

#include "capture/reader.h"

const char *roce_link_type_name(uint16_t link_type) {
    switch (link_type) {
    case 0:
        return "BSD loopback";
    case LINK_TYPE_ETHERNET:
        return "Ethernet";
    case 101:
        return "raw IP";
    case 105:
        return "IEEE 802.11";
    case 113:
    case 276:
        return "Linux cooked: capture on one interface, not on any";
    case 127:
        return "IEEE 802.11 with radiotap";
    case 197:
        return "ERF";
    case 247:
        return "InfiniBand";
    default:
        return "unknown";
    }
}
