// SPDX-License-Identifier: BSD-2-Clause

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "capture/reader.h"

enum roce_capture_status roce_capture_fail(struct roce_capture *capture, uint64_t offset,
                                           const char *format, ...) {
    char what[sizeof capture->source->error];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    const char *cause = capture->source->error[0] ? capture->source->error : what;
    snprintf(capture->error, sizeof capture->error, "file offset %" PRIu64 ": %s", offset, cause);
    return ROCE_CAPTURE_ERROR;
}
