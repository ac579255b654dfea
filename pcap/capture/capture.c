// SPDX-License-Identifier: BSD-2-Clause
//
// Finds out what a capture is and where it comes from; the format's own file
// does the rest.

#include "capture/capture.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture/reader.h"

enum { MAGIC_BYTES = 4 };

// What a first word says about files that are something else.
static const char *foreign_name(uint32_t magic) {
    static const struct {
        uint32_t mask;
        uint32_t magic;
        const char *name;
    } names[] = {
        {0xFFFFFFFF, 0x28B52FFD, "compressed with zstd; decompress it first"},
        {0xFFFFFFFF, 0x04224D18, "compressed with lz4; decompress it first"},
        {0xFFFFFFFF, 0xFD377A58, "compressed with xz; decompress it first"},
        {0xFFFFFF00, 0x425A6800, "compressed with bzip2; decompress it first"},
        {0xFFFFFFFF, 0x504B0304, "a zip archive; unpack it first"},
        {0xFFFFFFFF, 0xA1B2CD34, "a pcap file of the patched kind; convert it with editcap"},
        {0xFFFFFFFF, 0x34CDB2A1, "a pcap file of the patched kind; convert it with editcap"},
        {0xFFFFFFFF, 0x736E6F6F, "a snoop capture; convert it with editcap"},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if ((magic & names[i].mask) == names[i].magic)
            return names[i].name;
    return NULL;
}

static struct roce_capture *open_format(struct roce_source *source, char *error,
                                        size_t error_bytes) {
    if (!roce_source_has(source, MAGIC_BYTES)) {
        const size_t bytes = roce_source_ready(source);
        if (source->error[0])
            snprintf(error, error_bytes, "%s", source->error);
        else if (bytes == 0)
            snprintf(error, error_bytes, "is empty");
        else
            snprintf(error, error_bytes, "not a capture: %zu bytes are none", bytes);
        return NULL;
    }
    const uint32_t magic = roce_read_u32(source->at, true);
    switch (magic) {
    case 0xA1B2C3D4:
    case 0xD4C3B2A1:
    case 0xA1B23C4D:
    case 0x4D3CB2A1:
        return roce_capture_open_pcap(source, error, error_bytes);
    case 0x0A0D0D0A:
        return roce_capture_open_pcapng(source, error, error_bytes);
    default:
        break;
    }
    const char *name = foreign_name(magic);
    if (name)
        snprintf(error, error_bytes, "%s", name);
    else
        snprintf(error, error_bytes,
                 "not a capture: starts with 0x%08" PRIX32 ", not like pcap or pcapng", magic);
    return NULL;
}

static struct roce_capture *open_source(struct roce_source *source, char *error,
                                        size_t error_bytes) {
    struct roce_capture *capture = open_format(source, error, error_bytes);
    if (!capture)
        source->kind->close(source);
    return capture;
}

static struct roce_source *source_of(int fd, char *error, size_t error_bytes) {
    struct stat status;
    uint64_t size = 0;
    if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode))
        size = (uint64_t)status.st_size;
    uint8_t start[2];
    const bool is_gzip = size > 2 && pread(fd, start, sizeof start, 0) == sizeof start &&
                         start[0] == 0x1F && start[1] == 0x8B;
    if (size > 0 && !is_gzip && lseek(fd, 0, SEEK_CUR) == 0)
        return roce_source_mapped(fd, size, error, error_bytes);
    return roce_source_stream(fd, size, error, error_bytes);
}

struct roce_capture *roce_capture_open(const char *path, char *error, size_t error_bytes) {
    const int fd = strcmp(path, "-") == 0 ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        snprintf(error, error_bytes, "cannot be opened: %s", strerror(errno));
        return NULL;
    }
    struct roce_source *source = source_of(fd, error, error_bytes);
    return source ? open_source(source, error, error_bytes) : NULL;
}

struct roce_capture *roce_capture_open_memory(const uint8_t *bytes, size_t size, char *error,
                                              size_t error_bytes) {
    struct roce_source *source = roce_source_memory(bytes, size);
    if (!source) {
        snprintf(error, error_bytes, "out of memory");
        return NULL;
    }
    return open_source(source, error, error_bytes);
}

enum roce_capture_status roce_capture_next(struct roce_capture *capture,
                                           struct roce_record *record) {
    return capture->error[0] ? ROCE_CAPTURE_ERROR : capture->next(capture, record);
}

enum roce_capture_status roce_capture_next_few(struct roce_capture *capture,
                                               struct roce_record *records, unsigned int most,
                                               unsigned int *count) {
    const enum roce_capture_status status = roce_capture_next(capture, records);
    *count = status == ROCE_CAPTURE_PACKET;
    if (*count != 0 && capture->more != NULL)
        *count += capture->more(capture, records + 1, most - 1);
    return status;
}

void roce_capture_release(struct roce_capture *capture, uint64_t number) {
    capture->source->kind->release(capture->source, number);
}

void roce_capture_position(const struct roce_capture *capture, uint64_t *consumed,
                           uint64_t *total) {
    *consumed = capture->source->consumed;
    *total = capture->source->total;
}

void roce_capture_stop(struct roce_capture *capture) {
    if (capture->stop)
        capture->stop(capture);
}

const char *roce_capture_error(const struct roce_capture *capture) {
    return capture->error;
}

void roce_capture_close(struct roce_capture *capture) {
    capture->source->kind->close(capture->source);
    capture->free(capture);
}
