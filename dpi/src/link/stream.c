// SPDX-License-Identifier: BSD-2-Clause
//
// Frames over a Unix stream socket, each behind its length as four bytes, most
// significant first: what QEMU calls `-netdev stream`. Loses nothing: busy
// until the peer has connected and while it does not read. A peer that goes
// away is an error.

#include "common/buffer.h"
#include "common/frame.h"
#include "link/link.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { READ_SIZE = 1 << 16 };

struct stream_link {
    struct link link;
    int listener; // -1: none
    int fd;       // -1: the peer has not connected yet
    struct buffer in;
    struct buffer out; // the rest of a frame that did not fit
    char path[sizeof((struct sockaddr_un *)0)->sun_path];
};

static enum link_result peer_gone(struct error *error) {
    return (enum link_result)error_set(error, "link socket: the peer closed the connection");
}

// True with a peer.
static bool connected(struct stream_link *self) {
    if (self->fd < 0) {
        self->fd = accept4(self->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    }
    return self->fd >= 0;
}

static enum link_result flush(struct stream_link *self, struct error *error) {
    while (buffer_size(&self->out)) {
        ssize_t put = send(self->fd, buffer_front(&self->out), buffer_size(&self->out),
                           MSG_NOSIGNAL | MSG_DONTWAIT);
        if (put > 0) {
            buffer_consume(&self->out, (size_t)put);
        } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
            return LINK_BUSY;
        } else if (errno == EPIPE || errno == ECONNRESET) {
            return peer_gone(error);
        } else if (errno != EINTR) {
            return (enum link_result)error_set(error, "link socket: %s", strerror(errno));
        }
    }
    return LINK_OK;
}

static enum link_result stream_send(struct link *link, uint64_t cycle, const uint8_t *frame,
                                    size_t length, struct error *error) {
    struct stream_link *self = (struct stream_link *)link;
    const uint8_t header[4] = {(uint8_t)(length >> 24), (uint8_t)(length >> 16),
                               (uint8_t)(length >> 8), (uint8_t)length};
    (void)cycle;
    if (!connected(self)) {
        return LINK_BUSY;
    }
    enum link_result result = flush(self, error);
    if (result != LINK_OK) {
        return result;
    }
    if (!buffer_append(&self->out, header, sizeof header) ||
        !buffer_append(&self->out, frame, length)) {
        return (enum link_result)error_set(error, "link socket: out of memory");
    }
    return flush(self, error) == LINK_FAILED ? LINK_FAILED : LINK_OK;
}

// Copies the next whole frame out of the input buffer.
static enum link_result parse(struct stream_link *self, uint8_t *frame, size_t *length,
                              struct error *error) {
    const uint8_t *front = buffer_front(&self->in);
    if (buffer_size(&self->in) < 4) {
        return LINK_BUSY;
    }
    uint32_t size =
        (uint32_t)front[0] << 24 | (uint32_t)front[1] << 16 | (uint32_t)front[2] << 8 | front[3];
    if (size < 1 || size > FRAME_MAX) {
        return (enum link_result)error_set(
            error, "link socket: the peer sent a frame of %u bytes, expected 1..%d", size,
            FRAME_MAX);
    }
    if (buffer_size(&self->in) < 4 + (size_t)size) {
        return LINK_BUSY;
    }
    memcpy(frame, front + 4, size);
    *length = size;
    buffer_consume(&self->in, 4 + (size_t)size);
    return LINK_OK;
}

static enum link_result stream_receive(struct link *link, uint64_t now_ns, uint8_t *frame,
                                       size_t *length, struct error *error) {
    struct stream_link *self = (struct stream_link *)link;
    (void)now_ns;
    if (!connected(self)) {
        return LINK_BUSY;
    }
    if (flush(self, error) == LINK_FAILED) {
        return LINK_FAILED;
    }
    for (;;) {
        enum link_result result = parse(self, frame, length, error);
        if (result != LINK_BUSY) {
            return result;
        }
        uint8_t *room = buffer_room(&self->in, READ_SIZE);
        if (!room) {
            return (enum link_result)error_set(error, "link socket: out of memory");
        }
        ssize_t got = recv(self->fd, room, READ_SIZE, MSG_DONTWAIT);
        if (got > 0) {
            buffer_grow(&self->in, (size_t)got);
        } else if (got == 0 || errno == ECONNRESET) {
            return peer_gone(error);
        } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
            return LINK_BUSY;
        } else if (errno != EINTR) {
            return (enum link_result)error_set(error, "link socket: %s", strerror(errno));
        }
    }
}

static void stream_close(struct link *link) {
    struct stream_link *self = (struct stream_link *)link;
    if (self->fd >= 0) {
        (void)close(self->fd);
    }
    if (self->listener >= 0) {
        (void)close(self->listener);
        (void)unlink(self->path);
    }
    buffer_free(&self->in);
    buffer_free(&self->out);
    free(self);
}

static const struct link_ops stream_ops = {
    .send = stream_send,
    .receive = stream_receive,
    .next_ns = link_next_unknown,
    .count = link_count_nothing,
    .close = stream_close,
};

static struct stream_link *new_link(struct error *error) {
    struct stream_link *self = calloc(1, sizeof *self);
    if (!self) {
        error_set(error, "link socket: out of memory");
        return NULL;
    }
    self->link = (struct link){.ops = &stream_ops, .kind = "socket"};
    self->fd = -1;
    self->listener = -1;
    return self;
}

static int unix_socket(const char *path, struct sockaddr_un *address, struct error *error) {
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    if (!path[0] || strlen(path) >= sizeof address->sun_path) {
        return error_set(error, "link socket:%s: expected a path of 1..%zu bytes", path,
                         sizeof address->sun_path - 1);
    }
    memcpy(address->sun_path, path, strlen(path) + 1);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    return fd >= 0 ? fd : error_set(error, "link socket:%s: %s", path, strerror(errno));
}

struct link *link_stream_connect(const char *path, struct error *error) {
    struct sockaddr_un address;
    int fd = unix_socket(path, &address, error);
    if (fd < 0) {
        return NULL;
    }
    if (connect(fd, (struct sockaddr *)&address, sizeof address) != 0) {
        error_set(error, "link socket:%s: %s; start the peer that listens there first", path,
                  strerror(errno));
        (void)close(fd);
        return NULL;
    }
    struct link *link = link_stream_adopt(fd, error);
    if (!link) {
        (void)close(fd);
    }
    return link;
}

struct link *link_stream_listen(const char *path, struct error *error) {
    struct sockaddr_un address;
    int fd = unix_socket(path, &address, error);
    if (fd < 0) {
        return NULL;
    }
    if (bind(fd, (struct sockaddr *)&address, sizeof address) != 0 || listen(fd, 1) != 0) {
        error_set(error, "link socket-listen:%s: %s%s", path, strerror(errno),
                  errno == EADDRINUSE ? "; remove the file if nobody listens there" : "");
        (void)close(fd);
        return NULL;
    }
    struct stream_link *self = new_link(error);
    if (!self || fcntl(fd, F_SETFL, O_NONBLOCK) != 0) {
        error_set(error, "link socket-listen:%s: %s", path, strerror(errno));
        (void)close(fd);
        (void)unlink(path);
        free(self);
        return NULL;
    }
    memcpy(self->path, address.sun_path, sizeof self->path);
    self->listener = fd;
    return &self->link;
}

struct link *link_stream_adopt(int fd, struct error *error) {
    struct stream_link *self = new_link(error);
    if (!self) {
        return NULL;
    }
    self->fd = fd;
    return &self->link;
}
