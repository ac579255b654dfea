// SPDX-License-Identifier: BSD-2-Clause
//
// The memory behind a device's memory ports: 2^64 bytes, zero until written,
// in pages that come into being when they are. An access past the end of the
// address space goes on at its beginning.

#ifndef ROCEPROOF_MEMORY_H
#define ROCEPROOF_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct memory_page;

struct memory {
    struct memory_page **buckets; // chains
    size_t bucket_count;          // a power of two, or 0 before the first page
    size_t page_count;
};

// False without memory; what came before the page that failed is written.
bool memory_write(struct memory *memory, uint64_t address, const uint8_t *bytes, size_t length);
void memory_read(const struct memory *memory, uint64_t address, uint8_t *bytes, size_t length);
void memory_free(struct memory *memory);

#endif
