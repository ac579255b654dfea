// SPDX-License-Identifier: BSD-2-Clause
//
// What the parts of the capture reader share: the open capture, and how a
// format reads fields and fails.

#ifndef ROCEPROOF_CAPTURE_READER_H
#define ROCEPROOF_CAPTURE_READER_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/capture.h"
#include "capture/source.h"

enum {
    LINK_TYPE_ETHERNET = 1,
    LONGEST_RECORD_BYTES = 256 << 10,
};

// The head of each format's own state. `more` and `stop` may be NULL.
struct roce_capture {
    struct roce_source *source;
    enum roce_capture_status (*next)(struct roce_capture *, struct roce_record *);
    unsigned int (*more)(struct roce_capture *, struct roce_record *, unsigned int most); // at hand
    void (*stop)(struct roce_capture *);
    void (*free)(struct roce_capture *);
    bool big_endian;
    char error[256];
};

static inline uint16_t roce_read_u16(const uint8_t *at, bool big_endian) {
    return (uint16_t)(big_endian ? at[0] << 8 | at[1] : at[1] << 8 | at[0]);
}

static inline uint32_t roce_read_u32(const uint8_t *at, bool big_endian) {
    if (big_endian)
        return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
    return (uint32_t)at[3] << 24 | (uint32_t)at[2] << 16 | (uint32_t)at[1] << 8 | at[0];
}

// Each header tells where the next one is, so memory would be waited for every time. Packets of
// one size are common: ask for the header that stands some packets of `bytes` further on. Must be
// inlined: a call without effects would go.
__attribute__((always_inline)) static inline void roce_prefetch_header(const uint8_t *at,
                                                                       size_t bytes) {
    enum { PACKETS_AHEAD = 8 };
    __builtin_prefetch((const void *)((uintptr_t)at + PACKETS_AHEAD * bytes));
}

// End the capture with "file offset N: " and the text, or with the source's own failure.
enum roce_capture_status roce_capture_fail(struct roce_capture *capture, uint64_t offset,
                                           const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// Its name in words, or "unknown".
const char *roce_link_type_name(uint16_t link_type);

// A capture of that format on a source that stands at its first byte, if it is one. On failure
// NULL with a text in `error`; the source remains the caller's to close.
struct roce_capture *roce_capture_open_pcap(struct roce_source *source, char *error,
                                            size_t error_bytes);
struct roce_capture *roce_capture_open_pcapng(struct roce_source *source, char *error,
                                              size_t error_bytes);

#endif
