// SPDX-License-Identifier: BSD-2-Clause
//
// The invariant CRC with ISA-L's folded CRC-32. Only the IP, UDP and BTH
// headers are copied, to be masked; the rest is read where it lies.

#include <isa-l/crc.h>
#include <string.h>

#include "icrc.h"

// CRC-32 of the eight bytes of ones that stand for the absent LRH.
#define PREFIX_CRC 0x2144DF1CU

enum {
    UDP_BYTES = 8,
    BTH_BYTES = 12,
    ICRC_BYTES = 4,
    LONGEST_IPV4_BYTES = 60,
};

void roce_icrc_compute(const uint8_t *frame, const struct roce_layout *layout, uint8_t icrc[4]) {
    uint8_t head[LONGEST_IPV4_BYTES + UDP_BYTES + BTH_BYTES];
    const size_t udp = layout->udp - layout->ip;
    const size_t head_bytes = udp + UDP_BYTES + BTH_BYTES;
    memcpy(head, frame + layout->ip, head_bytes);
    if (layout->ip_version == 4) {
        head[1] = 0xFF;  // TOS
        head[8] = 0xFF;  // TTL
        head[10] = 0xFF; // header checksum
        head[11] = 0xFF;
    } else {
        head[0] |= 0x0F; // traffic class and flow label
        memset(head + 1, 0xFF, 3);
        head[7] = 0xFF; // hop limit
    }
    memset(head + udp + 6, 0xFF, 2);  // UDP checksum
    head[udp + UDP_BYTES + 4] = 0xFF; // FECN, BECN and six reserved bits

    const size_t body = layout->ip + head_bytes;
    uint32_t crc = crc32_gzip_refl(PREFIX_CRC, head, head_bytes);
    crc = crc32_gzip_refl(crc, frame + body, layout->end - ICRC_BYTES - body);
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
