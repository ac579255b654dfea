// SPDX-License-Identifier: BSD-2-Clause
//
// One way between two ends, for messages of one size. Each message has content
// of its own and a place for it at either end, in turns.
#ifndef ROCEPROOF_AGENT_WAY_H
#define ROCEPROOF_AGENT_WAY_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>

#include "protocol/fail.h"
#include "verbs/end.h"

struct way {
    struct end *from; // who posts
    struct end *to;
    enum ibv_wr_opcode opcode;
    uint32_t size;
    uint32_t places;
    size_t from_offset; // of the first place
    size_t to_offset;
};

// Whether its places lie within the memory of both ends.
bool way_fits(const struct way *way, struct fail *f);

// Whether each message completes at the end that does not post.
bool way_is_heard(const struct way *way);

// The message's work request; its content is written, and every byte of where
// it is to arrive is made another.
struct ibv_send_wr way_work(const struct way *way, uint32_t number, unsigned flags,
                            struct ibv_sge *sge);

// Posts the receive that a message needs.
bool way_receive(const struct way *way, uint32_t number, struct fail *f);

// Whether a receive is that of the message.
bool way_heard(const struct way *way, uint32_t number, const struct ibv_wc *wc);

// Whether the message has arrived, byte for byte.
bool way_arrived(const struct way *way, uint32_t number);

#endif
