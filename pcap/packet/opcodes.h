// SPDX-License-Identifier: BSD-2-Clause
//
// The opcode table: what must follow the BTH, and which part of which message a
// packet is. Source: IBA volume 1, section 9.2; catalogue rules BTH-01, OPC-*.

#ifndef ROCEPROOF_OPCODES_H
#define ROCEPROOF_OPCODES_H

#include <stdbool.h>
#include <stdint.h>

enum roce_service { ROCE_RC = 0, ROCE_UC = 1, ROCE_RD = 2, ROCE_UD = 3, ROCE_NO_SERVICE = 8 };

enum roce_family {
    ROCE_RESERVED, // no row: the opcode is not defined
    ROCE_SEND,
    ROCE_WRITE,
    ROCE_READ,
    ROCE_ATOMIC,
    ROCE_FLUSH,
    ROCE_ATOMIC_WRITE,
    ROCE_READ_RESPONSE,
    ROCE_ACKNOWLEDGE,
    ROCE_ATOMIC_ACK,
    ROCE_CNP,
};

enum roce_headers { // in the order in which they stand behind the BTH
    ROCE_HAS_DETH = 1,
    ROCE_HAS_AETH = 2,
    ROCE_HAS_FETH = 4,
    ROCE_HAS_RETH = 8,
    ROCE_HAS_ATOMIC = 16,
    ROCE_HAS_ATOMIC_ACK = 32,
    ROCE_HAS_IMM = 64,
    ROCE_HAS_INV = 128,
};

struct roce_opcode {
    const char *name;
    uint8_t family;       // enum roce_family
    uint8_t headers;      // set of enum roce_headers
    uint8_t header_bytes; // their length, reserved bytes of a CNP included
    bool opens;           // FIRST or ONLY
    bool closes;          // LAST or ONLY
    bool carries;         // may have payload
};

extern const struct roce_opcode ROCE_OPCODES[256];

// The row of an opcode; one with ROCE_RESERVED for an undefined one.
static inline const struct roce_opcode *roce_opcode(uint8_t opcode) {
    return &ROCE_OPCODES[opcode];
}

static inline enum roce_service roce_service_of(uint8_t opcode) {
    return (enum roce_service)(opcode >> 5);
}

static inline bool roce_is_response(const struct roce_opcode *row) {
    return row->family >= ROCE_READ_RESPONSE && row->family <= ROCE_ATOMIC_ACK;
}

static inline bool roce_is_request(const struct roce_opcode *row) {
    return row->family != ROCE_RESERVED && row->family < ROCE_READ_RESPONSE;
}

#endif
