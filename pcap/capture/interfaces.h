// SPDX-License-Identifier: BSD-2-Clause
//
// The interfaces of a pcapng section, as its description blocks declare them.

#ifndef ROCEPROOF_CAPTURE_INTERFACES_H
#define ROCEPROOF_CAPTURE_INTERFACES_H

#include "capture/clock.h"
#include "capture/reader.h"

struct roce_interface {
    struct roce_clock clock;
    uint32_t snap_length; // 0: none
    uint16_t link_type;
    uint8_t fcs_bytes;
};

struct roce_interfaces {
    struct roce_interface *rows;
    uint32_t count;
    uint32_t room;
    uint32_t before;       // interfaces of the sections before
    bool has_ethernet;     // in any section
    uint16_t foreign_type; // the newest link type that is not Ethernet
};

// Add the interface of a description block that lies whole at `block`; NULL, or why it cannot be.
const char *roce_interfaces_add(struct roce_interfaces *interfaces, const uint8_t *block,
                                uint32_t length, bool big_endian);

// A new section counts from 0.
void roce_interfaces_begin_section(struct roce_interfaces *interfaces);

#endif
