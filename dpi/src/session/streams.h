// SPDX-License-Identifier: BSD-2-Clause
//
// The test bench's side of a port: chunks and records, one call each. A frame
// is captured when its last beat moves, in either direction.

#ifndef ROCEPROOF_STREAMS_H
#define ROCEPROOF_STREAMS_H

#include "port/port.h"

struct chunk {
    uint8_t bytes[CHUNK_BYTES];
    unsigned first;
    unsigned stop;
    bool last;
    bool discard;
    bool early;
};

// The test bench pulls. Asking again says that what came before was taken by
// the DUT at `cycle`, and the host is told. False: nothing now.
bool port_get_chunk(struct port *port, enum stream stream, uint64_t cycle, struct chunk *chunk);
bool port_get_qpc(struct port *port, uint64_t cycle, uint8_t record[QPC_BYTES]);
// It has been on offer since `cycle`, and a work request may be offered behind it.
void port_qpc_waits(struct port *port, uint64_t cycle);
bool port_get_work_request(struct port *port, uint64_t cycle, uint8_t record[WORK_REQUEST_BYTES]);
bool port_get_region(struct port *port, uint64_t cycle, uint8_t record[REGION_BYTES]);
bool port_get_receive(struct port *port, uint64_t cycle, uint8_t record[RECEIVE_BYTES]);

// The test bench pushes. Returns true when the chunk ended a frame that went
// out; `full` when the link has no room for another yet.
bool port_put_chunk(struct port *port, uint64_t cycle, const struct chunk *chunk, bool *full);

#endif
