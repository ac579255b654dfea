// SPDX-License-Identifier: BSD-2-Clause
//
// Pages in a hash table that doubles when it has as many pages as buckets.

#include "port/memory.h"

#include <stdlib.h>
#include <string.h>

enum {
    PAGE_BITS = 12,
    PAGE_BYTES = 1 << PAGE_BITS,
    FIRST_BUCKETS = 64,
};

struct memory_page {
    struct memory_page *next;
    uint64_t number;
    uint8_t bytes[PAGE_BYTES];
};

static size_t bucket_of(uint64_t number, size_t buckets) {
    return (size_t)(number * UINT64_C(0x9E3779B97F4A7C15) >> 32) & (buckets - 1);
}

static struct memory_page *find(const struct memory *memory, uint64_t number) {
    if (memory->bucket_count == 0) {
        return NULL;
    }
    struct memory_page *page = memory->buckets[bucket_of(number, memory->bucket_count)];
    while (page && page->number != number) {
        page = page->next;
    }
    return page;
}

static bool grow(struct memory *memory) {
    size_t count = memory->bucket_count ? 2 * memory->bucket_count : FIRST_BUCKETS;
    struct memory_page **buckets = calloc(count, sizeof *buckets);
    if (!buckets) {
        return false;
    }
    for (size_t i = 0; i < memory->bucket_count; i++) {
        for (struct memory_page *page = memory->buckets[i], *next; page; page = next) {
            struct memory_page **place = &buckets[bucket_of(page->number, count)];
            next = page->next;
            page->next = *place;
            *place = page;
        }
    }
    free(memory->buckets);
    memory->buckets = buckets;
    memory->bucket_count = count;
    return true;
}

static struct memory_page *add(struct memory *memory, uint64_t number) {
    if (memory->page_count == memory->bucket_count && !grow(memory)) {
        return NULL;
    }
    struct memory_page *page = calloc(1, sizeof *page);
    if (page) {
        struct memory_page **place = &memory->buckets[bucket_of(number, memory->bucket_count)];
        page->number = number;
        page->next = *place;
        *place = page;
        memory->page_count++;
    }
    return page;
}

static size_t within_page(uint64_t address, size_t length) {
    size_t left = PAGE_BYTES - (size_t)(address % PAGE_BYTES);
    return length < left ? length : left;
}

bool memory_write(struct memory *memory, uint64_t address, const uint8_t *bytes, size_t length) {
    for (size_t size; length; address += size, bytes += size, length -= size) {
        uint64_t number = address >> PAGE_BITS;
        struct memory_page *page = find(memory, number);
        size = within_page(address, length);
        if (!page && !(page = add(memory, number))) {
            return false;
        }
        memcpy(page->bytes + address % PAGE_BYTES, bytes, size);
    }
    return true;
}

void memory_read(const struct memory *memory, uint64_t address, uint8_t *bytes, size_t length) {
    for (size_t size; length; address += size, bytes += size, length -= size) {
        const struct memory_page *page = find(memory, address >> PAGE_BITS);
        size = within_page(address, length);
        if (page) {
            memcpy(bytes, page->bytes + address % PAGE_BYTES, size);
        } else {
            memset(bytes, 0, size);
        }
    }
}

void memory_free(struct memory *memory) {
    for (size_t i = 0; i < memory->bucket_count; i++) {
        for (struct memory_page *page = memory->buckets[i], *next; page; page = next) {
            next = page->next;
            free(page);
        }
    }
    free(memory->buckets);
    *memory = (struct memory){0};
}
