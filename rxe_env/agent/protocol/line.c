// SPDX-License-Identifier: BSD-2-Clause
#include "protocol/line.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

void line_reader_init(struct line_reader *reader, int fd, line_wait *wait, void *context) {
    reader->fd = fd;
    reader->wait = wait;
    reader->context = context;
    reader->used = 0;
    reader->consumed = 0;
}

static bool fill(struct line_reader *reader) {
    ssize_t got = 0;
    do {
        reader->wait(reader->context, reader->fd);
        got =
            read(reader->fd, reader->buffer + reader->used, sizeof(reader->buffer) - reader->used);
    } while (got < 0 && errno == EINTR);
    if (got <= 0) {
        return false;
    }
    reader->used += (size_t)got;
    return true;
}

enum line_result line_read(struct line_reader *reader, const char **line, size_t *length) {
    memmove(reader->buffer, reader->buffer + reader->consumed, reader->used - reader->consumed);
    reader->used -= reader->consumed;
    reader->consumed = 0;

    bool too_long = false;
    size_t searched = 0;
    for (;;) {
        char *end = memchr(reader->buffer + searched, '\n', reader->used - searched);
        if (end) {
            *line = reader->buffer;
            *length = (size_t)(end - reader->buffer);
            reader->consumed = *length + 1;
            return too_long ? LINE_TOO_LONG : LINE_OK;
        }
        if (reader->used == sizeof(reader->buffer)) {
            too_long = true;
            reader->used = 0;
        }
        searched = reader->used;
        if (!fill(reader)) {
            return LINE_EOF;
        }
    }
}

bool line_write(int fd, const char *text, size_t length) {
    while (length > 0) {
        ssize_t put = write(fd, text, length);
        if (put < 0 && errno == EINTR) {
            continue;
        }
        if (put <= 0) {
            return false;
        }
        text += put;
        length -= (size_t)put;
    }
    return true;
}
