// SPDX-License-Identifier: BSD-2-Clause
//
// How an operation says no: one sentence for the person who sent the request
// and the errno behind it (0 where the request itself was wrong).
#ifndef ROCEPROOF_AGENT_FAIL_H
#define ROCEPROOF_AGENT_FAIL_H

struct fail {
    int err;
    char text[256];
};

// Both return 0, so that an operation can `return fail_say(...)` whatever
// pointer or bool it promises.
int fail_say(struct fail *f, const char *format, ...) __attribute__((format(printf, 2, 3)));
int fail_errno(struct fail *f, int err, const char *what);

#endif
