// SPDX-License-Identifier: BSD-2-Clause

#include "link/congestion.h"

enum {
    TYPE_AT = 12,
    TAG_BYTES = 4,
    IPV4_BYTES = 20,
    IPV6_BYTES = 40,
    CHECKSUM_AT = 10,
    CE = 3,
};

static unsigned word_at(const uint8_t *bytes) {
    return (unsigned)bytes[0] << 8 | bytes[1];
}

// Its word of TOS grows by so much, so the one's complement of the sum does (RFC 1624).
static void add_to_checksum(uint8_t *checksum, unsigned more) {
    unsigned sum = (word_at(checksum) ^ 0xFFFF) + more;
    sum = ((sum & 0xFFFF) + (sum >> 16)) ^ 0xFFFF;
    checksum[0] = (uint8_t)(sum >> 8);
    checksum[1] = (uint8_t)sum;
}

bool congestion_mark(uint8_t *frame, size_t length) {
    size_t at = TYPE_AT;
    while (length >= at + TAG_BYTES &&
           (word_at(frame + at) == 0x8100 || word_at(frame + at) == 0x88A8)) {
        at += TAG_BYTES;
    }
    if (length < at + 2) {
        return false;
    }
    unsigned type = word_at(frame + at);
    uint8_t *ip = frame + at + 2;
    size_t left = length - at - 2;
    unsigned shift = type == 0x86DD ? 4 : 0;
    if (type == 0x0800 ? left < IPV4_BYTES : type != 0x86DD || left < IPV6_BYTES) {
        return false;
    }
    unsigned said = ip[1] >> shift & CE;
    if (said == 0 || said == CE) {
        return false;
    }
    ip[1] |= (uint8_t)(CE << shift);
    if (type == 0x0800) {
        add_to_checksum(ip + CHECKSUM_AT, CE - said);
    }
    return true;
}
