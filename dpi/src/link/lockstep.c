// SPDX-License-Identifier: BSD-2-Clause
//
// The link to the host itself: sent frames go out on the control channel.
// Frames for the DUT arrive as control messages, so there is nothing to
// receive here. Never loses a frame: busy while the host is behind.

#include "link/link.h"

#include <stdlib.h>

enum { BACKLOG = 1 << 20 }; // bytes not yet written to the host

struct lockstep {
    struct link link;
    unsigned port;
    struct control *control;
    bool wait;
};

static enum link_result lockstep_send(struct link *link, uint64_t cycle, const uint8_t *frame,
                                      size_t length, struct error *error) {
    struct lockstep *self = (struct lockstep *)link;
    struct buffer *out = &self->control->out;
    if (buffer_size(out) > BACKLOG) {
        if (control_flush(self->control, self->wait, error) != 0) {
            return LINK_FAILED;
        }
        if (buffer_size(out) > BACKLOG) {
            return LINK_BUSY;
        }
    }
    struct builder b = message_begin(out, MESSAGE_SENT_FRAME);
    give_u8(&b, (uint8_t)self->port);
    give_u64(&b, cycle);
    give_bytes(&b, frame, length);
    if (!message_end(&b)) {
        return (enum link_result)error_set(error, "port %u: out of memory", self->port);
    }
    return LINK_OK;
}

static enum link_result lockstep_receive(struct link *link, uint64_t now_ns, uint8_t *frame,
                                         size_t *length, struct error *error) {
    (void)link, (void)now_ns, (void)frame, (void)length, (void)error;
    return LINK_BUSY;
}

static uint64_t lockstep_next_ns(const struct link *link) {
    (void)link;
    return LINK_NEVER;
}

static void lockstep_close(struct link *link) {
    free(link);
}

static const struct link_ops lockstep_ops = {
    .send = lockstep_send,
    .receive = lockstep_receive,
    .next_ns = lockstep_next_ns,
    .count = link_count_nothing,
    .close = lockstep_close,
};

struct link *link_lockstep_open(unsigned port, struct control *control, bool lockstep,
                                struct error *error) {
    struct lockstep *self = calloc(1, sizeof *self);
    if (!self) {
        error_set(error, "link lockstep: out of memory");
        return NULL;
    }
    self->link = (struct link){.ops = &lockstep_ops, .kind = "lockstep"};
    self->port = port;
    self->control = control;
    self->wait = lockstep;
    return &self->link;
}
