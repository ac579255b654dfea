// SPDX-License-Identifier: BSD-2-Clause
//
// Frames over a Unix datagram socket, one each: what QEMU calls `-netdev
// dgram`. Busy until the peer has bound its path and while it does not read. A
// peer that was there and goes away is an error.

#include "common/frame.h"
#include "link/link.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

struct dgram_link {
    struct link link;
    int fd;
    bool addressed; // `remote` must be named with each frame
    bool peer_seen;
    struct sockaddr_un local;
    struct sockaddr_un remote;
};

static enum link_result dgram_send(struct link *link, uint64_t cycle, const uint8_t *frame,
                                   size_t length, struct error *error) {
    struct dgram_link *self = (struct dgram_link *)link;
    const struct sockaddr *to = self->addressed ? (const struct sockaddr *)&self->remote : NULL;
    socklen_t to_size = self->addressed ? sizeof self->remote : 0;
    (void)cycle;
    if (sendto(self->fd, frame, length, MSG_NOSIGNAL | MSG_DONTWAIT, to, to_size) >= 0) {
        self->peer_seen = true;
        return LINK_OK;
    }
    switch (errno) {
    case EAGAIN:
    case ENOBUFS:
    case EINTR:
        return LINK_BUSY;
    case ENOENT:
    case ECONNREFUSED:
    case ECONNRESET:
    case ENOTCONN:
    case EPIPE:
        if (!self->peer_seen) {
            return LINK_BUSY;
        }
        return (enum link_result)error_set(error, "link dgram: the peer closed its socket");
    default:
        return (enum link_result)error_set(error, "link dgram: %s", strerror(errno));
    }
}

static enum link_result dgram_receive(struct link *link, uint64_t now_ns, uint8_t *frame,
                                      size_t *length, struct error *error) {
    struct dgram_link *self = (struct dgram_link *)link;
    (void)now_ns;
    for (;;) {
        ssize_t got = recv(self->fd, frame, FRAME_MAX, MSG_DONTWAIT | MSG_TRUNC);
        if (got > FRAME_MAX || got == 0) {
            self->link.dropped_in++;
            continue;
        }
        if (got > 0) {
            self->peer_seen = true;
            *length = (size_t)got;
            return LINK_OK;
        }
        if (errno == EAGAIN || errno == EWOULDBLOCK) {
            return LINK_BUSY;
        }
        if (errno == ECONNRESET) {
            return (enum link_result)error_set(error, "link dgram: the peer closed its socket");
        }
        if (errno != EINTR) {
            return (enum link_result)error_set(error, "link dgram: %s", strerror(errno));
        }
    }
}

static void dgram_close(struct link *link) {
    struct dgram_link *self = (struct dgram_link *)link;
    (void)close(self->fd);
    if (self->local.sun_path[0]) {
        (void)unlink(self->local.sun_path);
    }
    free(self);
}

static const struct link_ops dgram_ops = {
    .send = dgram_send,
    .receive = dgram_receive,
    .next_ns = link_next_unknown,
    .count = link_count_nothing,
    .close = dgram_close,
};

static bool set_path(struct sockaddr_un *address, const char *path, struct error *error) {
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address->sun_path) {
        error_set(error, "link dgram:%s: expected a path of 1..%zu bytes", path,
                  sizeof address->sun_path - 1);
        return false;
    }
    memcpy(address->sun_path, path, strlen(path) + 1);
    return true;
}

struct link *link_dgram_open(const char *local, const char *remote, struct error *error) {
    struct sockaddr_un local_address;
    struct sockaddr_un remote_address;
    if (!set_path(&local_address, local, error) || !set_path(&remote_address, remote, error)) {
        return NULL;
    }
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)&local_address, sizeof local_address) != 0) {
        error_set(error, "link dgram:%s: %s%s", local, strerror(errno),
                  errno == EADDRINUSE ? "; remove the file if nobody uses it" : "");
        if (fd >= 0) {
            (void)close(fd);
        }
        return NULL;
    }
    struct link *link = link_dgram_adopt(fd, error);
    if (!link) {
        (void)close(fd);
        (void)unlink(local);
        return NULL;
    }
    struct dgram_link *self = (struct dgram_link *)link;
    self->addressed = true;
    self->local = local_address;
    self->remote = remote_address;
    return link;
}

struct link *link_dgram_adopt(int fd, struct error *error) {
    struct dgram_link *self = calloc(1, sizeof *self);
    if (!self) {
        error_set(error, "link dgram: out of memory");
        return NULL;
    }
    self->link = (struct link){.ops = &dgram_ops, .kind = "dgram"};
    self->fd = fd;
    return &self->link;
}
