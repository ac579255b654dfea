// SPDX-License-Identifier: BSD-2-Clause
//
// The first thing that went wrong, in words.

#include "common/error.h"

#include <stdarg.h>
#include <stdio.h>

int error_set(struct error *error, const char *format, ...) {
    if (!error_is_set(error)) {
        va_list arguments;
        va_start(arguments, format);
        (void)vsnprintf(error->text, sizeof error->text, format, arguments);
        va_end(arguments);
    }
    return -1;
}
