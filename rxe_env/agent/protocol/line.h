// SPDX-License-Identifier: BSD-2-Clause
//
// Lines over a file descriptor: a reader that never holds more than one
// bounded line, and a writer that writes all of it.
#ifndef ROCEPROOF_AGENT_LINE_H
#define ROCEPROOF_AGENT_LINE_H

#include <stdbool.h>
#include <stddef.h>

enum { LINE_MAX_BYTES = 256 * 1024 };

enum line_result {
    LINE_OK,
    LINE_TOO_LONG, // the line was skipped up to its end
    LINE_EOF,
};

// Called before every read, which may take long.
typedef void line_wait(void *context, int fd);

struct line_reader {
    int fd;
    line_wait *wait;
    void *context;
    size_t used;     // bytes in `buffer`
    size_t consumed; // of which belong to the line handed out last
    char buffer[LINE_MAX_BYTES];
};

void line_reader_init(struct line_reader *reader, int fd, line_wait *wait, void *context);

// The line, without its newline, is valid until the next call.
enum line_result line_read(struct line_reader *reader, const char **line, size_t *length);

// False when the other side has gone away.
bool line_write(int fd, const char *text, size_t length);

#endif
