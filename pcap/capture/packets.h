// SPDX-License-Identifier: BSD-2-Clause
//
// The three kinds of packet blocks of pcapng: enhanced, obsolete and simple.

#ifndef ROCEPROOF_CAPTURE_PACKETS_H
#define ROCEPROOF_CAPTURE_PACKETS_H

#include "capture/interfaces.h"

enum {
    ROCE_OBSOLETE_PACKET = 2,
    ROCE_SIMPLE_PACKET = 3,
    ROCE_ENHANCED_PACKET = 6,
};

// Read a packet block of one of these types that lies whole at `block` into all of *record but
// its number; NULL, or what is wrong with it.
const char *roce_packet_read(const struct roce_interfaces *interfaces, const uint8_t *block,
                             uint32_t type, uint32_t length, bool big_endian,
                             struct roce_record *record);

#endif
