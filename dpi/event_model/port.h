// SPDX-License-Identifier: BSD-2-Clause
//
// Ports: what waits in them, when it leaves, what their wires do to it, and who is paused.

#ifndef ROCEPROOF_PORT_H
#define ROCEPROOF_PORT_H

#include "world.h"

// A flow that begins there has something to send.
void port_offer(struct world *w, struct port *p, uint32_t flow);

// One of its agenda items is due.
void port_act(struct world *w, struct port *p, uint32_t what);

#endif
