// SPDX-License-Identifier: BSD-2-Clause
//
// A pattern holds the headers of one packet and what was found out about them. Nothing else in a
// packet of the same length decides where its parts lie. The ICRC of its headers follows
// from that of the pattern by linearity: only the bytes that may differ are looked up.

#include "packet/inspector.h"

#include <stdlib.h>
#include <string.h>

#include "packet/checksum.h"
#include "packet/native.h"

enum {
    ETHERNET_BYTES = 14,
    BTH_OVER_IPV4 = 42,
    BTH_OVER_IPV6 = 62,
    IDENT = 18, // of IPv4; the same bytes of IPv6 do not differ
    CHECKSUM = 24,
    PSN = 9,     // behind the start of the BTH
    BLOCKS = 5,  // enough for the headers
    LOOKUPS = 5, // bytes that may differ: three of the PSN, two of the IPv4 ID
    PSN_BYTES = 3,
    BEHIND_IDENT = 34, // bytes of the headers behind the ID
};

// Bytes to be compared at once.
typedef uint64_t block __attribute__((vector_size(16)));

// The frame's first bytes up to the end of the BTH; some of them twice.
struct headers {
    block blocks[BLOCKS];
};

struct pattern {
    _Alignas(64) struct headers headers;
    struct roce_packet packet;
    uint32_t head; // CRC of the headers with zeros where they may differ
    uint32_t sum;  // of IPv4 ID and checksum
};

struct roce_inspector {
    struct headers compared[2];    // over IPv4 and IPv6: ones where headers may not differ
    uint32_t lookup[LOOKUPS][256]; // what a byte adds to the CRC of the headers
    uint64_t learnt;
    unsigned int number;
    struct pattern patterns[ROCE_PATTERNS];
};

static inline block block_at(const uint8_t *at) {
    block value;
    memcpy(&value, at, sizeof value);
    return value;
}

// Where in a frame the blocks lie.
static inline const uint8_t *place_of(const uint8_t *frame, uint32_t bth, int i) {
    const uint8_t *end = frame + bth + ROCE_BTH_BYTES;
    return i < 3 ? frame + (size_t)i * sizeof(block) : end - (size_t)(BLOCKS - i) * sizeof(block);
}

static struct headers headers_of(const uint8_t *frame, uint32_t bth) {
    struct headers headers;
    for (int i = 0; i < BLOCKS; i++)
        headers.blocks[i] = block_at(place_of(frame, bth, i));
    return headers;
}

static void fill_compared(struct headers *compared, uint32_t bth) {
    uint8_t frame[BTH_OVER_IPV6 + ROCE_BTH_BYTES];
    memset(frame, 0xFF, sizeof frame);
    memset(frame + bth + PSN, 0, PSN_BYTES);
    if (bth == BTH_OVER_IPV4) {
        memset(frame + IDENT, 0, 2);
        memset(frame + CHECKSUM, 0, 2);
    }
    *compared = headers_of(frame, bth);
}

static void fill_lookup(uint32_t lookup[256], uint32_t behind) {
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
    struct roce_inspector *inspector =
        aligned_alloc(_Alignof(struct roce_inspector), sizeof *inspector);
    if (inspector == NULL)
        return NULL;
    memset(inspector, 0, sizeof *inspector);
    inspector->number = number;
    fill_compared(&inspector->compared[0], BTH_OVER_IPV4);
    fill_compared(&inspector->compared[1], BTH_OVER_IPV6);
    for (unsigned int i = 0; i < LOOKUPS; i++)
        fill_lookup(inspector->lookup[i], i < PSN_BYTES ? i : BEHIND_IDENT + i - PSN_BYTES);
    return inspector;
}

void roce_inspector_destroy(struct roce_inspector *inspector) {
    free(inspector);
}

// What the bytes that may differ add to the CRC of the headers; and those of IPv6 in their place,
// which are the same in all packets of a pattern.
static inline uint32_t added(const struct roce_inspector *inspector, const uint8_t *frame,
                             uint32_t bth) {
    const uint8_t *psn = frame + bth + PSN;
    return inspector->lookup[0][psn[2]] ^ inspector->lookup[1][psn[1]] ^
           inspector->lookup[2][psn[0]] ^ inspector->lookup[3][frame[IDENT + 1]] ^
           inspector->lookup[4][frame[IDENT]];
}

// The Internet checksum is right for both or for neither if these agree.
static inline uint32_t sum_of(const uint8_t *frame) {
    const uint32_t sum = roce_native16(frame + IDENT) + roce_native16(frame + CHECKSUM);
    const uint32_t folded = (sum & 0xFFFF) + (sum >> 16);
    return folded == 0xFFFF ? 0 : folded;
}

// What may not differ, and does.
static inline block unlike(const struct pattern *pattern, const struct headers *compared,
                           const uint8_t *frame, uint32_t bth, int i) {
    return (block_at(place_of(frame, bth, i)) ^ pattern->headers.blocks[i]) & compared->blocks[i];
}

// Without a branch for the version of IP, which would be guessed wrong where flows are mixed.
static inline bool has_headers(const struct pattern *pattern, const struct headers *compared,
                               const uint8_t *frame, uint32_t bth) {
    const block differs =
        unlike(pattern, compared, frame, bth, 0) | unlike(pattern, compared, frame, bth, 1) |
        unlike(pattern, compared, frame, bth, 2) | unlike(pattern, compared, frame, bth, 3) |
        unlike(pattern, compared, frame, bth, 4);
    return (differs[0] | differs[1] | (sum_of(frame) ^ pattern->sum)) == 0;
}

// Whether only the frame's bytes can tell it from another of its length.
static inline bool is_whole(const struct roce_record *record) {
    return record->is_ethernet && record->fcs_bytes == 0 && record->full_size == record->size;
}

static void learn(struct roce_inspector *inspector, uint32_t place,
                  const struct roce_record *record, struct roce_packet *packet, uint32_t bth) {
    if (packet->class != ROCE_V2 || packet->fault != ROCE_SOUND || packet->ip != ETHERNET_BYTES ||
        packet->bth != bth || packet->size != packet->end || packet->size != record->size ||
        !is_whole(record))
        return;
    const uint8_t *frame = packet->frame;
    struct pattern *pattern = &inspector->patterns[place];
    packet->look =
        (++inspector->learnt * ROCE_INSPECTORS + inspector->number) * ROCE_PATTERNS + place;
    pattern->packet = *packet;
    pattern->head = packet->head ^ added(inspector, frame, bth);
    pattern->sum = sum_of(frame);
    pattern->headers = headers_of(frame, bth);
}

static inline void inspect_like(const struct roce_inspector *inspector,
                                const struct pattern *pattern, const uint8_t *frame, uint32_t bth,
                                struct roce_packet *packet) {
    *packet = pattern->packet;
    packet->frame = frame;
    packet->psn = roce_u24(frame + bth + PSN);
    roce_check_icrc(packet, pattern->head ^ added(inspector, frame, bth));
}

static __attribute__((noinline)) void inspect_anew(struct roce_inspector *inspector, uint32_t bth,
                                                   uint32_t place, const struct roce_record *record,
                                                   struct roce_packet *packet) {
    roce_inspect(record, packet);
    learn(inspector, place, record, packet, bth);
}

static inline void inspect(struct roce_inspector *inspector, const struct roce_record *record,
                           struct roce_packet *packet) {
    enum { BEHIND_BTH = ROCE_BTH_BYTES + ROCE_ICRC_BYTES };
    const uint8_t *frame = record->data;
    const uint32_t size = record->size;
    const bool any = inspector != NULL && size >= BTH_OVER_IPV4 + BEHIND_BTH;
    const uint32_t six = any ? frame[12] >> 7 : 0; // of the two EtherTypes; others are not learnt
    const uint32_t bth = BTH_OVER_IPV4 + six * (BTH_OVER_IPV6 - BTH_OVER_IPV4);
    if (!any || size < bth + BEHIND_BTH) {
        roce_inspect(record, packet);
        return;
    }
    const uint8_t *at = frame + bth;
    const uint32_t place = (at[7] * 8U + at[0] * 2U + (at[8] >> 7)) % ROCE_PATTERNS;
    const struct pattern *pattern = &inspector->patterns[place];
    if (pattern->packet.bth == bth && pattern->packet.size == size && is_whole(record) &&
        has_headers(pattern, &inspector->compared[six], frame, bth))
        inspect_like(inspector, pattern, frame, bth, packet);
    else
        inspect_anew(inspector, bth, place, record, packet);
}

void roce_inspect_few(struct roce_inspector *inspector, const struct roce_record *records,
                      unsigned int count, struct roce_packet *packets) {
    for (unsigned int i = 0; i < count; i++)
        inspect(inspector, &records[i], &packets[i]);
}

void roce_inspect_next(struct roce_inspector *inspector, const struct roce_record *record,
                       struct roce_packet *packet) {
    roce_inspect_few(inspector, record, 1, packet);
}
