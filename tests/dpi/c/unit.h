// SPDX-License-Identifier: BSD-2-Clause
//
// What cmocka needs before its own header, and helpers for socket pairs.

#ifndef UNIT_H
#define UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/error.h"

#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct pair {
    int ours;
    int theirs;
};

static inline struct pair make_pair(int kind) {
    int fds[2];
    assert_int_equal(socketpair(AF_UNIX, kind, 0, fds), 0);
    return (struct pair){.ours = fds[0], .theirs = fds[1]};
}

#define assert_error(error, words)                                                                 \
    do {                                                                                           \
        if (!strstr((error)->text, (words))) {                                                     \
            fail_msg("expected \"%s\" in \"%s\"", (words), (error)->text);                         \
        }                                                                                          \
    } while (0)

#endif
