// SPDX-License-Identifier: BSD-2-Clause
//
// An option list ends with its block or with an option of code 0, whatever
// stands behind that.

#include "capture/options.h"

#include "capture/reader.h"

enum { OPTION_HEADER_BYTES = 4 };

enum roce_option_status roce_option_next(struct roce_options *options, struct roce_option *option) {
    const size_t left = (size_t)(options->end - options->at);
    if (left == 0)
        return ROCE_OPTION_END;
    if (left < OPTION_HEADER_BYTES)
        return ROCE_OPTION_DAMAGED;
    option->code = roce_read_u16(options->at, options->big_endian);
    option->length = roce_read_u16(options->at + 2, options->big_endian);
    option->value = options->at + OPTION_HEADER_BYTES;
    if (option->code == 0)
        return ROCE_OPTION_END;
    const size_t whole = OPTION_HEADER_BYTES + (((size_t)option->length + 3) & ~(size_t)3);
    if (whole > left)
        return ROCE_OPTION_DAMAGED;
    options->at += whole;
    return ROCE_OPTION_FOUND;
}
