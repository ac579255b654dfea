// SPDX-License-Identifier: BSD-2-Clause
//
// The control channel: whole messages to and from the host over a stream
// socket that the simulation inherited.

#ifndef ROCEPROOF_CONTROL_H
#define ROCEPROOF_CONTROL_H

#include "common/buffer.h"
#include "common/error.h"
#include "control/message.h"

struct control {
    int fd; // -1: not open
    struct buffer in;
    struct buffer out;
    size_t consume; // bytes of the message handed out last
};

enum control_result {
    CONTROL_FAILED = -1,
    CONTROL_NOTHING = 0,
    CONTROL_MESSAGE = 1,
    CONTROL_CLOSED = 2, // the host is gone
};

// `text` is fd:N. Returns 0 or -1.
int control_open(struct control *control, const char *text, struct error *error);

// The message's bytes stay valid until the next call. Waits when `block`.
enum control_result control_receive(struct control *control, bool block, enum message_type *type,
                                    struct cursor *body, struct error *error);

// Writes what is in `out`, all of it when `block`. A host that is gone is no
// error here: control_receive reports it.
int control_flush(struct control *control, bool block, struct error *error);

void control_close(struct control *control);

#endif
