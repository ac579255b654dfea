// SPDX-License-Identifier: BSD-2-Clause
//
// What the devices were configured with, from the JSON of `--qps` (docs/observer.md,
// section 6). One row per end of a QP.

#ifndef ROCEPROOF_FACTS_H
#define ROCEPROOF_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "packet/opcodes.h"

// IPv4 addresses take the first four bytes, the rest is zero.
struct roce_address {
    uint8_t bytes[16];
    uint8_t version; // 4 or 6
};

static inline bool roce_same_address(const struct roce_address *a, const struct roce_address *b) {
    return a->version == b->version && memcmp(a->bytes, b->bytes, sizeof a->bytes) == 0;
}

static inline bool roce_is_path_mtu(uint32_t size) {
    return size == 256 || size == 512 || size == 1024 || size == 2048 || size == 4096;
}

struct roce_fact {
    enum roce_service service;
    struct roce_address address;
    struct roce_address remote_address;
    uint32_t qpn;
    uint32_t remote_qpn;
    int32_t start_psn; // this and the following: -1 where not given
    int32_t remote_start_psn;
    int32_t path_mtu;
    int32_t dscp;
    int32_t ttl;
    int32_t min_rnr_timer;
    int32_t credits; // 0 or 1
};

struct roce_facts {
    uint32_t mtu; // of the IP layer, 0 if not given
    size_t count;
    struct roce_fact *rows;
};

// Read the file. On failure returns false and writes one line into `error`.
bool roce_facts_load(struct roce_facts *facts, const char *path, char *error, size_t error_bytes);

void roce_facts_free(struct roce_facts *facts);

#endif
