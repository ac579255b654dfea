// SPDX-License-Identifier: BSD-2-Clause
//
// A TAP device that the user prepared and owns. Never creates one and needs no
// privilege; what is missing is said with the command that mends it. Frames
// the kernel could not queue for us or take from us count as dropped.

#include "common/frame.h"
#include "link/link.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

struct tap {
    struct link link;
    int fd;
    uint64_t oversized;
    uint64_t kernel_base; // the device's drops before we came
    char name[IFNAMSIZ];
};

// Frames the kernel dropped because nobody read them in time.
static uint64_t kernel_drops(const char *name) {
    char path[64 + IFNAMSIZ];
    char text[32] = "";
    (void)snprintf(path, sizeof path, "/sys/class/net/%s/statistics/tx_dropped", name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return 0;
    }
    ssize_t got = read(fd, text, sizeof text - 1);
    (void)close(fd);
    return got > 0 ? strtoull(text, NULL, 10) : 0;
}

static enum link_result tap_send(struct link *link, uint64_t cycle, const uint8_t *frame,
                                 size_t length, struct error *error) {
    struct tap *self = (struct tap *)link;
    (void)cycle;
    if (write(self->fd, frame, length) >= 0) {
        return LINK_OK;
    }
    switch (errno) {
    case EAGAIN:
    case ENOBUFS:
    case ENOMEM:
    case EINTR:
    case EIO: // the device is down
    case EINVAL:
        self->link.dropped_out++;
        return LINK_OK;
    default:
        return (enum link_result)error_set(error, "link tap:%s: %s", self->name, strerror(errno));
    }
}

static enum link_result tap_receive(struct link *link, uint64_t now_ns, uint8_t *frame,
                                    size_t *length, struct error *error) {
    struct tap *self = (struct tap *)link;
    uint8_t whole[1 << 16];
    (void)now_ns;
    for (;;) {
        ssize_t got = read(self->fd, whole, sizeof whole);
        if (got > FRAME_MAX) {
            self->oversized++;
        } else if (got > 0) {
            memcpy(frame, whole, (size_t)got);
            *length = (size_t)got;
            return LINK_OK;
        } else if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
            return LINK_BUSY;
        } else if (got == 0 || errno != EINTR) {
            return (enum link_result)error_set(error, "link tap:%s: the device is gone",
                                               self->name);
        }
    }
}

static void tap_count(struct link *link) {
    struct tap *self = (struct tap *)link;
    self->link.dropped_in = self->oversized + kernel_drops(self->name) - self->kernel_base;
}

static void tap_close(struct link *link) {
    struct tap *self = (struct tap *)link;
    (void)close(self->fd);
    free(self);
}

static const struct link_ops tap_ops = {
    .send = tap_send,
    .receive = tap_receive,
    .next_ns = link_next_unknown,
    .count = tap_count,
    .close = tap_close,
};

static void say_how(struct error *error, const char *name, const char *what) {
    error_set(error,
              "link tap:%s: %s; run: sudo ip tuntap add dev %s mode tap user $USER && "
              "sudo ip link set %s up",
              name, what, name, name);
}

static bool is_up(const char *name) {
    struct ifreq request = {0};
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        return false;
    }
    memcpy(request.ifr_name, name, strlen(name) + 1);
    int result = ioctl(fd, SIOCGIFFLAGS, &request);
    (void)close(fd);
    return result == 0 && (request.ifr_flags & IFF_UP);
}

static int attach(const char *name, struct error *error) {
    struct ifreq request = {.ifr_flags = IFF_TAP | IFF_NO_PI};
    int fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) {
        return error_set(error, "link tap:%s: /dev/net/tun: %s%s", name, strerror(errno),
                         errno == ENOENT ? "; this machine has no TUN/TAP (try: sudo modprobe tun)"
                                         : "");
    }
    memcpy(request.ifr_name, name, strlen(name) + 1);
    if (ioctl(fd, TUNSETIFF, &request) == 0) {
        return fd;
    }
    int reason = errno;
    (void)close(fd);
    switch (reason) {
    case EPERM:
        say_how(error, name, "the device belongs to another user");
        break;
    case EBUSY:
        say_how(error, name, "the device is in use by another program, or use another name");
        break;
    case EINVAL:
        say_how(error, name, "not a TAP device");
        break;
    default:
        error_set(error, "link tap:%s: %s", name, strerror(reason));
    }
    return -1;
}

struct link *link_tap_open(const char *name, struct error *error) {
    if (!name[0] || strlen(name) >= IFNAMSIZ || strchr(name, '/')) {
        error_set(error, "link tap:%s: expected an interface name of 1..%d bytes", name,
                  IFNAMSIZ - 1);
        return NULL;
    }
    if (if_nametoindex(name) == 0 && access("/dev/net/tun", F_OK) == 0) {
        say_how(error, name, "no such device");
        return NULL;
    }
    int fd = attach(name, error);
    if (fd < 0) {
        return NULL;
    }
    if (!is_up(name)) {
        error_set(error, "link tap:%s: the device is down; run: sudo ip link set %s up", name,
                  name);
        (void)close(fd);
        return NULL;
    }
    struct tap *self = calloc(1, sizeof *self);
    if (!self) {
        error_set(error, "link tap: out of memory");
        (void)close(fd);
        return NULL;
    }
    self->link = (struct link){.ops = &tap_ops, .kind = "tap"};
    self->fd = fd;
    memcpy(self->name, name, strlen(name) + 1);
    self->kernel_base = kernel_drops(name);
    return &self->link;
}
