// SPDX-License-Identifier: BSD-2-Clause
//
// A network in virtual time: flows send packets through ports, each of which leads over a wire to
// the next port of the flow's path or, behind the last, to the flow's receiver. Replies come back
// over a wire of their own that only delays them. Times are picoseconds, rates bits per second,
// lengths bytes, and packets are charged with all the line time that they take.

#ifndef ROCEPROOF_WORLD_H
#define ROCEPROOF_WORLD_H

#include <stdbool.h>
#include <stdint.h>

#include "heap.h"
#include "ring.h"

enum {
    MOST_HOPS = 8,
    PRIORITIES = 2,
    PREAMBLE_GAP_FCS = 24,
};

// Of a port, the transmitter of one end of a cable.
struct port_plan {
    uint64_t rate;
    uint64_t delay;    // of the wire behind it
    uint64_t buffer;   // what waits and leaves; a packet that does not fit is dropped; 0 is endless
    uint64_t xoff;     // the far end sends PFC when more than this of a priority waits there; or 0
    uint64_t xon;      // and ends it when no more than this does
    uint64_t loss;     // packets in 10^9 that the wire loses,
    uint64_t swap;     // that it hands over behind their next,
    uint64_t twice;    // and that it hands over twice
    uint64_t pace;     // a token bucket of the port; or 0
    uint64_t burst;    // what the bucket holds
    uint64_t stall_at; // nothing leaves from then on
    uint64_t stall_for;
};

enum kind { RC, UC, TCP, KINDS };

struct flow_plan {
    uint64_t kind;
    uint64_t priority;
    uint64_t mtu;
    uint64_t size;  // of a message
    uint64_t depth; // messages outstanding at most (RC), or packets (TCP)
    uint64_t messages;
    uint64_t immediate; // 1: the last packet of a message has one
    uint64_t start;
    uint64_t back; // how long a reply travels
    uint64_t timeout;
    uint64_t retries;
    uint64_t pace; // line time, or 0: of messages (1), or of packets (0)
    uint64_t pace_messages;
    uint64_t warm;     // messages before the first that is measured
    uint64_t receives; // in the receive queue (UC); 0 is endless
    uint64_t stall_at; // the consumer reposts none from then on
    uint64_t stall_for;
    uint64_t path[MOST_HOPS];
    uint64_t hops;
};

struct run_plan {
    uint64_t seed;
    uint64_t until;
    uint64_t sample; // how long one sample of what all flows deliver is; 0: none is taken
    uint64_t since;  // what is delivered from then on is counted apart
};

struct port {
    struct port_plan plan;
    struct ring waiting[PRIORITIES];
    struct ring ready[PRIORITIES]; // flows that begin here and have something to send
    struct ring wire;
    struct ring pauses;
    struct packet leaving;
    bool busy;
    bool paused[PRIORITIES];
    bool pausing[PRIORITIES];  // what its far end has asked for
    uint64_t held[PRIORITIES]; // what came through it and waits at its far end
    uint8_t turn;
    uint64_t bytes;
    uint64_t conforming; // when the next packet conforms to the bucket
    uint64_t random;
    uint64_t paused_since[PRIORITIES];
    uint64_t sent, dropped, lost, peak, pauses_sent, paused_for;
};

struct flow {
    struct flow_plan plan;
    uint64_t per;             // packets of a message
    uint64_t due;             // when pacing lets the next unit begin
    uint64_t una, next, most; // PSNs: not acknowledged, next to be sent, never sent
    uint64_t retries;
    uint64_t *begun; // when each of the messages outstanding was begun
    struct ring replies;
    bool is_ready, failed;
    // The receiver's:
    uint64_t expected;
    bool nak_sent, is_whole;
    uint64_t taken;     // receives that the consumer has not reposted
    uint64_t immediate; // the next that is due
    uint64_t told;      // messages before it that the gaps in PSNs have told of
    // TCP's:
    double window, threshold, largest;
    uint64_t reduced_at, recovery, in_flight, high;
    // What is told of it:
    uint64_t resent, naks, timeouts, done, warm_time, last_time;
    uint64_t latency_least, latency_most, latency_sum;
    uint64_t delivered, delivered_since, starved, by_immediates, by_psns, injected, injected_last;
};

struct world {
    struct run_plan plan;
    struct heap agenda;
    struct port *ports;
    struct flow *flows;
    uint32_t port_count, flow_count;
    uint64_t *samples;
    uint64_t sample_count;
    uint64_t now;
    bool out_of_memory;
};

// What is on the agenda: of each port, then of each flow.
enum { LEAVES, ARRIVES, PAUSES, PORT_ITEMS };
enum { TIMES_OUT, MAY_BEGIN, REPLIED, FLOW_ITEMS };

static inline uint32_t port_item(const struct world *w, const struct port *p, uint32_t what) {
    return (uint32_t)(p - w->ports) * PORT_ITEMS + what;
}

static inline uint32_t flow_item(const struct world *w, const struct flow *f, uint32_t what) {
    return w->port_count * PORT_ITEMS + (uint32_t)(f - w->flows) * FLOW_ITEMS + what;
}

// How long so many bytes take, rounded up in each MiB, beyond which a product would not fit.
static inline uint64_t line_time(uint64_t bytes, uint64_t rate) {
    const uint64_t piece = 1 << 20, ps_per_byte = 8 * UINT64_C(1000000000000);
    uint64_t whole = bytes < piece ? 0 : bytes / piece * ((piece * ps_per_byte + rate - 1) / rate);
    return whole + (bytes % piece * ps_per_byte + rate - 1) / rate;
}

// Plays until nothing is left to happen, or the plan's end. False without memory.
bool world_run(struct world *w);

void world_push(struct world *w, struct ring *r, struct packet p);

#endif
