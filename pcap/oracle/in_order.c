// SPDX-License-Identifier: BSD-2-Clause
//
// The request that most packets are: its headers are as before, its PSN is the next one, and it
// goes on with the message, or begins one, as it should. The rules for PSNs and messages
// (request.c, psn.c, message.c) would do the same with it, in more steps. What
// was found out about a flow is found out again only after something else happened to it.

#include <assert.h>
#include <string.h>

#include "oracle/judging.h"
#include "requests/history.h"
#include "requests/msn_counter.h"

enum { LARGEST_MTU = 4096 };

// What the rules need of the packet, taken out once.
struct request {
    const struct roce_opcode *row;
    const uint8_t *body;
    uint32_t size; // of its payload
};

// Whether the flow is where a request of that opcode is taken if it is the next one. It still is
// when one was.
static bool is_ready(const struct roce_flow *flow, const struct roce_opcode *row, uint8_t opcode) {
    const struct roce_requests *requests = &flow->requests;
    const enum roce_service service = roce_service_of(opcode);
    return (row->family == ROCE_SEND || row->family == ROCE_WRITE) && flow->service == service &&
           service <= ROCE_UC && requests->any && !requests->adopts &&
           requests->newest == requests->next - 1 && !requests->start_known &&
           requests->msn_counter.counts && !requests->message.doubt &&
           (flow->counterpart != NULL || flow->waiting);
}

static inline uint32_t largest(const struct roce_flow *flow) {
    return flow->path_mtu ? flow->path_mtu : LARGEST_MTU;
}

static inline bool promises(const struct request *request, uint32_t bytes) {
    return !(request->row->headers & ROCE_HAS_RETH) || roce_u32(request->body + 12) == bytes;
}

static void begin_message(struct roce_message *message, const struct request *request,
                          uint64_t frame) {
    const bool has_reth = request->row->headers & ROCE_HAS_RETH;
    message->open = message->whole = true;
    message->frame = frame;
    message->mixed = false;
    message->family = request->row->family;
    message->carried = request->size;
    message->has_reth = message->has_length = has_reth;
    if (has_reth) {
        memcpy(message->reth, request->body, ROCE_RETH_BYTES);
        message->length = roce_u32(request->body + 12);
    }
}

static bool takes_first(const struct roce_flow *flow, const struct request *request) {
    return flow->path_mtu != 0 && request->size == flow->path_mtu &&
           (!(request->row->headers & ROCE_HAS_RETH) ||
            roce_u32(request->body + 12) > request->size);
}

static bool repeats_reth(const struct roce_message *message, const struct request *request) {
    return message->has_reth && request->size >= ROCE_RETH_BYTES &&
           memcmp(request->body + request->row->header_bytes + 8, message->reth + 8, 8) == 0;
}

static bool goes_on_well(const struct roce_flow *flow, const struct request *request) {
    const struct roce_message *message = &flow->requests.message;
    const uint32_t size = request->size;
    const uint64_t carried = message->carried + size;
    if (message->mixed || message->family != request->row->family)
        return false;
    if (!request->row->closes)
        return flow->path_mtu != 0 && size == flow->path_mtu &&
               (!message->has_length || carried < message->length);
    return size > 0 && size <= largest(flow) &&
           (!message->has_length || carried == message->length) && !repeats_reth(message, request);
}

// Takes its part of a message, if it is as it should be. What a message was is not asked once it
// is closed.
static inline bool takes_part(struct roce_flow *flow, const struct request *request,
                              uint64_t frame) {
    struct roce_message *message = &flow->requests.message;
    const struct roce_opcode *row = request->row;
    if (message->open == row->opens)
        return false;
    if (row->opens && row->closes)
        return request->size <= largest(flow) && promises(request, request->size);
    if (row->opens) {
        if (!takes_first(flow, request))
            return false;
        begin_message(message, request, frame);
        return true;
    }
    if (!goes_on_well(flow, request))
        return false;
    message->open = !row->closes;
    message->carried += request->size;
    return true;
}

// What requests that are taken in order find so, once the first of them was; the long way would do
// the same to one with that PSN.
static inline void put_in_order(struct roce_requests *requests) {
    requests->lost_bad = 0;
    requests->responses_since = 0;
    requests->previous_was_read = false;
    requests->new_since_aeth = true;
}

static inline void close_message(struct roce_judge *judge, struct roce_flow *flow, int64_t position,
                                 bool is_received) {
    flow->count.messages++;
    roce_msn_counter_add(judge, flow, position, is_received);
}

// Takes all of it but for its message; returns its position.
static inline int64_t take(struct roce_judge *judge, struct roce_flow *flow,
                           const struct roce_packet *packet, uint32_t payload) {
    struct roce_requests *requests = &flow->requests;
    const int64_t position = requests->next;
    if (requests->awaited == (int32_t)packet->psn)
        requests->awaited = -1;
    requests->newest = position;
    requests->next = position + 1;
    requests->previous = packet->psn;
    requests->previous_was_empty = payload == 0; // then it is a message of its own
    flow->count.requests++;
    flow->count.ack_requests += packet->ack >> 7;
    flow->count.bytes += packet->full_size;
    judge->totals.roce_frames++;
    judge->totals.icrc[ROCE_OK]++;
    roce_sent_keep(judge, requests, packet);
    return position;
}

// The packet that it looks as, as far as the rules of headers look; else NULL.
static inline struct roce_usual *usual_of(struct roce_judge *judge, const struct roce_flow *flow,
                                          const struct roce_packet *packet,
                                          const struct roce_opcode *row) {
    struct roce_usual *usual = roce_usual_place(judge->usual, flow, packet->opcode);
    const bool fits = usual->flow == flow && packet->verdict == ROCE_OK &&
                      roce_usual_holds(usual, flow, row) && roce_looks_usual(usual, packet, row);
    return fits ? usual : NULL;
}

static inline struct roce_lane *lane_of(struct roce_judge *judge,
                                        const struct roce_packet *packet) {
    return &judge->lanes[packet->look % ROCE_LANES];
}

static inline bool is_received(const struct roce_opcode *row) {
    return row->family != ROCE_WRITE || (row->headers & ROCE_HAS_IMM);
}

static struct roce_lane lane_for(const struct roce_flow *flow, const struct roce_packet *packet,
                                 const struct roce_opcode *row, uint32_t payload) {
    return (struct roce_lane){
        .look = packet->look,
        .flow = flow,
        .changes = flow->changes,
        .row = row,
        .payload = payload,
        .is_whole = row->opens && row->closes && payload <= largest(flow),
        .has_reth = row->headers & ROCE_HAS_RETH,
        .is_received = is_received(row),
    };
}

static bool takes_any(struct roce_judge *judge, const struct roce_record *record,
                      const struct roce_packet *packet, struct roce_flow *flow,
                      const struct roce_opcode *row, uint32_t payload) {
    const struct request request = {.row = row, .body = roce_body(packet), .size = payload};
    if (!takes_part(flow, &request, record->number))
        return false;
    const int64_t position = take(judge, flow, packet, payload);
    if (row->closes)
        close_message(judge, flow, position, is_received(row));
    return true;
}

static inline bool takes_whole(struct roce_judge *judge, const struct roce_packet *packet,
                               struct roce_flow *flow, const struct roce_lane *lane) {
    if (flow->requests.message.open ||
        (lane->has_reth && roce_u32(roce_body(packet) + 12) != lane->payload))
        return false;
    close_message(judge, flow, take(judge, flow, packet, lane->payload), lane->is_received);
    return true;
}

static __attribute__((noinline)) void judge_out_of_lane(struct roce_judge *judge,
                                                        const struct roce_record *record,
                                                        const struct roce_packet *packet,
                                                        const struct roce_routed *routed) {
    struct roce_flow *flow = routed->flow;
    const struct roce_opcode *row = roce_opcode(packet->opcode);
    const struct roce_usual *usual = usual_of(judge, flow, packet, row);
    if (usual != NULL && roce_psn(flow->requests.next) == packet->psn &&
        is_ready(flow, row, packet->opcode)) {
        put_in_order(&flow->requests);
        if (packet->look != 0)
            *lane_of(judge, packet) = lane_for(flow, packet, row, usual->payload);
        if (takes_any(judge, record, packet, flow, row, usual->payload))
            return;
    }
    roce_judge_anew(judge, record, packet, routed, usual);
}

void roce_judge_next(struct roce_judge *judge, const struct roce_record *record,
                     const struct roce_packet *packet, const struct roce_routed *routed) {
    struct roce_flow *flow = routed->flow;
    const struct roce_lane *lane = lane_of(judge, packet);
    const uint64_t differs = (lane->look ^ packet->look) | (lane->changes ^ flow->changes);
    if (differs == 0 && lane->flow == flow && packet->verdict == ROCE_OK &&
        roce_psn(flow->requests.next) == packet->psn) {
        assert(is_ready(flow, lane->row, packet->opcode));
        if (lane->is_whole ? takes_whole(judge, packet, flow, lane)
                           : takes_any(judge, record, packet, flow, lane->row, lane->payload))
            return;
    }
    judge_out_of_lane(judge, record, packet, routed);
}
