// SPDX-License-Identifier: BSD-2-Clause

#include "routing/routing.h"

#include <string.h>

#include "routing/flow_begin.h"
#include "routing/marks.h"
#include "routing/pairs.h"

static struct roce_key key_of(const struct roce_record *record, const struct roce_packet *packet) {
    const uint8_t *ip = packet->frame + packet->ip;
    struct roce_key key = {.interface = record->interface, .qpn = packet->qpn};
    key.source.version = key.destination.version = packet->version;
    if (packet->version == 4) {
        memcpy(key.source.bytes, ip + 12, 4);
        memcpy(key.destination.bytes, ip + 16, 4);
    } else {
        memcpy(key.source.bytes, ip + 8, 16);
        memcpy(key.destination.bytes, ip + 24, 16);
    }
    return key;
}

// Whether a packet can touch what all share; `flow` is NULL if it would begin one.
static bool needs_turn(const struct roce_oracle *oracle, const struct roce_record *record,
                       const struct roce_packet *packet, const struct roce_flow *flow) {
    if (packet->qpn == 1)
        return true;
    if (flow != NULL && flow->counterpart != NULL)
        return false;
    if (flow == NULL && oracle->facts != NULL)
        return true;
    const struct roce_opcode *row = roce_opcode(packet->opcode);
    if (roce_is_request(row))
        return flow == NULL || !flow->waiting;
    if (!roce_is_response(row))
        return false;
    const struct roce_key key = key_of(record, packet);
    return !roce_is_alone(oracle, &key);
}

static struct roce_flow *find_flow(struct roce_oracle *oracle, const struct roce_record *record,
                                   const struct roce_packet *packet) {
    struct roce_flow *flow = roce_flow_recent(&oracle->table, record->interface, packet);
    if (flow != NULL)
        return flow;
    const struct roce_key key = key_of(record, packet);
    return roce_flow_find(&oracle->table, &key);
}

static struct roce_flow *begin_flow(struct roce_oracle *oracle, const struct roce_record *record,
                                    const struct roce_packet *packet, struct roce_flow *flow) {
    if (flow == NULL) {
        const struct roce_key key = key_of(record, packet);
        flow = roce_flow_of(oracle, &key);
    }
    if (flow == NULL || flow->number >= 0)
        return flow;
    flow->number = oracle->table.begun_count;
    flow->first_frame = record->number;
    oracle->table.begun[oracle->table.begun_count++] = flow;
    return flow;
}

// What others mean for a packet with a whole BTH.
static uint8_t notes_of(struct roce_oracle *oracle, const struct roce_record *record,
                        const struct roce_packet *packet, const struct roce_flow *flow) {
    const struct roce_opcode *row = roce_opcode(packet->opcode);
    const bool cnp = row->family == ROCE_CNP;
    const bool lone = roce_is_response(row) && flow != NULL && flow->counterpart == NULL;
    const bool marked = roce_is_marked(packet);
    uint8_t notes = flow == NULL && packet->fault == ROCE_SOUND ? ROCE_NO_ROOM : 0;
    if (!cnp && !lone && !marked)
        return notes;
    const struct roce_key key = key_of(record, packet);
    if (cnp)
        notes |= roce_marks_of(oracle, &key);
    if (lone && roce_is_alone(oracle, &key))
        notes |= ROCE_ALONE;
    if (marked)
        roce_note_mark(oracle, &key);
    return notes;
}

static void note_way(struct roce_oracle *oracle, const struct roce_packet *packet,
                     struct roce_flow *flow) {
    const struct roce_opcode *row = roce_opcode(packet->opcode);
    if (packet->look == 0 || flow == NULL || packet->qpn == 1 || row->family == ROCE_CNP ||
        roce_is_marked(packet))
        return;
    *roce_way_of(oracle, packet) = (struct roce_way){packet->look, flow, roce_is_request(row)};
}

bool roce_route_anew(struct roce_oracle *oracle, const struct roce_record *record,
                     const struct roce_packet *packet, bool in_turn, struct roce_routed *routed) {
    const bool is_roce = packet->class == ROCE_V1 || packet->class == ROCE_V2;
    *routed = (struct roce_routed){.judge = packet->class == ROCE_OTHER ? ROCE_JUDGES : 0};
    if (is_roce && packet->has_bth) {
        struct roce_flow *flow = find_flow(oracle, record, packet);
        if (packet->fault == ROCE_SOUND) {
            if (!in_turn && needs_turn(oracle, record, packet, flow))
                return false;
            flow = begin_flow(oracle, record, packet, flow);
        }
        routed->flow = flow;
        routed->notes = notes_of(oracle, record, packet, flow);
        routed->judge = flow != NULL ? flow->judge : packet->qpn % ROCE_JUDGES;
        if (flow != NULL && flow->number < 0)
            routed->notes |= ROCE_UNBEGUN;
        note_way(oracle, packet, flow);
    }
    oracle->frames++;
    if (is_roce)
        roce_note_icrc(oracle, record, packet, routed);
    return true;
}
