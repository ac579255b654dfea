// SPDX-License-Identifier: BSD-2-Clause
//
// The control channel over an inherited stream socket.

#include "control/control.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { READ_SIZE = 1 << 16 };

int control_open(struct control *control, const char *text, struct error *error) {
    char *end = NULL;
    *control = (struct control){.fd = -1};
    if (strncmp(text, "fd:", 3) != 0) {
        return error_set(error, "control channel: expected fd:N, got '%s'", text);
    }
    errno = 0;
    long fd = strtol(text + 3, &end, 10);
    if (errno || end == text + 3 || *end || fd < 0 || fd > 1 << 20) {
        return error_set(error, "control channel: '%s' has no file descriptor number", text);
    }
    int kind = 0;
    socklen_t size = sizeof kind;
    if (getsockopt((int)fd, SOL_SOCKET, SO_TYPE, &kind, &size) != 0 || kind != SOCK_STREAM) {
        return error_set(error, "control channel: descriptor %ld is not a stream socket", fd);
    }
    control->fd = (int)fd;
    return 0;
}

static uint32_t message_length(const struct buffer *in) {
    struct cursor c = {.data = buffer_front(in), .left = buffer_size(in)};
    return take_u32(&c);
}

static enum control_result read_some(struct control *control, bool block, struct error *error) {
    uint8_t *room = buffer_room(&control->in, READ_SIZE);
    if (!room) {
        return (enum control_result)error_set(error, "control channel: out of memory");
    }
    ssize_t got;
    do {
        got = recv(control->fd, room, READ_SIZE, block ? 0 : MSG_DONTWAIT);
    } while (got < 0 && errno == EINTR);
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
        return CONTROL_NOTHING;
    }
    if (got == 0 || (got < 0 && errno == ECONNRESET)) {
        return CONTROL_CLOSED;
    }
    if (got < 0) {
        return (enum control_result)error_set(error, "control channel: %s", strerror(errno));
    }
    buffer_grow(&control->in, (size_t)got);
    return CONTROL_MESSAGE;
}

enum control_result control_receive(struct control *control, bool block, enum message_type *type,
                                    struct cursor *body, struct error *error) {
    buffer_consume(&control->in, control->consume);
    control->consume = 0;
    for (;;) {
        if (buffer_size(&control->in) >= 4) {
            uint32_t length = message_length(&control->in);
            if (length < 1 || length > MESSAGE_LENGTH_LIMIT) {
                return (enum control_result)error_set(
                    error, "control channel: message of %u bytes, expected 1..%d", length,
                    MESSAGE_LENGTH_LIMIT);
            }
            if (buffer_size(&control->in) >= 4 + (size_t)length) {
                *type = (enum message_type)buffer_front(&control->in)[4];
                *body = (struct cursor){.data = buffer_front(&control->in) + 5, .left = length - 1};
                control->consume = 4 + (size_t)length;
                return CONTROL_MESSAGE;
            }
        }
        enum control_result result = read_some(control, block, error);
        if (result != CONTROL_MESSAGE) {
            return result;
        }
    }
}

int control_flush(struct control *control, bool block, struct error *error) {
    while (buffer_size(&control->out)) {
        ssize_t put = send(control->fd, buffer_front(&control->out), buffer_size(&control->out),
                           MSG_NOSIGNAL | (block ? 0 : MSG_DONTWAIT));
        if (put > 0) {
            buffer_consume(&control->out, (size_t)put);
        } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
            return 0;
        } else if (errno == EPIPE || errno == ECONNRESET) {
            buffer_consume(&control->out, buffer_size(&control->out));
        } else if (errno != EINTR) {
            return error_set(error, "control channel: %s", strerror(errno));
        }
    }
    return 0;
}

void control_close(struct control *control) {
    if (control->fd >= 0) {
        (void)close(control->fd);
    }
    buffer_free(&control->in);
    buffer_free(&control->out);
    control->fd = -1;
}
