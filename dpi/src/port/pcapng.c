// SPDX-License-Identifier: BSD-2-Clause
//
// Writing pcapng: section header, interface description and enhanced packet
// blocks, little-endian.

#include "port/pcapng.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
    BLOCK_INTERFACE = 1,
    BLOCK_PACKET = 6,
    BLOCK_SECTION = 0x0A0D0D0A,
    BYTE_ORDER_MAGIC = 0x1A2B3C4D,
    LINKTYPE_ETHERNET = 1,
    OPTION_COMMENT = 1,
    OPTION_IF_NAME = 2,
    OPTION_IF_DESCRIPTION = 3,
    OPTION_IF_TSRESOL = 9,
    OPTION_EPB_FLAGS = 2,
    OPTION_SHB_USERAPPL = 4,
    NANOSECONDS = 9,
};

static const uint32_t flag_crc_error = 1u << 24;

static bool put(struct pcapng *file, const void *bytes, size_t size) {
    static const uint8_t zeros[3];
    return buffer_append(&file->block, bytes, size) &&
           buffer_append(&file->block, zeros, (4 - size % 4) % 4);
}

static bool put_u32(struct pcapng *file, uint32_t value) {
    uint8_t bytes[4] = {(uint8_t)value, (uint8_t)(value >> 8), (uint8_t)(value >> 16),
                        (uint8_t)(value >> 24)};
    return put(file, bytes, sizeof bytes);
}

static bool put_option(struct pcapng *file, unsigned code, const void *value, size_t size) {
    if (size > UINT16_MAX) {
        size = UINT16_MAX;
    }
    return put_u32(file, code | (uint32_t)size << 16) && put(file, value, size);
}

static bool begin(struct pcapng *file, uint32_t type) {
    buffer_consume(&file->block, buffer_size(&file->block));
    return put_u32(file, type) && put_u32(file, 0);
}

// Fills in both length fields and writes the block whole.
static int end(struct pcapng *file, bool complete, struct error *error) {
    uint32_t size = (uint32_t)buffer_size(&file->block) + 4;
    if (!complete || !put_u32(file, size)) {
        return error_set(error, "capture %s: out of memory", file->path);
    }
    uint8_t *block = buffer_front(&file->block);
    memcpy(block + 4, block + size - 4, 4);
    ssize_t put = write(file->fd, block, size);
    if (put < 0) {
        return error_set(error, "capture %s: %s", file->path, strerror(errno));
    }
    if ((uint32_t)put != size) {
        // What is there stays readable. A capture that is no file has no length to restore.
        (void)!ftruncate(file->fd, lseek(file->fd, 0, SEEK_CUR) - put);
        return error_set(error, "capture %s: no space left for a whole block", file->path);
    }
    return 0;
}

int pcapng_open(struct pcapng *file, const char *path, const char *comment, struct error *error) {
    *file = (struct pcapng){.fd = -1};
    if (snprintf(file->path, sizeof file->path, "%s", path) >= (int)sizeof file->path) {
        return error_set(error, "capture %s: path too long", path);
    }
    file->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (file->fd < 0) {
        return error_set(error, "capture %s: %s", path, strerror(errno));
    }
    static const char application[] = "roceproof";
    bool ok = begin(file, BLOCK_SECTION) && put_u32(file, BYTE_ORDER_MAGIC) &&
              put_u32(file, 1) &&                                     // version 1.0
              put_u32(file, UINT32_MAX) && put_u32(file, UINT32_MAX); // section length unknown
    ok = ok && put_option(file, OPTION_COMMENT, comment, strlen(comment)) &&
         put_option(file, OPTION_SHB_USERAPPL, application, sizeof application - 1) &&
         put_u32(file, 0);
    return end(file, ok, error);
}

int pcapng_interface(struct pcapng *file, const char *name, const char *description,
                     struct error *error) {
    static const uint8_t resolution = NANOSECONDS;
    bool ok = begin(file, BLOCK_INTERFACE) && put_u32(file, LINKTYPE_ETHERNET) &&
              put_u32(file, 0) && // no snap length
              put_option(file, OPTION_IF_NAME, name, strlen(name)) &&
              put_option(file, OPTION_IF_DESCRIPTION, description, strlen(description)) &&
              put_option(file, OPTION_IF_TSRESOL, &resolution, 1) && put_u32(file, 0);
    file->interfaces++;
    return end(file, ok, error);
}

int pcapng_packet(struct pcapng *file, unsigned interface, enum pcapng_direction direction,
                  bool discard, uint64_t time_ns, const uint8_t *frame, size_t length,
                  const char *comment, struct error *error) {
    uint32_t word = (uint32_t)direction | (discard ? flag_crc_error : 0);
    uint8_t flags[4] = {(uint8_t)word, (uint8_t)(word >> 8), (uint8_t)(word >> 16),
                        (uint8_t)(word >> 24)};
    bool ok = begin(file, BLOCK_PACKET) && put_u32(file, interface) &&
              put_u32(file, (uint32_t)(time_ns >> 32)) && put_u32(file, (uint32_t)time_ns) &&
              put_u32(file, (uint32_t)length) && put_u32(file, (uint32_t)length) &&
              put(file, frame, length) &&
              (!*comment || put_option(file, OPTION_COMMENT, comment, strlen(comment))) &&
              put_option(file, OPTION_EPB_FLAGS, flags, sizeof flags) && put_u32(file, 0);
    return end(file, ok, error);
}

void pcapng_close(struct pcapng *file) {
    if (file->fd >= 0) {
        (void)close(file->fd);
    }
    buffer_free(&file->block);
    file->fd = -1;
}
