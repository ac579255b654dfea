// SPDX-License-Identifier: BSD-2-Clause
//
// What is remembered of each flow: one direction of one QP, with the requests it
// carried and the responses it gave to those of its counterpart. Positions are PSNs
// that do not wrap. What hangs on pointers comes from the flow table, which bounds it.

#ifndef ROCEPROOF_FLOW_H
#define ROCEPROOF_FLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "flow/facts.h"
#include "packet/packet.h"

enum {
    ROCE_KEPT_PSNS = 1024,
    ROCE_KEPT_ENDS = 1024,
    ROCE_KEPT_READS = 64,
    ROCE_KEPT_GAPS = 16,
    ROCE_RESTART = 1 << 16,
    ROCE_JUDGES = 8,
};

struct roce_key {
    uint32_t interface;
    uint32_t qpn; // destination
    struct roce_address source;
    struct roce_address destination;
};

// One request packet, as needed to know its copy.
struct roce_sent {
    uint32_t psn;
    uint32_t head; // as in struct roce_packet
    uint32_t right;
    uint32_t bytes; // between BTH and ICRC
    uint8_t opcode;
    bool present;
    bool doubtful; // wrong ICRC or cut: equal to any packet of its PSN
};

// Where a message ends, and how many that are not WRITE without immediate end up to there.
struct roce_end {
    int64_t position;
    uint32_t received;
};

// A set of numbers that grows with the largest.
struct roce_bits {
    uint8_t *bytes;
    uint32_t size; // bytes
};

// A READ, ATOMIC, FLUSH or ATOMIC WRITE and what came back.
struct roce_read {
    int64_t position;
    uint64_t frame;
    int64_t span; // PSNs it takes, 0 where that is not known
    uint64_t address;
    uint32_t length;
    uint32_t answered;         // distinct responses seen
    struct roce_bits seen;     // by their offset
    struct roce_bits restarts; // offsets at which a repetition began
    uint32_t msn;              // highest of its responses
    bool has_msn;
    bool known; // address and length were captured
    uint8_t opcode;
    bool is_atomic;
    bool is_complete; // all responses seen
    bool is_repeated;
    bool overtaken; // a response of a newer one was seen
    int64_t acked;  // highest offset of an ACK since, -1
};

// PSNs that an RC flow skipped.
struct roce_gap {
    uint64_t frame;
    int64_t first;
    int64_t last;
    uint32_t left;
    uint32_t rule;
    uint32_t expected; // PSNs
    uint32_t got;
    uint8_t *filled; // a bit for each PSN
};

// Bytes of its bits.
static inline size_t roce_gap_bytes(const struct roce_gap *gap) {
    return (size_t)(gap->last - gap->first) / 8 + 1;
}

// The messages from the packet at `start` on, while none is in doubt.
struct roce_msn_counter {
    bool counts;
    bool from_start; // of the connection
    bool has_base;
    uint32_t base;       // what the MSN was in front of them
    uint64_t base_frame; // whose MSN told it; 0 if none had to
    int64_t start;
    uint32_t total;
    uint32_t received; // of these, those that are not WRITE without immediate
    struct roce_end *ends;
    uint32_t slots;
};

// The last value of what ought not to change; -1 before the first.
struct roce_constants {
    int32_t port; // -2: none
    int32_t dscp;
    int32_t vlan; // TCI, -2 untagged
    int32_t migreq;
};

// The message whose LAST has not been seen.
struct roce_message {
    bool open;
    bool doubt; // it is not known whether one is open
    bool mixed; // a packet of another family came
    bool whole; // its FIRST was seen
    uint8_t family;
    bool has_length, has_reth;
    uint64_t length, carried;
    uint64_t frame; // in which it opened
    uint8_t reth[ROCE_RETH_BYTES];
};

// What is known of the requests that a flow carries.
struct roce_requests {
    bool any;
    bool spoilt;      // a PSN was reported: nobody knows what a responder should say to it
    bool adopts;      // the next packet's PSN is taken as it is
    bool start_known; // the first one had the PSN that was configured
    int64_t first, next, newest; // newest: last PSN of the newest request
    uint32_t previous;           // PSN of the last new request
    bool previous_was_read, previous_was_empty;
    uint32_t lost_bad; // corrupt requests since the last trusted one
    uint64_t responses_since;
    int32_t awaited; // PSN of a sequence NAK until a request with it is seen; -1
    bool replaying;
    int64_t replay; // newest at the last copy
    bool copies_since_aeth, new_since_aeth;
    struct roce_message message;
    struct roce_msn_counter msn_counter;
    struct roce_sent *sent; // ring
    uint32_t sent_slots;
    struct roce_read *reads; // ring of ROCE_KEPT_READS
    uint32_t read_count;
    uint32_t reads_done; // all before that number are complete
    struct roce_gap *gaps;
    uint32_t gap_count;
};

// The MSN of a response that is the base of others, or contradicts one: either may be wrong until
// a third is seen. `frame` is 0 where there is none.
struct roce_msn_claim {
    uint64_t frame;
    uint32_t msn;
    uint32_t psn;
    uint32_t low, high; // how many messages it may count
    uint32_t limit;     // the MSN nearest to it that would be right
    uint16_t rule;
    bool is_nak;
    bool is_above; // the limit
    bool is_wrong; // if the first is right, and it has not been told
};

// What is known of the responses that it carries, to the requests of its counterpart.
struct roce_responses {
    bool has_acked;
    int64_t acked;
    bool has_aeth;
    uint32_t last_msn;
    uint32_t last_psn; // of the last AETH
    bool last_was_nak;
    struct roce_msn_claim first; // the base, until another bears it out
    struct roce_msn_claim other; // the last that does not
};

struct roce_flow_counts {
    uint64_t requests, messages, responses, cnps, bytes;
    uint64_t acks, naks, rnr_naks, ack_requests;
    uint64_t copies, lost_by_capture, restarts;
};

struct roce_flow {
    struct roce_key key;
    int64_t number;   // in the order of first packets; -1 before
    uint64_t changes; // of anything in it, but those by requests taken in order (in_order.c)
    uint8_t judge;    // who judges it and its counterpart
    uint64_t first_frame;
    struct roce_flow_counts count;
    uint64_t last_cnp_ns, least_cnp_ns;

    const struct roce_fact *own_fact;  // configuration of the end that sends
    const struct roce_fact *peer_fact; // of the end that receives
    bool is_stranger;                  // between ends that have rows, but in none of them
    bool is_elsewhere;                 // its QPN stands in a row, of whatever ends
    bool told_tags, told_port;
    bool trusted_icrc; // a right ICRC has been seen
    struct roce_flow *counterpart;
    struct roce_flow *next_waiting, *previous_waiting; // in the list of its route
    bool waiting;

    // From here on all is dropped when the QP is set up again.
    enum roce_service service;
    int32_t start_psn;  // from configuration or CM; -1
    uint32_t path_mtu;  // 0 if not known
    int32_t first_port; // -1
    struct roce_constants request_constants, response_constants, cnp_constants;
    struct roce_requests requests;
    struct roce_responses responses;
};

#endif
