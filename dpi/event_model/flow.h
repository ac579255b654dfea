// SPDX-License-Identifier: BSD-2-Clause
//
// Flows: one queue pair's requester and its responder, or a TCP connection. RC repeats from the
// PSN that a NAK or a timeout names (go-back-N); of a gap its responder tells once. UC repeats
// nothing, and its receiver flags what did not come whole. TCP is a declared model: CUBIC with
// selective acknowledgements, in packets of one size.

#ifndef ROCEPROOF_FLOW_H
#define ROCEPROOF_FLOW_H

#include "world.h"

bool flow_init(struct world *w, struct flow *f); // false without memory

// It may have something to send: its port is told, or pacing waits.
void flow_wake(struct world *w, struct flow *f);

// Its next packet; false if there is none that may leave now.
bool flow_send(struct world *w, struct flow *f, struct packet *packet);

// A packet of it has come to the end of its path.
void flow_receive(struct world *w, struct flow *f, uint64_t psn);

// A packet of it was dropped or lost.
void flow_suffers(struct flow *f, uint64_t psn);

// One of its agenda items is due.
void flow_act(struct world *w, struct flow *f, uint32_t what);

// All is over: what never came is told, too.
void flow_end(struct flow *f);

#endif
