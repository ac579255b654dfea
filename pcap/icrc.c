// SPDX-License-Identifier: BSD-2-Clause
//
// The invariant CRC with ISA-L's folded CRC-32. The IP, UDP and BTH headers are
// copied, to be masked; of a short packet all is, which saves a second call.
// What is longer is read where it lies.

#include <string.h>

#include "checksum.h"
#include "icrc.h"

enum {
    IPV4_BYTES = 20,
    IPV6_BYTES = 40,
    TRANSPORT_BYTES = 20, // UDP and BTH
    ICRC_BYTES = 4,
    SHORT_BYTES = 256,
};

// Ones where the ICRC sees ones, up to the end of the BTH.
static const uint8_t ipv4_mask[IPV4_BYTES + TRANSPORT_BYTES] = {
    [1] = 0xFF,               // TOS
    [8] = 0xFF,               // TTL
    [10] = 0xFF, [11] = 0xFF, // header checksum
    [26] = 0xFF, [27] = 0xFF, // UDP checksum
    [32] = 0xFF,              // FECN, BECN and six reserved bits
};
static const uint8_t ipv6_mask[IPV6_BYTES + TRANSPORT_BYTES] = {
    [0] = 0x0F,  [1] = 0xFF,  // traffic class
    [2] = 0xFF,  [3] = 0xFF,  // and flow label
    [7] = 0xFF,               // hop limit
    [46] = 0xFF, [47] = 0xFF, // UDP checksum
    [52] = 0xFF,              // FECN, BECN and six reserved bits
};

static void mask(uint8_t *restrict head, const uint8_t *packet, const uint8_t *ones, size_t bytes) {
    for (size_t i = 0; i < bytes; i++)
        head[i] = packet[i] | ones[i];
}

// Copy the headers with ones in place of what may change on the way; their length.
static size_t mask_headers(uint8_t *head, const uint8_t *packet, const struct roce_layout *layout) {
    const size_t ip_bytes = layout->udp - layout->ip;
    if (layout->ip_version == 6) {
        mask(head, packet, ipv6_mask, sizeof ipv6_mask);
    } else if (ip_bytes == IPV4_BYTES) {
        mask(head, packet, ipv4_mask, sizeof ipv4_mask);
    } else {
        mask(head, packet, ipv4_mask, IPV4_BYTES);
        memcpy(head + IPV4_BYTES, packet + IPV4_BYTES, ip_bytes - IPV4_BYTES);
        mask(head + ip_bytes, packet + ip_bytes, ipv4_mask + IPV4_BYTES, TRANSPORT_BYTES);
    }
    return ip_bytes + TRANSPORT_BYTES;
}

void roce_icrc_compute(const uint8_t *frame, const struct roce_layout *layout, uint8_t icrc[4]) {
    uint8_t head[SHORT_BYTES];
    const uint8_t *packet = frame + layout->ip;
    const size_t covered = layout->end - ICRC_BYTES - layout->ip;
    const size_t head_bytes = mask_headers(head, packet, layout);
    const uint8_t *body = packet + head_bytes;
    const size_t body_bytes = covered - head_bytes;
    uint32_t crc;
    if (covered <= sizeof head) {
        memcpy(head + head_bytes, body, body_bytes);
        crc = roce_crc(ROCE_PREFIX_CRC, head, covered);
    } else {
        crc = roce_crc(ROCE_PREFIX_CRC, head, head_bytes);
        crc = roce_crc_in_row(crc, body, body_bytes);
    }
    for (int i = 0; i < ICRC_BYTES; i++)
        icrc[i] = (uint8_t)(crc >> 8 * i);
}

struct roce_icrc_result roce_icrc_check(const uint8_t *frame, size_t size) {
    struct roce_icrc_result result = {0};
    struct roce_layout layout;
    result.verdict = roce_locate(frame, size, &layout);
    if (result.verdict != ROCE_ICRC_OK)
        return result;
    memcpy(result.found, frame + layout.end - ICRC_BYTES, ICRC_BYTES);
    roce_icrc_compute(frame, &layout, result.computed);
    if (memcmp(result.found, result.computed, ICRC_BYTES) != 0)
        result.verdict = ROCE_ICRC_BAD;
    return result;
}

const char *roce_icrc_verdict_name(enum roce_icrc_verdict verdict) {
    switch (verdict) {
    case ROCE_ICRC_NOT_ROCE:
        return "not-roce";
    case ROCE_ICRC_MALFORMED:
        return "malformed";
    case ROCE_ICRC_OK:
        return "ok";
    case ROCE_ICRC_BAD:
        return "bad";
    }
    return "unknown";
}
