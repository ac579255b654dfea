// SPDX-License-Identifier: BSD-2-Clause
//
// Bytes far in front of others count as a short polynomial that stands in their place: the product
// of what they are and a power of x. So a row of bytes is folded onto its last 16, and these are
// reduced. All polynomials are reflected: bit 0 has the highest power.

#include "packet/crc_fold.h"

#if defined(__x86_64__)

#include <immintrin.h>

#define FOLDING __attribute__((target("avx2,pclmul,vpclmulqdq")))

enum { BLOCK = 16, PAIR = 32, ROW = 128, LINE = 64 };

// x to the power of n modulo the CRC's polynomial, for what moves by a distance of d bits: n is d +
// 32 for the lower half of a block, which comes first, and d - 32 for the upper one.
#define X96 0x0CCAA009E
#define X160 0x1751997D0
#define X224 0x15A546366
#define X288 0x0F1DA05AA
#define X992 0x14A7FE880
#define X1056 0x1E88EF372
#define X64 0x163CD6124
#define POLYNOMIAL 0x1DB710641
#define QUOTIENT 0x1F7011641 // of x to the power of 64 and the polynomial

FOLDING static inline __m128i moved(__m128i block, __m128i powers) {
    return _mm_xor_si128(_mm_clmulepi64_si128(block, powers, 0x00),
                         _mm_clmulepi64_si128(block, powers, 0x11));
}

FOLDING static inline __m256i pair_moved(__m256i pair, __m256i powers) {
    return _mm256_xor_si256(_mm256_clmulepi64_epi128(pair, powers, 0x00),
                            _mm256_clmulepi64_epi128(pair, powers, 0x11));
}

FOLDING static inline __m128i block_at(const uint8_t *at) {
    return _mm_loadu_si128((const __m128i *)(const void *)at);
}

FOLDING static inline __m256i pair_at(const uint8_t *at) {
    return _mm256_loadu_si256((const __m256i *)(const void *)at);
}

FOLDING static inline __m256i next_pair(__m256i sum, __m256i powers, const uint8_t *at) {
    return _mm256_xor_si256(pair_moved(sum, powers), pair_at(at));
}

// A pair onto its second half.
FOLDING static inline __m128i pair_folded(__m256i pair) {
    return _mm_xor_si128(moved(_mm256_castsi256_si128(pair), _mm_set_epi64x(X96, X160)),
                         _mm256_extracti128_si256(pair, 1));
}

// Folds whole rows onto a block; `first` is added to their first bytes. Four sums, since a product
// takes as long as it takes to begin four.
FOLDING static inline __m128i rows_folded(__m128i first, const uint8_t *data, const uint8_t *end,
                                          size_t ahead) {
    const __m256i by_row = _mm256_set_epi64x(X992, X1056, X992, X1056);
    const __m256i by_pair = _mm256_set_epi64x(X224, X288, X224, X288);
    __m256i a = _mm256_xor_si256(_mm256_zextsi128_si256(first), pair_at(data));
    __m256i b = pair_at(data + PAIR);
    __m256i c = pair_at(data + 2 * PAIR);
    __m256i d = pair_at(data + 3 * PAIR);
    for (data += ROW; data != end; data += ROW) {
        __builtin_prefetch((const void *)((uintptr_t)data + ahead));
        __builtin_prefetch((const void *)((uintptr_t)data + ahead + LINE));
        a = next_pair(a, by_row, data);
        b = next_pair(b, by_row, data + PAIR);
        c = next_pair(c, by_row, data + 2 * PAIR);
        d = next_pair(d, by_row, data + 3 * PAIR);
    }
    b = _mm256_xor_si256(pair_moved(a, by_pair), b);
    c = _mm256_xor_si256(pair_moved(b, by_pair), c);
    d = _mm256_xor_si256(pair_moved(c, by_pair), d);
    return pair_folded(d);
}

// The same for two pairs.
FOLDING static inline __m128i pairs_folded(__m128i first, const uint8_t *data) {
    const __m256i by_pair = _mm256_set_epi64x(X224, X288, X224, X288);
    const __m256i sum = _mm256_xor_si256(_mm256_zextsi128_si256(first), pair_at(data));
    return pair_folded(next_pair(sum, by_pair, data + PAIR));
}

// What a block and fewer than 16 bytes behind it, which end at `end`, fold to.
FOLDING static inline __m128i rest_folded(__m128i block, const uint8_t *end, size_t bytes) {
    static const uint8_t SHIFTS[3 * BLOCK] = {
        0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
        0x80, 0x80, 0x80, 0x80, 0,    1,    2,    3,    4,    5,    6,    7,
        8,    9,    10,   11,   12,   13,   14,   15,   0x80, 0x80, 0x80, 0x80,
        0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80};
    const __m128i head = _mm_shuffle_epi8(block, block_at(SHIFTS + bytes));
    const __m128i keep = block_at(SHIFTS + BLOCK + bytes);
    const __m128i tail =
        _mm_blendv_epi8(_mm_shuffle_epi8(block, keep), block_at(end - BLOCK), keep);
    return _mm_xor_si128(moved(head, _mm_set_epi64x(X96, X160)), tail);
}

// What a block leaves, divided by the CRC's polynomial.
FOLDING static inline uint32_t reduced(__m128i block) {
    const __m128i word = _mm_set_epi64x(0, 0xFFFFFFFF);
    const __m128i upper = _mm_xor_si128(_mm_clmulepi64_si128(block, _mm_set_epi64x(0, X96), 0x00),
                                        _mm_srli_si128(block, 8));
    const __m128i half = _mm_xor_si128(
        _mm_clmulepi64_si128(_mm_and_si128(upper, word), _mm_set_epi64x(0, X64), 0x00),
        _mm_srli_si128(upper, 4));
    const __m128i divisor = _mm_set_epi64x(QUOTIENT, POLYNOMIAL);
    const __m128i times = _mm_clmulepi64_si128(_mm_and_si128(half, word), divisor, 0x10);
    const __m128i product = _mm_clmulepi64_si128(_mm_and_si128(times, word), divisor, 0x00);
    return (uint32_t)_mm_extract_epi32(_mm_xor_si128(product, half), 1);
}

FOLDING uint32_t roce_crc_fold(uint32_t crc, const uint8_t *data, size_t bytes, size_t ahead) {
    const uint8_t *end = data + bytes;
    const __m128i first = _mm_cvtsi32_si128((int)~crc);
    __m128i block;
    if (bytes >= 2 * ROW) {
        const uint8_t *rest = data + bytes / ROW * ROW;
        block = rows_folded(first, data, rest, ahead);
        data = rest;
    } else {
        block = pairs_folded(first, data);
        data += 2 * PAIR;
    }
    for (; (size_t)(end - data) >= BLOCK; data += BLOCK)
        block = _mm_xor_si128(moved(block, _mm_set_epi64x(X96, X160)), block_at(data));
    if (data != end)
        block = rest_folded(block, end, (size_t)(end - data));
    return ~reduced(block);
}

#endif
