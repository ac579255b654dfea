// SPDX-License-Identifier: BSD-2-Clause
//
// The mapped source: a whole file in the address space, of which only a few
// windows are resident. Each window's pages are brought in by one call, and
// given back when its last packet has been released. Bytes in memory are the
// same without pages to care for.

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture/source.h"

enum {
    WINDOW_BYTES = 16 << 20,
    STRETCH_BYTES = 64 << 10, // what a fault maps
    MOST_MARKS = 64,
};

// Packets after number `newest` lie at `offset` or behind it.
struct mark {
    uint64_t newest;
    size_t offset;
};

struct mapped {
    struct roce_source source;
    int fd;
    const uint8_t *base;
    size_t size;
    size_t page;
    size_t released; // pages below are given back
    struct mark marks[MOST_MARKS];
    size_t first_mark;
    size_t marks_kept;
};

static void keep_mark(struct mapped *mapped) {
    const struct mark mark = {
        .newest = mapped->source.newest,
        .offset = (size_t)roce_source_offset(&mapped->source),
    };
    if (mapped->marks_kept < MOST_MARKS)
        mapped->marks_kept++;
    mapped->marks[(mapped->first_mark + mapped->marks_kept - 1) % MOST_MARKS] = mark;
}

static bool is_whole(struct mapped *mapped) {
    struct stat now = {0};
    if (fstat(mapped->fd, &now) == 0 && (uint64_t)now.st_size >= mapped->size)
        return true;
    snprintf(mapped->source.error, sizeof mapped->source.error,
             "the file was cut from %zu to %" PRIu64 " bytes while it was being read", mapped->size,
             (uint64_t)now.st_size);
    return false;
}

// Asks for one page of each stretch: with it the kernel maps those around it that are in memory, in
// half the time that asking for each of them takes. Says without a signal if a page cannot be had.
static bool bring_in(struct mapped *mapped, size_t from, size_t to) {
    int failed = 0;
    for (from = from / STRETCH_BYTES * STRETCH_BYTES; from < to && !failed; from += STRETCH_BYTES)
        failed = madvise((void *)(uintptr_t)(mapped->base + from), 1, MADV_POPULATE_READ);
    if (!failed || errno == EINVAL) // older kernels know only faults
        return true;
    snprintf(mapped->source.error, sizeof mapped->source.error, "the file cannot be read: %s",
             strerror(errno));
    return false;
}

static bool fill_mapped(struct roce_source *source, size_t bytes) {
    struct mapped *mapped = (struct mapped *)source;
    const size_t ready_to = (size_t)source->end_offset;
    const size_t missing = bytes - roce_source_ready(source);
    const size_t left = mapped->size - ready_to;
    size_t step = missing > WINDOW_BYTES ? missing : WINDOW_BYTES;
    if (step > left)
        step = left;
    if (step == 0 || source->error[0] || !is_whole(mapped) ||
        !bring_in(mapped, ready_to, ready_to + step))
        return false;
    keep_mark(mapped);
    source->end += step;
    source->end_offset += step;
    source->consumed += step;
    return roce_source_ready(source) >= bytes;
}

static void release_mapped(struct roce_source *source, uint64_t number) {
    struct mapped *mapped = (struct mapped *)source;
    size_t end = mapped->released;
    while (mapped->marks_kept && mapped->marks[mapped->first_mark].newest <= number) {
        end = mapped->marks[mapped->first_mark].offset;
        mapped->first_mark = (mapped->first_mark + 1) % MOST_MARKS;
        mapped->marks_kept--;
    }
    end = end / mapped->page * mapped->page;
    if (end > mapped->released) {
        madvise((void *)(uintptr_t)(mapped->base + mapped->released), end - mapped->released,
                MADV_DONTNEED);
        mapped->released = end;
    }
}

static void close_mapped(struct roce_source *source) {
    struct mapped *mapped = (struct mapped *)source;
    munmap((void *)(uintptr_t)mapped->base, mapped->size);
    close(mapped->fd);
    free(mapped);
}

struct roce_source *roce_source_mapped(int fd, uint64_t size, char *error, size_t error_bytes) {
    static const struct roce_source_kind kind = {fill_mapped, release_mapped, close_mapped};
    struct mapped *mapped = calloc(1, sizeof *mapped);
    void *base = MAP_FAILED;
    if (mapped && size <= SIZE_MAX)
        base = mmap(NULL, (size_t)size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (base == MAP_FAILED) {
        snprintf(error, error_bytes, "cannot be mapped: %s", strerror(errno));
        free(mapped);
        close(fd);
        return NULL;
    }
    madvise(base, (size_t)size, MADV_SEQUENTIAL);
    mapped->source = (struct roce_source){.kind = &kind, .at = base, .end = base, .total = size};
    mapped->fd = fd;
    mapped->base = base;
    mapped->size = (size_t)size;
    mapped->page = (size_t)sysconf(_SC_PAGESIZE);
    return &mapped->source;
}

static bool fill_memory(struct roce_source *source, size_t bytes) {
    (void)source;
    (void)bytes;
    return false;
}

static void release_memory(struct roce_source *source, uint64_t number) {
    (void)source;
    (void)number;
}

static void close_memory(struct roce_source *source) {
    free(source);
}

struct roce_source *roce_source_memory(const uint8_t *bytes, size_t size) {
    static const struct roce_source_kind kind = {fill_memory, release_memory, close_memory};
    struct roce_source *source = calloc(1, sizeof *source);
    if (source)
        *source = (struct roce_source){
            .kind = &kind,
            .at = bytes,
            .end = bytes + size,
            .end_offset = size,
            .consumed = size,
            .total = size,
        };
    return source;
}
