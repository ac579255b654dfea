// SPDX-License-Identifier: BSD-2-Clause
#include "protocol/fail.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A request's own words may be quoted in the text, cut in the middle of a
// UTF-8 sequence; the reply must be valid JSON whatever they were.
static void keep_printable(char *text) {
    for (; *text; text++) {
        if (*text < ' ' || *text > '~') {
            *text = '?';
        }
    }
}

int fail_say(struct fail *f, const char *format, ...) {
    va_list args;
    va_start(args, format);
    f->err = 0;
    vsnprintf(f->text, sizeof(f->text), format, args);
    va_end(args);
    keep_printable(f->text);
    return 0;
}

int fail_errno(struct fail *f, int err, const char *what) {
    err = abs(err); // providers differ in the sign that they return
    fail_say(f, "%s: %s", what, strerror(err));
    f->err = err;
    return 0;
}
