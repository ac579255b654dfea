// SPDX-License-Identifier: BSD-2-Clause
//
// What the rules share: the frame that is being judged, and how a broken rule is
// reported. Inside the library only.

#ifndef ROCEPROOF_JUDGE_H
#define ROCEPROOF_JUDGE_H

#include "flow_table.h"
#include "oracle.h"
#include "routes.h"

enum { ROCE_TEXTS = 4, ROCE_TEXT_BYTES = 128 };

enum { ROCE_CM_REQUESTS = 1024, ROCE_CM_ANSWERS = 4, ROCE_INTERFACES = 256 };

// A reply of connection management that was heeded.
struct roce_cm_answer {
    uint32_t communication, qpn, psn;
};

// A connection request that has been seen, for the reply that will name it.
struct roce_cm_request {
    struct roce_address source, destination;
    uint32_t interface, communication, qpn, psn;
    uint64_t transaction;
    uint32_t path_mtu;
    uint32_t answer_count;
    struct roce_cm_answer answers[ROCE_CM_ANSWERS]; // ring
};

struct roce_oracle {
    const struct roce_facts *facts;
    roce_report *report;
    void *context;
    struct roce_totals totals;
    struct roce_flow_table table;
    struct roce_routes routes;
    struct roce_cm_request *requests; // ring
    uint32_t request_count;
    bool any_mark;  // a CE mark has been seen
    bool lost_mark; // one that there was no memory for
    struct {
        uint32_t right;
        bool known;
    } previous[ROCE_INTERFACES]; // the right ICRC of the last RoCE frame

    // The frame that is being judged.
    const struct roce_record *record;
    const struct roce_packet *packet;
    const struct roce_opcode *row;
    struct roce_key key;
    struct roce_flow *flow; // NULL if it has none
    uint32_t payload;       // bytes, without pad
    uint32_t pad;
    char texts[ROCE_TEXTS][ROCE_TEXT_BYTES];
    unsigned int text;
};

// Text for a finding; valid until three more have been made.
const char *roce_text(struct roce_oracle *oracle, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

void roce_found(struct roce_oracle *oracle, enum roce_rule rule, const char *expected,
                const char *got);

// As above with a severity of its own.
void roce_found_as(struct roce_oracle *oracle, enum roce_rule rule, enum roce_severity severity,
                   const char *expected, const char *got);

// As above for an earlier frame.
void roce_found_at(struct roce_oracle *oracle, enum roce_rule rule, uint64_t frame,
                   const struct roce_flow *flow, const char *expected, const char *got);

// network_rules.c, header_rules.c: rules that the frame decides by itself.
void roce_judge_broken(struct roce_oracle *oracle);
void roce_judge_network(struct roce_oracle *oracle); // Ethernet, IP, UDP
void roce_judge_bth(struct roce_oracle *oracle);
bool roce_judge_headers(struct roce_oracle *oracle); // false: judge no further
void roce_judge_forms(struct roce_oracle *oracle);   // payload, AETH, DETH, CNP
bool roce_middle_has_aeth(const struct roce_oracle *oracle, uint32_t path_mtu);

// icrc_rules.c: false if the packet has no ICRC at all.
bool roce_judge_icrc(struct roce_oracle *oracle);

// flow_begin.c: a flow at its start, when its QP is set up again, and what it learns.
struct roce_flow *roce_flow_of(struct roce_oracle *oracle, const struct roce_key *key);
void roce_flow_restart(struct roce_oracle *oracle, struct roce_flow *flow); // and its counterpart
void roce_flows_connect(struct roce_oracle *oracle, struct roce_flow *one, struct roce_flow *other,
                        const uint32_t start_psns[2], uint32_t path_mtu);
void roce_learn_mtu(struct roce_flow *flow, uint32_t path_mtu);

// constant_rules.c: what must not change within a flow, and what is configured.
void roce_judge_destination(struct roce_oracle *oracle);
void roce_judge_constants(struct roce_oracle *oracle);
void roce_judge_configured(struct roce_oracle *oracle); // requests

// request_rules.c, psn_rules.c, message_rules.c
void roce_judge_request(struct roce_oracle *oracle);
void roce_judge_psn(struct roce_oracle *oracle, int64_t distance);
void roce_take_datagram(struct roce_oracle *oracle);
void roce_doubt(struct roce_requests *requests);
void roce_resynchronise(struct roce_flow *flow);
void roce_reach(struct roce_requests *requests, int64_t position, int64_t span);
void roce_judge_message(struct roce_oracle *oracle);

// gaps.c: PSNs from `first` to `last` that an RC flow skipped.
void roce_gap_open(struct roce_oracle *oracle, enum roce_rule rule, int64_t first, int64_t last,
                   uint32_t expected);
bool roce_gaps_fill(struct roce_oracle *oracle, int64_t first, int64_t last);
void roce_gaps_covered(struct roce_oracle *oracle, struct roce_flow *flow, int64_t position);
void roce_gaps_report(struct roce_oracle *oracle, struct roce_flow *flow);

// pairs.c: who answers whom.
void roce_offer(struct roce_oracle *oracle, struct roce_flow *flow);
void roce_withdraw(struct roce_oracle *oracle, struct roce_flow *flow);
void roce_pair(struct roce_oracle *oracle, struct roce_flow *flow, struct roce_flow *other);
struct roce_flow *roce_counterpart(struct roce_oracle *oracle);

// response_rules.c, read_rules.c, msn_rules.c; `asked` are the requests that are answered
void roce_judge_response(struct roce_oracle *oracle);
struct roce_read *roce_read_answered(const struct roce_oracle *oracle,
                                     const struct roce_requests *asked, int64_t q);
void roce_judge_data(struct roce_oracle *oracle, struct roce_flow *asked, struct roce_read *read,
                     int64_t q);
void roce_judge_reads_acked(struct roce_oracle *oracle, struct roce_requests *asked, int64_t q);
void roce_judge_msn(struct roce_oracle *oracle, struct roce_requests *asked, int64_t q,
                    struct roce_read *read);

// history.c: the requests of a flow by PSN.
const struct roce_sent *roce_sent_at(const struct roce_requests *requests, uint32_t psn);
void roce_sent_keep(struct roce_oracle *oracle, struct roce_requests *requests);

// msn_counter.c: counts of messages; false where it is not known.
struct roce_msn_counter_counts {
    uint32_t all;
    uint32_t received; // those that are not WRITE without immediate
};

void roce_msn_counter_start(struct roce_msn_counter *msn_counter, int64_t position,
                            bool from_start);
void roce_msn_counter_add(struct roce_oracle *oracle, struct roce_msn_counter *msn_counter,
                          int64_t position, bool received);
bool roce_msn_counter_count(const struct roce_msn_counter *msn_counter, int64_t position,
                            struct roce_msn_counter_counts *counts);

// reads.c: the requests of a flow that are answered with data, by number and by position.
int64_t roce_span(uint32_t length, uint32_t path_mtu);
struct roce_read *roce_read_number(const struct roce_requests *requests, uint32_t number);
uint32_t roce_reads_oldest(const struct roce_requests *requests);
int64_t roce_read_offset(const struct roce_read *read, int64_t position);
struct roce_read *roce_read_at(const struct roce_requests *requests, int64_t position);
void roce_read_keep(struct roce_oracle *oracle, int64_t position);
void roce_read_forget(struct roce_oracle *oracle, struct roce_read *read);
bool roce_read_is_repeated(struct roce_oracle *oracle, int64_t position);
void roce_read_repeat(struct roce_oracle *oracle, int64_t position);
bool roce_read_has_restart(const struct roce_read *read, uint32_t response);
bool roce_read_answer(struct roce_oracle *oracle, struct roce_requests *asked,
                      struct roce_read *read, uint32_t response); // whether it is new

// management.c, congestion_rules.c
void roce_judge_mad(struct roce_oracle *oracle);
void roce_take_management(struct roce_oracle *oracle);
void roce_note_mark(struct roce_oracle *oracle);
void roce_judge_cnp(struct roce_oracle *oracle);

static inline int64_t roce_distance(uint32_t a, uint32_t b) {
    const int32_t ahead = (int32_t)((a - b) & (ROCE_PSN_MODULUS - 1));
    return ahead < ROCE_PSN_MODULUS / 2 ? ahead : ahead - ROCE_PSN_MODULUS;
}

static inline uint32_t roce_psn(int64_t position) {
    return (uint32_t)position & (ROCE_PSN_MODULUS - 1);
}

// The position with that PSN that is nearest to another.
static inline int64_t roce_near(int64_t position, uint32_t psn) {
    return position + roce_distance(psn, roce_psn(position));
}

static inline uint32_t roce_reversed(uint32_t value) {
    return (value & 0xFF) << 16 | (value & 0xFF00) | value >> 16;
}

static inline bool roce_is_path_mtu(uint32_t size) {
    return size == 256 || size == 512 || size == 1024 || size == 2048 || size == 4096;
}

static inline bool roce_all_zero(const uint8_t *bytes, uint32_t count) {
    uint32_t at = 0;
    while (at < count && bytes[at] == 0)
        at++;
    return at == count;
}

// Whether a packet's ICRC vouches for its header fields.
static inline bool roce_is_trusted(const struct roce_oracle *oracle) {
    return oracle->packet->verdict != ROCE_BAD || !oracle->flow->trusted_icrc;
}

#endif
