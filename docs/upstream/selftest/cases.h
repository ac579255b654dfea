/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef RXE_CASES_H
#define RXE_CASES_H

#include "bench.h"

struct named_case {
    const char *name;
    enum verdict (*run)(struct bench *bench);
    struct wish wish;
};

extern const struct named_case requester_cases[], responder_cases[];

#endif
