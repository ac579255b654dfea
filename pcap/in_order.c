// SPDX-License-Identifier: BSD-2-Clause
//
// The request that most packets are: its headers are as before, its PSN is the next one, and it
// goes on with the message, or begins one, as it should. The rules for PSNs and messages
// (request_rules.c, psn_rules.c, message_rules.c) would do the same with it, in more steps.

#include <string.h>

#include "judge.h"

enum { LARGEST_MTU = 4096 };

// What the rules need of the packet, taken out once.
struct request {
    const struct roce_opcode *row;
    const uint8_t *body;
    uint32_t psn;
    uint32_t size; // of its payload
    bool has_reth;
};

// Whether the flow is where nothing but the next packet is waited for.
static inline bool is_next(const struct roce_flow *flow, const struct request *request,
                           enum roce_service service) {
    const struct roce_requests *requests = &flow->requests;
    return flow->service == service && service <= ROCE_UC && requests->any && !requests->adopts &&
           roce_psn(requests->next) == request->psn && requests->newest == requests->next - 1 &&
           !requests->start_known && requests->msn_counter.counts && !requests->message.doubt &&
           ((flow->counterpart != NULL) | flow->waiting);
}

// Whether a message that begins here may, and has the length that it promises.
static inline bool begins_well(const struct roce_flow *flow, const struct request *request,
                               uint32_t promised) {
    if (flow->requests.message.open)
        return false;
    if (request->row->closes)
        return request->size <= (flow->path_mtu ? flow->path_mtu : LARGEST_MTU) &&
               (!request->has_reth || promised == request->size);
    return flow->path_mtu != 0 && request->size == flow->path_mtu &&
           (!request->has_reth || promised > request->size);
}

static bool repeats_reth(const struct roce_message *message, const struct request *request) {
    return message->has_reth && request->size >= ROCE_RETH_BYTES &&
           memcmp(request->body + request->row->header_bytes + 8, message->reth + 8, 8) == 0;
}

static bool goes_on_well(const struct roce_flow *flow, const struct request *request) {
    const struct roce_message *message = &flow->requests.message;
    const uint32_t size = request->size;
    const uint64_t carried = message->carried + size;
    if (!message->open || message->mixed || message->family != request->row->family)
        return false;
    if (!request->row->closes)
        return flow->path_mtu != 0 && size == flow->path_mtu &&
               (!message->has_length || carried < message->length);
    return size > 0 && size <= (flow->path_mtu ? flow->path_mtu : LARGEST_MTU) &&
           (!message->has_length || carried == message->length) && !repeats_reth(message, request);
}

static inline void begin_message(struct roce_message *message, const struct request *request,
                                 uint32_t promised, uint64_t frame) {
    message->whole = true;
    message->frame = frame;
    message->mixed = false;
    message->family = request->row->family;
    message->carried = 0;
    message->has_reth = message->has_length = request->has_reth;
    if (request->has_reth) {
        memcpy(message->reth, request->body, ROCE_RETH_BYTES);
        message->length = promised;
    }
}

// Takes what is fit to be taken.
static inline void take(struct roce_judge *judge, struct roce_flow *flow,
                        const struct request *request) {
    struct roce_requests *requests = &flow->requests;
    const struct roce_opcode *row = request->row;
    const bool closes = row->closes;
    const int64_t position = requests->next;
    requests->message.open = !closes;
    requests->lost_bad = 0;
    requests->responses_since = 0;
    if (requests->awaited == (int32_t)request->psn)
        requests->awaited = -1;
    requests->newest = position;
    requests->next = position + 1;
    requests->previous = request->psn;
    requests->previous_was_read = false;
    requests->previous_was_empty = row->opens && closes && request->size == 0;
    requests->new_since_aeth = true;
    flow->count.requests++;
    flow->count.ack_requests += judge->packet->ack >> 7;
    roce_sent_keep(judge, requests);
    if (closes) {
        flow->count.messages++;
        roce_msn_counter_add(judge, &requests->msn_counter, position,
                             row->family != ROCE_WRITE || (row->headers & ROCE_HAS_IMM));
    } else {
        requests->message.carried += request->size;
    }
}

bool roce_take_in_order(struct roce_judge *judge) {
    const struct roce_packet *packet = judge->packet;
    struct roce_flow *flow = judge->flow;
    const struct roce_opcode *row = judge->row;
    const struct request request = {
        .row = row,
        .body = roce_body(packet),
        .psn = packet->psn,
        .size = judge->payload,
        .has_reth = row->headers & ROCE_HAS_RETH,
    };
    if ((row->family != ROCE_SEND && row->family != ROCE_WRITE) ||
        !is_next(flow, &request, roce_service_of(packet->opcode)))
        return false;
    if (row->opens) {
        const uint32_t promised = request.has_reth ? roce_u32(request.body + 12) : 0;
        if (!begins_well(flow, &request, promised))
            return false;
        begin_message(&flow->requests.message, &request, promised, judge->record->number);
    } else if (!goes_on_well(flow, &request)) {
        return false;
    }
    take(judge, flow, &request);
    return true;
}
