// SPDX-License-Identifier: BSD-2-Clause
//
// Enhanced and obsolete blocks have their fields at the same places, but for
// the interface's width; a simple one has no time and no captured length.

#include "capture/packets.h"

#include "capture/options.h"

enum {
    HEADER_BYTES = 28,
    SIMPLE_HEADER_BYTES = 12,
    TRAILER_BYTES = 4,
    OPTION_FLAGS = 2, // of both kinds that have options
};

static const char too_short[] = "a packet block too short for its fields";
static const char no_interface[] = "a packet of an interface that is not described";
static const char too_long[] = "a packet longer than its block";
static const char absurd[] = "a packet of more than 262144 bytes";

// The FCS length in the packet's flags, where it says one.
static const char *read_flags(struct roce_options options, struct roce_record *record) {
    struct roce_option option;
    enum roce_option_status status;
    while ((status = roce_option_next(&options, &option)) == ROCE_OPTION_FOUND) {
        if (option.code != OPTION_FLAGS || option.length != 4)
            continue;
        const uint32_t fcs_bytes = roce_read_u32(option.value, options.big_endian) >> 5 & 15;
        if (fcs_bytes)
            record->fcs_bytes = (uint8_t)fcs_bytes;
    }
    return status == ROCE_OPTION_DAMAGED ? "an option reaches beyond its packet block" : NULL;
}

static const char *read_simple(const struct roce_interfaces *interfaces, const uint8_t *block,
                               uint32_t length, bool big_endian, struct roce_record *record) {
    if (length < SIMPLE_HEADER_BYTES + TRAILER_BYTES)
        return too_short;
    if (interfaces->count == 0)
        return no_interface;
    const struct roce_interface *interface = &interfaces->rows[0];
    const uint32_t full_size = roce_read_u32(block + 8, big_endian);
    const uint32_t limit = interface->snap_length ? interface->snap_length : UINT32_MAX;
    const uint32_t size = full_size < limit ? full_size : limit;
    if (size > length - SIMPLE_HEADER_BYTES - TRAILER_BYTES)
        return too_long;
    if (size > LONGEST_RECORD_BYTES)
        return absurd;
    *record = (struct roce_record){
        .data = block + SIMPLE_HEADER_BYTES,
        .size = size,
        .full_size = full_size,
        .interface = interfaces->before,
        .fcs_bytes = interface->fcs_bytes,
        .is_ethernet = interface->link_type == LINK_TYPE_ETHERNET,
    };
    return NULL;
}

const char *roce_packet_read(const struct roce_interfaces *interfaces, const uint8_t *block,
                             uint32_t type, uint32_t length, bool big_endian,
                             struct roce_record *record) {
    if (type == ROCE_SIMPLE_PACKET)
        return read_simple(interfaces, block, length, big_endian, record);
    if (length < HEADER_BYTES + TRAILER_BYTES)
        return too_short;
    const uint32_t id = type == ROCE_ENHANCED_PACKET ? roce_read_u32(block + 8, big_endian)
                                                     : roce_read_u16(block + 8, big_endian);
    if (id >= interfaces->count)
        return no_interface;
    const struct roce_interface *interface = &interfaces->rows[id];
    const uint32_t size = roce_read_u32(block + 20, big_endian);
    const uint32_t room = length - HEADER_BYTES - TRAILER_BYTES;
    if (size > room)
        return too_long;
    if (size > LONGEST_RECORD_BYTES)
        return absurd;
    const uint32_t full_size = roce_read_u32(block + 24, big_endian);
    const uint64_t ticks = (uint64_t)roce_read_u32(block + 12, big_endian) << 32 |
                           roce_read_u32(block + 16, big_endian);
    *record = (struct roce_record){
        .data = block + HEADER_BYTES,
        .time_ns = roce_clock_read(&interface->clock, ticks),
        .size = size,
        .full_size = full_size > size ? full_size : size,
        .interface = interfaces->before + id,
        .fcs_bytes = interface->fcs_bytes,
        .is_ethernet = interface->link_type == LINK_TYPE_ETHERNET,
    };
    const uint32_t padded = (size + 3) & ~UINT32_C(3);
    if (padded == room)
        return NULL;
    const struct roce_options options = {
        .at = record->data + padded,
        .end = block + length - TRAILER_BYTES,
        .big_endian = big_endian,
    };
    return read_flags(options, record);
}
