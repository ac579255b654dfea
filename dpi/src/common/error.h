// SPDX-License-Identifier: BSD-2-Clause
//
// The first thing that went wrong, in words. Functions that can fail take a
// struct error and return -1 after filling it; nothing here ever exits.

#ifndef ROCEPROOF_ERROR_H
#define ROCEPROOF_ERROR_H

#include <stdbool.h>

struct error {
    char text[512];
};

// Keeps an earlier text: the first error is the cause. Always returns -1.
int error_set(struct error *error, const char *format, ...) __attribute__((format(printf, 2, 3)));

static inline bool error_is_set(const struct error *error) {
    return error->text[0] != '\0';
}

#endif
