// SPDX-License-Identifier: BSD-2-Clause
//
// A pattern holds the headers of one packet and what was found out about them. Nothing else in a
// packet of the same length decides where its parts lie. The ICRC of its headers follows
// from that of the pattern by linearity: only the bytes that may differ are looked up.

#include "inspector.h"

#include <stdlib.h>

#include "checksum.h"
#include "native.h"

enum {
    ETHERNET_BYTES = 14,
    BTH_OVER_IPV4 = 42,
    BTH_OVER_IPV6 = 62,
    IDENT = 18,
    CHECKSUM = 24,
    WORDS = 10,
    LOOKUPS = 5, // bytes that may differ: three of the PSN, two of the IPv4 ID
    PSN_BYTES = 3,
    BEHIND_IDENT = 34, // bytes of the headers behind the ID
};

struct pattern {
    uint64_t words[WORDS]; // the frame's first bytes up to the end of the BTH
    uint32_t head;         // of the headers with zeros where they may differ
    uint32_t sum;          // of IPv4 ID and checksum
    struct roce_packet packet;
};

struct roce_inspector {
    uint32_t lookup[LOOKUPS][256]; // what a byte adds to the CRC of the headers
    uint64_t learnt;
    unsigned int number;
    struct pattern patterns[ROCE_PATTERNS];
};

static void fill_lookup(uint32_t lookup[256], size_t behind) {
    static const uint8_t NOTHING = 0;
    lookup[0] = 0;
    for (unsigned int bit = 1; bit < 256; bit <<= 1) {
        const uint8_t byte = (uint8_t)bit;
        lookup[bit] = roce_crc_shift(roce_crc(0, &byte, 1) ^ roce_crc(0, &NOTHING, 1), behind);
        for (unsigned int below = 1; below < bit; below++)
            lookup[bit + below] = lookup[bit] ^ lookup[below];
    }
}

struct roce_inspector *roce_inspector_create(unsigned int number) {
    struct roce_inspector *inspector = calloc(1, sizeof *inspector);
    if (inspector == NULL)
        return NULL;
    inspector->number = number;
    for (unsigned int i = 0; i < LOOKUPS; i++)
        fill_lookup(inspector->lookup[i], i < PSN_BYTES ? i : BEHIND_IDENT + i - PSN_BYTES);
    return inspector;
}

void roce_inspector_destroy(struct roce_inspector *inspector) {
    free(inspector);
}

// What the bytes that may differ add to the CRC of the headers.
static inline uint32_t added(const struct roce_inspector *inspector, const uint8_t *frame,
                             uint32_t bth) {
    const uint8_t *psn = frame + bth + 9;
    const uint32_t sum =
        inspector->lookup[0][psn[2]] ^ inspector->lookup[1][psn[1]] ^ inspector->lookup[2][psn[0]];
    if (bth != BTH_OVER_IPV4)
        return sum;
    return sum ^ inspector->lookup[3][frame[IDENT + 1]] ^ inspector->lookup[4][frame[IDENT]];
}

// The Internet checksum is right for both or for neither if these agree.
static inline uint32_t sum_of(const uint8_t *frame) {
    const uint32_t sum = roce_native16(frame + IDENT) + roce_native16(frame + CHECKSUM);
    const uint32_t folded = (sum & 0xFFFF) + (sum >> 16);
    return folded == 0xFFFF ? 0 : folded;
}

static inline bool has_headers(const struct pattern *pattern, const uint8_t *frame, uint32_t bth) {
    const uint64_t no_psn = roce_native64((const uint8_t[8]){255, 255, 255, 255, 255, 0, 0, 0});
    const uint64_t *words = pattern->words;
    uint64_t differs = (roce_native64(frame) ^ words[0]) | (roce_native64(frame + 8) ^ words[1]) |
                       (roce_native64(frame + 32) ^ words[4]) |
                       (roce_native64(frame + 40) ^ words[5]) |
                       ((roce_native64(frame + bth + 4) ^ words[6]) & no_psn);
    if (bth == BTH_OVER_IPV4) {
        const uint64_t no_ident =
            roce_native64((const uint8_t[8]){255, 255, 0, 0, 255, 255, 255, 255});
        const uint64_t no_sum =
            roce_native64((const uint8_t[8]){0, 0, 255, 255, 255, 255, 255, 255});
        differs |= ((roce_native64(frame + 16) ^ words[2]) & no_ident) |
                   ((roce_native64(frame + 24) ^ words[3]) & no_sum) |
                   (uint64_t)(sum_of(frame) ^ pattern->sum);
    } else {
        differs |= (roce_native64(frame + 16) ^ words[2]) | (roce_native64(frame + 24) ^ words[3]) |
                   (roce_native64(frame + 48) ^ words[7]) | (roce_native64(frame + 56) ^ words[8]) |
                   (roce_native64(frame + 58) ^ words[9]);
    }
    return differs == 0;
}

// Whether only the frame's bytes can tell it from another of its length.
static inline bool is_whole(const struct roce_record *record) {
    return record->is_ethernet && record->fcs_bytes == 0 && record->full_size == record->size;
}

static void learn(struct roce_inspector *inspector, struct pattern *pattern, uint32_t place,
                  const struct roce_record *record, struct roce_packet *packet, uint32_t bth) {
    if (packet->class != ROCE_V2 || packet->fault != ROCE_SOUND || packet->ip != ETHERNET_BYTES ||
        packet->bth != bth || packet->size != packet->end || packet->size != record->size ||
        !is_whole(record))
        return;
    const uint8_t *frame = packet->frame;
    packet->look =
        (++inspector->learnt * ROCE_INSPECTORS + inspector->number) * ROCE_PATTERNS + place;
    pattern->packet = *packet;
    pattern->head = packet->head ^ added(inspector, frame, bth);
    pattern->sum = sum_of(frame);
    for (uint32_t i = 0; i < 6; i++)
        pattern->words[i] = roce_native64(frame + 8 * (size_t)i);
    pattern->words[6] = roce_native64(frame + bth + 4);
    if (bth == BTH_OVER_IPV4)
        return;
    pattern->words[7] = roce_native64(frame + 48);
    pattern->words[8] = roce_native64(frame + 56);
    pattern->words[9] = roce_native64(frame + 58);
}

static inline void inspect_like(const struct roce_inspector *inspector,
                                const struct pattern *pattern, const uint8_t *frame, uint32_t bth,
                                struct roce_packet *packet) {
    *packet = pattern->packet;
    packet->frame = frame;
    packet->psn = roce_u24(frame + bth + 9);
    roce_check_icrc(packet, pattern->head ^ added(inspector, frame, bth));
}

void roce_inspect_next(struct roce_inspector *inspector, const struct roce_record *record,
                       struct roce_packet *packet) {
    const uint8_t *frame = record->data;
    const uint32_t size = record->size;
    const uint32_t bth = size > ETHERNET_BYTES && frame[12] == 0x86 ? BTH_OVER_IPV6 : BTH_OVER_IPV4;
    if (inspector == NULL || size < bth + ROCE_BTH_BYTES + ROCE_ICRC_BYTES) {
        roce_inspect(record, packet);
        return;
    }
    const uint8_t *at = frame + bth;
    const uint32_t place = (at[7] * 8U + at[0] * 2U + (at[8] >> 7)) % ROCE_PATTERNS;
    struct pattern *pattern = &inspector->patterns[place];
    if (pattern->packet.bth == bth && pattern->packet.size == size && is_whole(record) &&
        has_headers(pattern, frame, bth)) {
        inspect_like(inspector, pattern, frame, bth, packet);
        return;
    }
    roce_inspect(record, packet);
    learn(inspector, pattern, place, record, packet, bth);
}
