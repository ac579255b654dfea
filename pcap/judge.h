// SPDX-License-Identifier: BSD-2-Clause
//
// What the rules share: the frame that is being judged, and how a broken rule is
// reported. Inside the library only.
//
// There are several judges, each with flows of its own and their counterparts, so that
// threads may judge at once. A judge looks at frames in capture order, and touches what
// all share (routing.h) only while it is told that it is its turn.

#ifndef ROCEPROOF_JUDGE_H
#define ROCEPROOF_JUDGE_H

#include "flow_table.h"
#include "oracle.h"
#include "usual.h"

#define ROCE_IS_KNOWN ((uint64_t)1 << 32)

enum { ROCE_TEXTS = 4, ROCE_TEXT_BYTES = 128, ROCE_LANES = 1024 };

// What was said of a packet in turn, before it was judged.
enum roce_note {
    ROCE_WAY_MARKED = 1, // a CE mark was seen on the way that a CNP answers
    ROCE_ANY_MARKED = 2, // one was seen at all
    ROCE_ALONE = 4,      // nobody can be the counterpart of its flow, if that has none
    ROCE_NO_ROOM = 8,    // for its flow
    ROCE_UNBEGUN = 16,   // its flow was known of, but had no sound packet yet
};

struct roce_routed {
    struct roce_flow *flow; // NULL if it has none
    uint64_t previous;      // the right ICRC of the RoCE frame before it on its interface, and
                            // ROCE_IS_KNOWN; 0 if there was none
    uint8_t judge;          // its number; ROCE_JUDGES for none
    uint8_t notes;          // enum roce_note
};

// Requests of one look that were taken in order; what that takes still holds while nothing else
// happened to their flow.
struct roce_lane {
    uint64_t look; // 0: none
    const struct roce_flow *flow;
    uint64_t changes; // of the flow
    const struct roce_opcode *row;
    uint32_t payload;
    bool is_whole; // a message of its own that fits the path
    bool has_reth;
    bool is_received; // as roce_msn_counter_add has it
};

struct roce_judge {
    struct roce_oracle *oracle;
    const struct roce_facts *facts;
    roce_report *report;
    void *context;
    uint8_t number;
    struct roce_totals totals;
    struct roce_memory memory;
    struct roce_usual usual[ROCE_USUAL_PLACES];
    struct roce_lane lanes[ROCE_LANES]; // by the look

    // The frame that is being judged.
    const struct roce_record *record;
    const struct roce_packet *packet;
    const struct roce_routed *routed;
    const struct roce_opcode *row;
    struct roce_flow *flow; // NULL if it has none
    uint32_t payload;       // bytes, without pad
    uint32_t pad;
    bool is_usual; // nothing was found in headers like these
    char texts[ROCE_TEXTS][ROCE_TEXT_BYTES];
    unsigned int text;
};

// judge.c: all rules that the frame concerns, one by one; those of headers only if it is not usual.
void roce_judge_anew(struct roce_judge *judge, const struct roce_record *record,
                     const struct roce_packet *packet, const struct roce_routed *routed,
                     const struct roce_usual *usual);

// in_order.c: the same for a frame with a flow, shorter for the request that is waited for.
void roce_judge_next(struct roce_judge *judge, const struct roce_record *record,
                     const struct roce_packet *packet, const struct roce_routed *routed);

// Text for a finding; valid until three more have been made.
const char *roce_text(struct roce_judge *judge, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

void roce_found(struct roce_judge *judge, enum roce_rule rule, const char *expected,
                const char *got);

// As above with a severity of its own.
void roce_found_as(struct roce_judge *judge, enum roce_rule rule, enum roce_severity severity,
                   const char *expected, const char *got);

// As above for an earlier frame.
void roce_found_at(struct roce_judge *judge, enum roce_rule rule, uint64_t frame,
                   const struct roce_flow *flow, const char *expected, const char *got);

// network_rules.c, header_rules.c: rules that the frame decides by itself.
void roce_judge_broken(struct roce_judge *judge);
void roce_judge_network(struct roce_judge *judge); // Ethernet, IP, UDP
void roce_judge_bth(struct roce_judge *judge);
bool roce_judge_headers(struct roce_judge *judge); // false: judge no further
void roce_judge_forms(struct roce_judge *judge);   // payload, AETH, DETH, CNP
bool roce_middle_has_aeth(const struct roce_judge *judge, uint32_t path_mtu);

// icrc_rules.c: false if the packet has no ICRC at all.
bool roce_judge_icrc(struct roce_judge *judge);

// flow_begin.c: a flow when its QP is set up again, and what it learns.
void roce_flow_restart(struct roce_judge *judge, struct roce_flow *flow); // and its counterpart
void roce_flows_connect(struct roce_judge *judge, struct roce_flow *one, struct roce_flow *other,
                        const uint32_t start_psns[2], uint32_t path_mtu);
void roce_learn_mtu(struct roce_flow *flow, uint32_t path_mtu);

// constant_rules.c: what must not change within a flow, and what is configured.
void roce_judge_destination(struct roce_judge *judge);
void roce_judge_constants(struct roce_judge *judge);
void roce_judge_configured(struct roce_judge *judge); // requests

// request_rules.c, psn_rules.c, message_rules.c
void roce_judge_request(struct roce_judge *judge);
void roce_judge_psn(struct roce_judge *judge, int64_t distance);
void roce_take_datagram(struct roce_judge *judge);
void roce_doubt(struct roce_requests *requests);
void roce_resynchronise(struct roce_flow *flow);
void roce_reach(struct roce_requests *requests, int64_t position, int64_t span);
void roce_judge_message(struct roce_judge *judge);

// gaps.c: PSNs from `first` to `last` that an RC flow skipped.
void roce_gap_open(struct roce_judge *judge, enum roce_rule rule, int64_t first, int64_t last,
                   uint32_t expected);
bool roce_gaps_fill(struct roce_judge *judge, int64_t first, int64_t last);
void roce_gaps_covered(struct roce_judge *judge, struct roce_flow *flow, int64_t position);
void roce_gaps_report(struct roce_judge *judge, struct roce_flow *flow);

// pairs.c: who answers whom.
struct roce_flow *roce_counterpart(struct roce_judge *judge);

// response_rules.c, read_rules.c, msn_rules.c; `asked` are the requests that are answered
void roce_judge_response(struct roce_judge *judge);
struct roce_read *roce_read_answered(const struct roce_judge *judge,
                                     const struct roce_requests *asked, int64_t q);
void roce_judge_data(struct roce_judge *judge, struct roce_flow *asked, struct roce_read *read,
                     int64_t q);
void roce_judge_reads_acked(struct roce_judge *judge, struct roce_requests *asked, int64_t q);
void roce_judge_msn(struct roce_judge *judge, struct roce_requests *asked, int64_t q,
                    struct roce_read *read);
void roce_msn_give_up(struct roce_judge *judge, struct roce_flow *flow); // waiting for a third

// history.c: the requests of a flow by PSN.
const struct roce_sent *roce_sent_at(const struct roce_requests *requests, uint32_t psn);
void roce_sent_keep_wider(struct roce_judge *judge, struct roce_requests *requests,
                          const struct roce_packet *packet);

// msn_counter.c: counts of messages; false where it is not known.
struct roce_msn_counter_counts {
    uint32_t all;
    uint32_t received; // those that are not WRITE without immediate
};

void roce_msn_counter_start(struct roce_msn_counter *msn_counter, int64_t position,
                            bool from_start);
void roce_msn_counter_add_wider(struct roce_judge *judge, struct roce_flow *flow, int64_t position,
                                bool received);
bool roce_msn_counter_count(const struct roce_msn_counter *msn_counter, int64_t position,
                            struct roce_msn_counter_counts *counts);

// reads.c: the requests of a flow that are answered with data, by number and by position.
int64_t roce_span(uint32_t length, uint32_t path_mtu);
struct roce_read *roce_read_number(const struct roce_requests *requests, uint32_t number);
uint32_t roce_reads_oldest(const struct roce_requests *requests);
int64_t roce_read_offset(const struct roce_read *read, int64_t position);
struct roce_read *roce_read_at(const struct roce_requests *requests, int64_t position);
void roce_read_keep(struct roce_judge *judge, int64_t position);
void roce_read_forget(struct roce_judge *judge, struct roce_read *read);
bool roce_read_is_repeated(struct roce_judge *judge, int64_t position);
void roce_read_repeat(struct roce_judge *judge, int64_t position);
bool roce_read_has_restart(const struct roce_read *read, uint32_t response);
bool roce_read_answer(struct roce_judge *judge, struct roce_requests *asked, struct roce_read *read,
                      uint32_t response); // whether it is new

// management.c, congestion_rules.c
void roce_judge_mad(struct roce_judge *judge);
void roce_take_management(struct roce_judge *judge);
void roce_judge_cnp(struct roce_judge *judge);

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

static inline bool roce_all_zero(const uint8_t *bytes, uint32_t count) {
    uint32_t at = 0;
    while (at < count && bytes[at] == 0)
        at++;
    return at == count;
}

// Whether a packet's ICRC vouches for its header fields.
static inline bool roce_is_trusted(const struct roce_judge *judge) {
    return judge->packet->verdict != ROCE_BAD || !judge->flow->trusted_icrc;
}

static inline struct roce_sent *roce_sent_slot(const struct roce_requests *requests, uint32_t psn) {
    return &requests->sent[psn & (requests->sent_slots - 1)];
}

static inline void roce_sent_put(struct roce_requests *requests, const struct roce_packet *packet) {
    *roce_sent_slot(requests, packet->psn) = (struct roce_sent){
        .psn = packet->psn,
        .head = packet->head,
        .right = packet->right,
        .bytes = roce_body_bytes(packet),
        .opcode = packet->opcode,
        .present = true,
        .doubtful = packet->verdict != ROCE_OK,
    };
}

// Remember a request, in a wider ring if it needs one.
static inline void roce_sent_keep(struct roce_judge *judge, struct roce_requests *requests,
                                  const struct roce_packet *packet) {
    if (requests->sent_slots == ROCE_KEPT_PSNS)
        roce_sent_put(requests, packet);
    else
        roce_sent_keep_wider(judge, requests, packet);
}

static inline void roce_msn_counter_put(struct roce_msn_counter *msn_counter, int64_t position,
                                        bool received) {
    msn_counter->received += received;
    msn_counter->ends[msn_counter->total++ & (msn_counter->slots - 1)] =
        (struct roce_end){position, msn_counter->received};
}

// Count a message that ends at that position.
static inline void roce_msn_counter_add(struct roce_judge *judge, struct roce_flow *flow,
                                        int64_t position, bool received) {
    if (flow->requests.msn_counter.slots == ROCE_KEPT_ENDS)
        roce_msn_counter_put(&flow->requests.msn_counter, position, received);
    else
        roce_msn_counter_add_wider(judge, flow, position, received);
}

// All rules that the frame concerns.
static inline void roce_judge_routed(struct roce_judge *judge, const struct roce_record *record,
                                     const struct roce_packet *packet,
                                     const struct roce_routed *routed) {
    if (routed->flow != NULL)
        roce_judge_next(judge, record, packet, routed);
    else
        roce_judge_anew(judge, record, packet, routed, NULL);
    if (judge->memory.refused || (routed->notes & ROCE_NO_ROOM)) {
        judge->memory.refused = false;
        judge->totals.untracked++;
    }
}

#endif
