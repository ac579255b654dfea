// SPDX-License-Identifier: BSD-2-Clause
//
// Inspects packet after packet, and those faster whose headers are as they were before, but for
// IPv4 ID and checksum, and the PSN. What it says of a packet is what roce_inspect says. An
// inspector is one thread's.

#ifndef ROCEPROOF_INSPECTOR_H
#define ROCEPROOF_INSPECTOR_H

#include "packet/packet.h"

enum { ROCE_PATTERNS = 256, ROCE_INSPECTORS = 16 };

struct roce_inspector; // opaque

// Inspectors whose packets meet have numbers of their own, below ROCE_INSPECTORS. NULL if out of
// memory; packets are then inspected the slow way.
struct roce_inspector *roce_inspector_create(unsigned int number);
void roce_inspector_destroy(struct roce_inspector *inspector);

// As roce_inspect, and packet->look says which packets have the same headers.
void roce_inspect_next(struct roce_inspector *inspector, const struct roce_record *record,
                       struct roce_packet *packet);

// The same for several packets.
void roce_inspect_few(struct roce_inspector *inspector, const struct roce_record *records,
                      unsigned int count, struct roce_packet *packets);

#endif
