// SPDX-License-Identifier: BSD-2-Clause
//
// Time stamp resolution, its offset and the FCS length are options of the
// description block. The FCS length counts in bits, but some writers count bytes.

#include "capture/interfaces.h"

#include <stdlib.h>

#include "capture/options.h"

enum {
    FIXED_BYTES = 16,
    TRAILER_BYTES = 4,
    OPTION_TIME_RESOLUTION = 9,
    OPTION_FCS_LENGTH = 13,
    OPTION_TIME_OFFSET = 14,
    MICROSECONDS = 6,
};

static uint64_t read_u64(const uint8_t *at, bool big_endian) {
    const uint64_t first = roce_read_u32(at, big_endian);
    const uint64_t second = roce_read_u32(at + 4, big_endian);
    return big_endian ? first << 32 | second : second << 32 | first;
}

static bool make_room(struct roce_interfaces *interfaces) {
    if (interfaces->count < interfaces->room)
        return true;
    const uint32_t room = interfaces->room ? 2 * interfaces->room : 4;
    struct roce_interface *rows = realloc(interfaces->rows, room * sizeof *rows);
    if (!rows)
        return false;
    interfaces->rows = rows;
    interfaces->room = room;
    return true;
}

const char *roce_interfaces_add(struct roce_interfaces *interfaces, const uint8_t *block,
                                uint32_t length, bool big_endian) {
    if (length < FIXED_BYTES + TRAILER_BYTES)
        return "an interface description too short for its fields";
    if (!make_room(interfaces))
        return "out of memory";
    uint8_t resolution = MICROSECONDS;
    uint64_t offset_s = 0;
    uint8_t fcs_length = 0;
    struct roce_options options = {
        .at = block + FIXED_BYTES,
        .end = block + length - TRAILER_BYTES,
        .big_endian = big_endian,
    };
    struct roce_option option;
    enum roce_option_status status;
    while ((status = roce_option_next(&options, &option)) == ROCE_OPTION_FOUND) {
        if (option.code == OPTION_TIME_RESOLUTION && option.length == 1)
            resolution = option.value[0];
        else if (option.code == OPTION_FCS_LENGTH && option.length == 1)
            fcs_length = option.value[0];
        else if (option.code == OPTION_TIME_OFFSET && option.length == 8)
            offset_s = read_u64(option.value, big_endian);
    }
    if (status == ROCE_OPTION_DAMAGED)
        return "an option reaches beyond its interface description";
    const uint16_t link_type = roce_read_u16(block + 8, big_endian);
    interfaces->rows[interfaces->count++] = (struct roce_interface){
        .clock = roce_clock_make(resolution, offset_s),
        .snap_length = roce_read_u32(block + 12, big_endian),
        .link_type = link_type,
        .fcs_bytes = fcs_length < 8 ? fcs_length : fcs_length / 8,
    };
    if (link_type == LINK_TYPE_ETHERNET)
        interfaces->has_ethernet = true;
    else
        interfaces->foreign_type = link_type;
    return NULL;
}

void roce_interfaces_begin_section(struct roce_interfaces *interfaces) {
    interfaces->before += interfaces->count;
    interfaces->count = 0;
}
