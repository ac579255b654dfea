// SPDX-License-Identifier: BSD-2-Clause
//
// One Ethernet port of the simulated device: what waits for the DUT, what the
// DUT is sending, its link, its tap point and its counters. Knows nothing of
// the simulator and nothing of the records it carries.

#ifndef ROCEPROOF_PORT_H
#define ROCEPROOF_PORT_H

#include "common/frame.h"
#include "common/queue.h"
#include "link/link.h"
#include "port/memory.h"
#include "port/payload.h"
#include "port/pcapng.h"

enum stream {
    STREAM_RX,
    STREAM_PAYLOAD,
    STREAM_QPC,
    STREAM_WR,
    STREAM_TX,
    STREAM_COMPLETION,
    STREAMS,
    // Of the contract's second version.
    STREAM_REGION = STREAMS,
    STREAM_RECEIVE,
    STREAM_RECEIVE_COMPLETION,
    STREAM_CONNECTION,
};

// What is disturbed: the first streams each, and those of memory.
enum flow { FLOW_MEMORY_STALL = STREAMS, FLOW_MEMORY_GAP, FLOW_MEMORY_LAG, FLOWS };

enum {
    QPC_BYTES = 64,
    WORK_REQUEST_BYTES = 40,
    COMPLETION_BYTES = 16,
    REGION_BYTES = 40,
    RECEIVE_BYTES = 32,
    EVENT_BYTES = 32,  // the end of a receive, or of a step of a connection
    RECORD_LIMIT = 64, // bytes of the longest record
};

struct rx_frame {
    uint8_t *bytes; // owned, with room for FRAME_MIN
    size_t length;
    bool discard;
    bool early;    // marked before its last beat, which says nothing
    unsigned done; // of link_action
};

struct work_request {
    uint8_t record[WORK_REQUEST_BYTES];
    uint64_t after; // QP configurations that are offered to the DUT first
};

struct counters {
    uint64_t frames_in; // taken by the DUT
    uint64_t frames_out;
    uint64_t bytes_in;
    uint64_t bytes_out;
    uint64_t discarded_out; // marked for discard by the DUT itself
};

// What has moved on a stream, and what is offered and taken on it now.
struct watched {
    uint64_t beats;
    uint64_t moved; // the cycle of the last of them
    bool is_valid;
    bool is_ready;
    bool is_amid; // a frame or message has begun and not ended
};

// The way to a memory inside the device, whose calls are the simulator's.
struct backdoor {
    void *scope; // NULL: there is none
    void (*read)(void *scope, uint64_t address, uint8_t *bytes, size_t length);
    void (*write)(void *scope, uint64_t address, const uint8_t *bytes, size_t length);
};

struct session;

struct port {
    struct session *session; // its owner
    unsigned index;
    uint64_t clock_ps;
    struct error *error; // the session's
    uint8_t mac[6];
    uint8_t gid[16];
    uint8_t flow[FLOWS]; // percent
    uint64_t seed;       // of its flow disturbance
    unsigned reset;      // cycles of reset that the test bench is to begin

    struct link *link;
    struct pcapng *capture; // shared, may be NULL
    unsigned interface;

    struct queue rx; // struct rx_frame
    size_t rx_given; // bytes of the front frame that the test bench has
    struct queue payloads;
    size_t payload_bytes; // held for the host
    struct queue qpcs;    // QPC_BYTES each
    struct queue wrs;     // struct work_request
    uint64_t qpcs_queued;
    uint64_t qpcs_taken;
    bool qpc_given;
    bool qpc_waits;       // not taken in its first cycle on offer,
    uint64_t qpc_offered; // which was this
    bool wr_given;
    uint64_t wr_after;     // of the work request that was given
    bool overtaken;        // a work request was taken before the configuration on offer,
    uint64_t overtaken_at; // in this cycle; in the same cycle it may be
    struct queue regions;  // REGION_BYTES each
    struct queue receives; // RECEIVE_BYTES each
    bool region_given;
    bool receive_given;
    struct memory memory; // behind the device's memory ports
    struct backdoor backdoor;

    uint8_t tx[FRAME_MAX + CHUNK_BYTES];
    size_t tx_length;
    uint64_t tx_cycle;
    bool tx_waiting; // a whole frame waits for the link

    struct counters counters;
    struct watched watched[STREAMS]; // as of the last poll
};

void port_init(struct port *port, unsigned index, uint64_t clock_ps, struct error *error);
void port_close(struct port *port);

// From the host. Bytes are copied; each returns 0 or -1.
int port_queue_frame(struct port *port, const uint8_t *bytes, size_t length, bool discard,
                     bool early, unsigned done);
int port_queue_qpc(struct port *port, const uint8_t record[QPC_BYTES]);
int port_queue_region(struct port *port, const uint8_t record[REGION_BYTES]);
int port_queue_receive(struct port *port, const uint8_t record[RECEIVE_BYTES]);
int port_queue_work_request(struct port *port, const uint8_t record[WORK_REQUEST_BYTES],
                            const struct payload *payload, const uint8_t *bytes);

// The device's memory, wherever it is. False without memory for it.
void port_peek(const struct port *port, uint64_t address, uint8_t *bytes, size_t length);
bool port_poke(struct port *port, uint64_t address, const uint8_t *bytes, size_t length);

// The DUT is about to be reset: what waits for it, or is coming from it, is dropped.
void port_reset(struct port *port, unsigned cycles);

// Moves frames between the queues and the link as far as they go now.
int port_service(struct port *port, uint64_t cycle);

// The cycle at which the link wants service again; LINK_NEVER, or 0: often.
uint64_t port_next_cycle(const struct port *port);

// A bit per stream that has something for the test bench or room for it.
unsigned port_wake(const struct port *port);

#endif
