// SPDX-License-Identifier: BSD-2-Clause
//
// Where a capture's bytes come from, seen as a window on them that moves
// forward. A format reader asks for as many bytes as it needs in one piece and
// never learns whether they are mapped, read from a pipe or inflated.

#ifndef ROCEPROOF_CAPTURE_SOURCE_H
#define ROCEPROOF_CAPTURE_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct roce_source;

struct roce_source_kind {
    // Bring at least `bytes` bytes behind `at` into one piece; false if there are not as many.
    // May move `at`; all bytes handed out before stay where they are.
    bool (*fill)(struct roce_source *source, size_t bytes);
    void (*release)(struct roce_source *source, uint64_t number);
    void (*close)(struct roce_source *source);
};

struct roce_source {
    const struct roce_source_kind *kind;
    const uint8_t *at;   // the next byte
    const uint8_t *end;  // behind the last byte that lies ready
    uint64_t end_offset; // of `end` in the capture, after decompression
    uint64_t consumed;   // bytes of the input before `end`, before decompression
    uint64_t total;      // bytes of the input, 0 if unknown
    uint64_t newest;     // number of the newest packet handed out, kept by the reader
    char error[160];     // why `fill` failed, empty at the end of the input
};

static inline size_t roce_source_ready(const struct roce_source *source) {
    return (size_t)(source->end - source->at);
}

static inline bool roce_source_has(struct roce_source *source, size_t bytes) {
    return roce_source_ready(source) >= bytes || source->kind->fill(source, bytes);
}

static inline uint64_t roce_source_offset(const struct roce_source *source) {
    return source->end_offset - roce_source_ready(source);
}

// A regular file of `size` bytes, mapped. Takes over `fd`, also on failure, which returns NULL
// with one line in `error`.
struct roce_source *roce_source_mapped(int fd, uint64_t size, char *error, size_t error_bytes);

// Anything that can be read, plain or gzip; `size` is 0 if unknown. As above.
struct roce_source *roce_source_stream(int fd, uint64_t size, char *error, size_t error_bytes);

// Bytes that outlive the source; NULL without memory.
struct roce_source *roce_source_memory(const uint8_t *bytes, size_t size);

#endif
