// SPDX-License-Identifier: BSD-2-Clause

#include "packet/opcodes.h"

enum {
    IMM = ROCE_HAS_IMM,
    INV = ROCE_HAS_INV,
    RETH = ROCE_HAS_RETH,
    AETH = ROCE_HAS_AETH,
    DETH = ROCE_HAS_DETH,
    ATOMIC = ROCE_HAS_ATOMIC,
    RC = 0x00,
    UC = 0x20,
};

#define FIRST true, false, true
#define MIDDLE false, false, true
#define LAST false, true, true
#define ONLY true, true, true
#define EMPTY true, true, false

#define CONNECTED(service, base)                                                                   \
    [(base) + 0x00] = {service " SEND FIRST", ROCE_SEND, 0, 0, FIRST},                             \
              [(base) + 0x01] = {service " SEND MIDDLE", ROCE_SEND, 0, 0, MIDDLE},                 \
              [(base) + 0x02] = {service " SEND LAST", ROCE_SEND, 0, 0, LAST},                     \
              [(base) + 0x03] = {service " SEND LAST IMM", ROCE_SEND, IMM, 4, LAST},               \
              [(base) + 0x04] = {service " SEND ONLY", ROCE_SEND, 0, 0, ONLY},                     \
              [(base) + 0x05] = {service " SEND ONLY IMM", ROCE_SEND, IMM, 4, ONLY},               \
              [(base) + 0x06] = {service " WRITE FIRST", ROCE_WRITE, RETH, 16, FIRST},             \
              [(base) + 0x07] = {service " WRITE MIDDLE", ROCE_WRITE, 0, 0, MIDDLE},               \
              [(base) + 0x08] = {service " WRITE LAST", ROCE_WRITE, 0, 0, LAST},                   \
              [(base) + 0x09] = {service " WRITE LAST IMM", ROCE_WRITE, IMM, 4, LAST},             \
              [(base) + 0x0A] = {service " WRITE ONLY", ROCE_WRITE, RETH, 16, ONLY},               \
              [(base) + 0x0B] = {service " WRITE ONLY IMM", ROCE_WRITE, RETH | IMM, 20, ONLY}

const struct roce_opcode ROCE_OPCODES[256] = {
    CONNECTED("RC", RC),
    CONNECTED("UC", UC),
    [0x0C] = {"RC READ REQUEST", ROCE_READ, RETH, 16, EMPTY},
    [0x0D] = {"RC READ RESP FIRST", ROCE_READ_RESPONSE, AETH, 4, FIRST},
    [0x0E] = {"RC READ RESP MIDDLE", ROCE_READ_RESPONSE, 0, 0, MIDDLE},
    [0x0F] = {"RC READ RESP LAST", ROCE_READ_RESPONSE, AETH, 4, LAST},
    [0x10] = {"RC READ RESP ONLY", ROCE_READ_RESPONSE, AETH, 4, ONLY},
    [0x11] = {"RC ACKNOWLEDGE", ROCE_ACKNOWLEDGE, AETH, 4, EMPTY},
    [0x12] = {"RC ATOMIC ACK", ROCE_ATOMIC_ACK, AETH | ROCE_HAS_ATOMIC_ACK, 12, EMPTY},
    [0x13] = {"RC CMP SWAP", ROCE_ATOMIC, ATOMIC, 28, EMPTY},
    [0x14] = {"RC FETCH ADD", ROCE_ATOMIC, ATOMIC, 28, EMPTY},
    [0x16] = {"RC SEND LAST INV", ROCE_SEND, INV, 4, LAST},
    [0x17] = {"RC SEND ONLY INV", ROCE_SEND, INV, 4, ONLY},
    [0x1C] = {"RC FLUSH", ROCE_FLUSH, ROCE_HAS_FETH | RETH, 20, EMPTY},
    [0x1D] = {"RC ATOMIC WRITE", ROCE_ATOMIC_WRITE, RETH, 16, ONLY},
    [0x64] = {"UD SEND ONLY", ROCE_SEND, DETH, 8, ONLY},
    [0x65] = {"UD SEND ONLY IMM", ROCE_SEND, DETH | IMM, 12, ONLY},
    [0x81] = {"CNP", ROCE_CNP, 0, 16, EMPTY},
};
