// SPDX-License-Identifier: BSD-2-Clause
//
// The PSNs of RC and UC requests: which packets are new, which repeat, which are
// wrong. docs/observer.md, section 3.1.

#include <string.h>

#include "checksum.h"
#include "judge.h"

#define FIRST_LAP ((int64_t)1 << 32)

void roce_resynchronise(struct roce_flow *flow) {
    flow->adopts = true;
    flow->open = false;
    flow->doubt = true;
}

static void forget(struct roce_oracle *oracle, struct roce_flow *flow) {
    roce_gaps_report(oracle, flow);
    static const struct roce_constants NONE = {-1, -1, -1, -1};
    flow->request_constants = flow->response_constants = flow->cnp_constants = NONE;
    flow->path_mtu = 0;
    for (uint32_t i = 0; i < flow->sent_slots; i++)
        flow->sent[i].present = false;
    for (uint32_t i = 0; flow->reads != NULL && i < ROCE_KEPT_READS; i++) {
        roce_flow_release(&oracle->table, flow->reads[i].seen, flow->reads[i].seen_bits / 8);
        memset(&flow->reads[i], 0, sizeof flow->reads[i]);
    }
    flow->read_count = 0;
    flow->has_requests = flow->adopts = flow->open = flow->start_known = flow->replaying = false;
    flow->spoilt = false;
    flow->doubt = true;
    flow->epoch++;
    flow->previous_was_read = flow->previous_was_empty = false;
    flow->lost_bad = 0;
    flow->responses_since_request = 0;
    flow->copies_since_aeth = flow->new_since_aeth = false;
    flow->has_acked = flow->has_ack = flow->has_nak = flow->has_aeth = flow->has_base = false;
    flow->has_answered = false;
    roce_flow_restore(flow);
}

void roce_set_up(struct roce_oracle *oracle, struct roce_flow *flow) {
    forget(oracle, flow);
    if (flow->counterpart != NULL)
        forget(oracle, flow->counterpart);
}

static void take_mtu(struct roce_flow *flow, uint32_t path_mtu) {
    if (flow->path_mtu != 0)
        return;
    flow->path_mtu = path_mtu;
    const uint32_t kept = flow->read_count < ROCE_KEPT_READS ? flow->read_count : ROCE_KEPT_READS;
    for (uint32_t i = 0; i < kept; i++) {
        struct roce_read *read = &flow->reads[i];
        if (read->span != 0 || !read->known)
            continue;
        read->span = roce_span(read->length, path_mtu);
        if (read->position + read->span - 1 > flow->newest)
            flow->newest = read->position + read->span - 1;
    }
}

void roce_learn_mtu(struct roce_flow *flow, uint32_t path_mtu) {
    take_mtu(flow, path_mtu);
    if (flow->counterpart != NULL)
        take_mtu(flow->counterpart, flow->path_mtu);
}

static int64_t span_of(const struct roce_oracle *oracle) {
    if (oracle->row->family != ROCE_READ)
        return 1;
    if (!roce_body_has(oracle->packet, ROCE_RETH_BYTES))
        return 0;
    return roce_span(roce_u32(roce_body(oracle->packet) + 12), oracle->flow->path_mtu);
}

static bool same_content(const struct roce_packet *packet, const struct roce_sent *sent) {
    if (sent->doubtful || packet->verdict != ROCE_OK)
        return sent->opcode == packet->opcode || sent->doubtful || packet->verdict != ROCE_OK;
    const uint32_t bytes = roce_body_bytes(packet);
    return sent->opcode == packet->opcode && sent->bytes == bytes &&
           (sent->right ^ packet->right) == roce_crc_shift(sent->head ^ packet->head, bytes);
}

// Whether a READ REQUEST asks for the rest of a kept READ, which it then repeats.
static bool asks_for_rest(struct roce_oracle *oracle, int64_t position) {
    const struct roce_flow *flow = oracle->flow;
    struct roce_read *read = roce_read_at(flow, position);
    if (oracle->row->family != ROCE_READ || read == NULL || !read->known || flow->path_mtu == 0 ||
        !roce_body_has(oracle->packet, ROCE_RETH_BYTES))
        return false;
    const uint8_t *reth = roce_body(oracle->packet);
    const uint64_t ahead = (uint64_t)(position - read->position) * flow->path_mtu;
    if (ahead > read->length || roce_u64(reth) != read->address + ahead ||
        roce_u32(reth + 12) != read->length - ahead)
        return false;
    read->repeat = position - read->position;
    return true;
}

static bool is_copy(struct roce_oracle *oracle, int64_t position) {
    const struct roce_sent *sent = roce_sent_at(oracle->flow, position);
    if (sent != NULL && same_content(oracle->packet, sent)) {
        struct roce_read *read = roce_read_at(oracle->flow, position);
        if (read != NULL && read->position == position)
            read->repeat = 0;
        return true;
    }
    return asks_for_rest(oracle, position);
}

static void take_copy(struct roce_oracle *oracle, int64_t position) {
    struct roce_flow *flow = oracle->flow;
    flow->copies++;
    flow->replaying = true;
    flow->replay = flow->newest;
    flow->copies_since_aeth = true;
    if (flow->counterpart != NULL && flow->counterpart->has_nak &&
        flow->counterpart->nak == position)
        flow->counterpart->nak_answered = true;
}

static struct roce_sent *remember(struct roce_oracle *oracle, int64_t position) {
    struct roce_flow *flow = oracle->flow;
    const struct roce_packet *packet = oracle->packet;
    struct roce_sent *sent = roce_sent_add(oracle, flow, position);
    if (sent != NULL) {
        sent->opcode = packet->opcode;
        sent->head = packet->head;
        sent->right = packet->right;
        sent->bytes = roce_body_bytes(packet);
        sent->doubtful = packet->verdict != ROCE_OK;
    }
    if (flow->counterpart != NULL && flow->counterpart->has_nak &&
        flow->counterpart->nak == position)
        flow->counterpart->nak_answered = true;
    return sent;
}

static void count_message(struct roce_oracle *oracle, struct roce_sent *sent) {
    struct roce_flow *flow = oracle->flow;
    const struct roce_opcode *row = oracle->row;
    if (row->closes) {
        flow->messages++;
        flow->all_messages++;
        flow->counted += row->family != ROCE_WRITE || (row->headers & ROCE_HAS_IMM);
    }
    if (sent != NULL) {
        sent->messages = flow->messages;
        sent->counted = flow->counted;
        sent->epoch = flow->doubt ? 0 : flow->epoch;
    }
}

static void take_new(struct roce_oracle *oracle, int64_t position) {
    struct roce_flow *flow = oracle->flow;
    const struct roce_opcode *row = oracle->row;
    const int64_t span = span_of(oracle);
    const bool doubted = flow->doubt;
    roce_judge_message(oracle);
    if (doubted && !flow->doubt) {
        flow->epoch++;
        flow->messages = flow->counted = 0;
        if (flow->has_requests)
            flow->start_known = false;
    }
    if (!flow->has_requests) {
        flow->has_requests = true;
        flow->first = flow->newest = position;
    }
    struct roce_sent *sent = remember(oracle, position);
    if (row->family >= ROCE_READ)
        roce_read_add(oracle, flow, position);
    count_message(oracle, sent);
    const int64_t last = position + (span ? span : 1) - 1;
    if (last > flow->newest)
        flow->newest = last;
    flow->next = position + span;
    flow->adopts = span == 0;
    flow->previous = position;
    flow->previous_was_read = row->family == ROCE_READ;
    flow->previous_was_empty = row->closes && oracle->payload == 0;
    flow->new_since_aeth = true;
    flow->responses_since_request = 0;
}

// The rule that says best what is wrong with a PSN at that distance from the expected one.
static enum roce_rule rule_of(const struct roce_oracle *oracle, int64_t distance) {
    const struct roce_flow *flow = oracle->flow;
    const uint32_t psn = oracle->packet->psn;
    const uint32_t before = roce_psn(flow->previous);
    const uint32_t expected = roce_psn(flow->next);
    const bool reliable = flow->service == ROCE_RC;
    if (roce_reversed(before) != before &&
        roce_reversed(psn) == ((roce_reversed(before) + 1) & (ROCE_PSN_MODULUS - 1)))
        return RULE_BTH_14;
    if (expected == 0 || (expected % ROCE_RESTART == 0 && distance == -ROCE_RESTART))
        return RULE_PSN_03;
    if (reliable && flow->previous_was_read)
        return RULE_PSN_05;
    if (flow->previous_was_empty && psn == before)
        return RULE_PSN_04;
    if (reliable && distance > 0 && (uint64_t)distance == flow->responses_since_request)
        return RULE_PSN_07;
    return reliable ? RULE_PSN_02 : RULE_PSN_18;
}

static void accuse(struct roce_oracle *oracle, int64_t distance) {
    oracle->flow->spoilt = true;
    roce_found(oracle, rule_of(oracle, distance),
               roce_text(oracle, "PSN 0x%06x", roce_psn(oracle->flow->next)),
               roce_text(oracle, "0x%06x", oracle->packet->psn));
}

static void doubt_message(struct roce_flow *flow) {
    flow->open = false;
    flow->doubt = true;
}

// The first request of a flow, or since its QP was set up.
static void begin(struct roce_oracle *oracle) {
    struct roce_flow *flow = oracle->flow;
    const uint32_t psn = oracle->packet->psn;
    const int64_t position = FIRST_LAP + psn;
    if (flow->start_psn >= 0) {
        const uint32_t start = (uint32_t)flow->start_psn;
        const int64_t ahead = roce_distance(psn, start);
        flow->start_known = ahead == 0;
        const bool gap = flow->service == ROCE_RC && ahead > 0 && ahead <= ROCE_RESTART;
        if (gap)
            roce_gap_open(oracle, RULE_PSN_01, position - ahead, position - 1, start);
        else if (ahead != 0)
            roce_found(oracle, RULE_PSN_01, roce_text(oracle, "PSN 0x%06x", start),
                       roce_text(oracle, "0x%06x", psn));
        flow->spoilt = ahead != 0 && !gap;
    }
    take_new(oracle, position);
}

static void adopt(struct roce_oracle *oracle) {
    struct roce_flow *flow = oracle->flow;
    const int64_t position = roce_near(flow->newest, oracle->packet->psn);
    if (flow->service == ROCE_RC && is_copy(oracle, position)) {
        take_copy(oracle, position);
        return;
    }
    if (position <= flow->newest || position > flow->newest + ROCE_RESTART)
        doubt_message(flow);
    take_new(oracle, position);
}

static void judge_ahead(struct roce_oracle *oracle, int64_t distance) {
    struct roce_flow *flow = oracle->flow;
    if (distance != flow->lost_bad) {
        if (flow->service == ROCE_RC && distance <= ROCE_RESTART)
            roce_gap_open(oracle, rule_of(oracle, distance), flow->next, flow->next + distance - 1,
                          roce_psn(flow->next));
        else
            accuse(oracle, distance);
    }
    doubt_message(flow);
    take_new(oracle, flow->next + distance);
}

// Whether an RC packet behind the expected PSN is neither late nor a copy.
static bool is_wrong_behind(struct roce_oracle *oracle, int64_t position, int64_t distance) {
    const struct roce_flow *flow = oracle->flow;
    if (-distance > ROCE_KEPT_PSNS)
        return distance == -ROCE_RESTART && roce_psn(flow->next) % ROCE_RESTART == 0;
    if (is_copy(oracle, position))
        return false;
    const struct roce_read *read = roce_read_at(flow, position);
    const bool inside = read != NULL && read->span != 0 && position > read->position;
    return roce_sent_at(flow, position) != NULL || inside;
}

static void judge_behind(struct roce_oracle *oracle, int64_t distance) {
    struct roce_flow *flow = oracle->flow;
    const int64_t position = flow->next + distance;
    if (flow->service == ROCE_RC) {
        const int64_t span = span_of(oracle);
        if (roce_gap_fill(oracle, position, position + (span ? span : 1) - 1)) {
            remember(oracle, position);
            if (oracle->row->family >= ROCE_READ)
                roce_read_add(oracle, flow, position);
            flow->new_since_aeth = true;
            return;
        }
        if (!is_wrong_behind(oracle, position, distance)) {
            take_copy(oracle, position);
            return;
        }
    }
    accuse(oracle, distance);
    doubt_message(flow);
    take_new(oracle, position);
}

static void learn_from(struct roce_oracle *oracle) {
    const struct roce_opcode *row = oracle->row;
    const uint32_t size = oracle->payload + oracle->pad;
    if (oracle->flow->path_mtu == 0 && !row->closes && roce_is_path_mtu(size))
        roce_learn_mtu(oracle->flow, size);
}

// UD: nothing is judged, but responses may come that should not.
static void take_datagram(struct roce_oracle *oracle) {
    struct roce_flow *flow = oracle->flow;
    const uint32_t psn = oracle->packet->psn;
    if (!flow->has_requests)
        flow->first = flow->newest = FIRST_LAP + psn;
    const int64_t position = roce_near(flow->newest, psn);
    if (position > flow->newest)
        flow->newest = position;
    flow->has_requests = true;
}

void roce_judge_request(struct roce_oracle *oracle) {
    struct roce_flow *flow = oracle->flow;
    const enum roce_service service = roce_service_of(oracle->packet->opcode);
    if (flow->service == ROCE_NO_SERVICE)
        flow->service = service;
    if (flow->service != service) {
        roce_found(oracle, RULE_BTH_01,
                   flow->service == ROCE_RC   ? "an opcode of RC"
                   : flow->service == ROCE_UC ? "an opcode of UC"
                                              : "an opcode of UD",
                   oracle->row->name);
        roce_resynchronise(flow);
        return;
    }
    const int64_t distance = flow->has_requests && !flow->adopts && service != ROCE_UD
                                 ? roce_distance(oracle->packet->psn, roce_psn(flow->next))
                                 : 0;
    if (oracle->row->opens && (distance > ROCE_RESTART || distance < -ROCE_RESTART)) {
        flow->restarts++;
        roce_set_up(oracle, flow);
        flow->service = service;
    }
    roce_judge_constants(oracle);
    flow->ack_requests += oracle->packet->ack >> 7;
    roce_offer(oracle, flow);
    if (service == ROCE_UD) {
        take_datagram(oracle);
        return;
    }
    learn_from(oracle);
    if (!flow->has_requests)
        begin(oracle);
    else if (flow->adopts)
        adopt(oracle);
    else if (distance == 0)
        take_new(oracle, flow->next);
    else if (distance > 0)
        judge_ahead(oracle, distance);
    else
        judge_behind(oracle, distance);
}
