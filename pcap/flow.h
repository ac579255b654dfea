// SPDX-License-Identifier: BSD-2-Clause
//
// What is remembered of each flow: one direction of one QP, with the requests it
// carried and the responses it gave to those of its counterpart. Positions are PSNs
// that do not wrap. The memory of all flows together is bounded.

#ifndef ROCEPROOF_FLOW_H
#define ROCEPROOF_FLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "facts.h"
#include "packet.h"

enum {
    ROCE_PSN_MODULUS = 1 << 24,
    ROCE_KEPT_PSNS = 1024,
    ROCE_KEPT_READS = 64,
    ROCE_KEPT_GAPS = 16,
    ROCE_RESTART = 1 << 16,
};

struct roce_key {
    uint32_t interface;
    uint32_t qpn; // destination
    struct roce_address source;
    struct roce_address destination;
};

// One request among the last 1024 PSNs.
struct roce_sent {
    int64_t position;
    uint32_t head; // as in struct roce_packet
    uint32_t right;
    uint32_t bytes;    // between BTH and ICRC
    uint32_t messages; // that end at or before it
    uint32_t counted;  // of these, those that are not WRITE without immediate
    uint32_t epoch;
    uint8_t opcode;
    bool present;
    bool doubtful; // wrong ICRC or cut: equal to any packet of its PSN
};

// A READ, ATOMIC, FLUSH or ATOMIC WRITE and what came back.
struct roce_read {
    uint64_t frame;
    int64_t position;
    int64_t span; // PSNs it takes, 0 where P is not known
    uint64_t address;
    uint32_t rkey;
    uint32_t length;
    uint32_t answered;  // distinct responses seen
    uint32_t seen_bits; // capacity of `seen`
    uint8_t *seen;      // a bit for each response
    int64_t repeat;     // offset at which the newest repetition began, -1 if never repeated
    uint32_t msn;       // highest of its responses
    bool has_msn;
    bool known;     // address and length were captured
    bool is_read;   // answered by READ responses
    bool is_atomic; // answered by an ATOMIC ACK
};

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

// The last value of what ought not to change; -1 before the first.
struct roce_constants {
    int32_t port;
    int32_t dscp;
    int32_t vlan; // TCI, -2 untagged
    int32_t migreq;
};

struct roce_flow {
    struct roce_key key;
    int64_t number; // in the order of first packets; -1 before
    struct roce_flow *counterpart;
    struct roce_flow *next_unpaired;
    const struct roce_fact *own_fact;  // configuration of the end that sends
    const struct roce_fact *peer_fact; // of the end that receives
    enum roce_service service;

    // For everybody.
    uint64_t requests, responses, cnps, bytes;
    uint64_t all_messages;
    uint64_t acks, naks, rnr_naks, copies, lost_by_capture, restarts, ack_requests;
    uint64_t first_frame, last_cnp_ns, least_cnp_ns;
    bool trusted_icrc; // a right ICRC has been seen
    bool told_tags, told_port;
    bool unpaired; // stands in its route's list
    struct roce_constants request_constants, response_constants, cnp_constants;
    uint32_t path_mtu; // 0 if not known

    // Requests.
    bool has_requests;
    bool spoilt; // a PSN was reported: nobody knows what a responder should say to it
    bool adopts; // the next packet's PSN is taken as it is
    int32_t first_port;
    int64_t first, next, newest; // newest: last PSN of the newest request
    int64_t previous;            // position of the last new request
    uint8_t previous_opcode;
    bool previous_was_read, previous_was_empty;
    uint32_t lost_bad; // corrupt requests since the last trusted one
    uint64_t responses_since_request;
    int32_t start_psn; // from configuration or CM; -1
    bool start_known;  // the first request was there
    uint32_t epoch;    // counts are comparable within one
    uint32_t messages, counted;
    struct roce_sent *sent; // ring
    uint32_t sent_slots;
    struct roce_read *reads; // ring of ROCE_KEPT_READS
    uint32_t read_count;
    struct roce_gap *gaps;
    uint32_t gap_count;
    bool replaying;
    int64_t replay; // newest at the last copy
    bool copies_since_aeth, new_since_aeth;

    // The open message.
    bool open, doubt, mixed;
    uint8_t family;
    bool has_length, has_reth;
    uint64_t length, carried;
    uint8_t reth[ROCE_RETH_BYTES];

    // Responses, that is, about the requests of the counterpart.
    bool has_acked;
    int64_t acked;
    bool has_ack; // ACKNOWLEDGE only
    int64_t ack;
    uint64_t ack_frame;
    bool has_nak;
    int64_t nak;
    bool nak_answered; // the request it asked for has been seen since
    bool has_aeth;
    uint32_t last_msn;
    uint32_t last_aeth_psn;
    bool last_was_nak;
    bool has_base;
    uint32_t base;
    uint32_t base_epoch;
    int64_t newest_answered; // position of the newest READ with a response
    bool has_answered;
};

#endif
