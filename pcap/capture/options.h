// SPDX-License-Identifier: BSD-2-Clause
//
// Walks the options of a pcapng block, each of them checked to lie in it.

#ifndef ROCEPROOF_CAPTURE_OPTIONS_H
#define ROCEPROOF_CAPTURE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct roce_options {
    const uint8_t *at;
    const uint8_t *end; // where the block's trailing length stands
    bool big_endian;
};

struct roce_option {
    uint16_t code;
    uint16_t length;
    const uint8_t *value;
};

enum roce_option_status {
    ROCE_OPTION_FOUND,
    ROCE_OPTION_END,
    ROCE_OPTION_DAMAGED, // reaches beyond its block
};

enum roce_option_status roce_option_next(struct roce_options *options, struct roce_option *option);

#endif
