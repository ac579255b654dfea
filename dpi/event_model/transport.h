// SPDX-License-Identifier: BSD-2-Clause
//
// What RC, UC and TCP each do in their own way, and what they have in common.

#ifndef ROCEPROOF_TRANSPORT_H
#define ROCEPROOF_TRANSPORT_H

#include "world.h"

struct transport {
    void (*init)(struct flow *f);           // or none
    bool (*may_send)(const struct flow *f); // as its window says
    void (*sent)(struct world *w, struct flow *f, uint64_t psn);
    void (*receive)(struct world *w, struct flow *f, uint64_t psn);
    void (*replied)(struct world *w, struct flow *f, const struct packet *reply);
    void (*timed_out)(struct world *w, struct flow *f);
    void (*end)(struct flow *f); // or none
};

extern const struct transport transport_rc, transport_uc, transport_tcp;

enum reply { ACK, SEQUENCE_NAK };

uint64_t flow_payload(const struct flow *f, uint64_t psn);
void flow_reply(struct world *w, struct flow *f, uint64_t psn, uint8_t kind);

// So many bytes have come to where they belong.
void flow_deliver(struct world *w, struct flow *f, uint64_t bytes);

// The requester's completion of a message (RC), or the receiver's (UC).
void flow_complete(struct world *w, struct flow *f);

#endif
