// SPDX-License-Identifier: BSD-2-Clause

#include "routing.h"

#include <string.h>

static void read_key(struct roce_key *key, const struct roce_record *record,
                     const struct roce_packet *packet) {
    const uint8_t *ip = packet->frame + packet->ip;
    memset(key, 0, sizeof *key);
    key->interface = record->interface;
    key->qpn = packet->qpn;
    key->source.version = key->destination.version = packet->version;
    if (packet->version == 4) {
        memcpy(key->source.bytes, ip + 12, 4);
        memcpy(key->destination.bytes, ip + 16, 4);
    } else {
        memcpy(key->source.bytes, ip + 8, 16);
        memcpy(key->destination.bytes, ip + 24, 16);
    }
}

// Whether a packet can touch what all share; `flow` is NULL if it would begin one.
static bool needs_turn(const struct roce_oracle *oracle, const struct roce_packet *packet,
                       const struct roce_key *key, const struct roce_flow *flow) {
    if (packet->qpn == 1)
        return true;
    if (flow != NULL && flow->counterpart != NULL)
        return false;
    if (flow == NULL && oracle->facts != NULL)
        return true;
    const struct roce_opcode *row = roce_opcode(packet->opcode);
    return roce_is_request(row) ? flow == NULL || !flow->waiting
                                : roce_is_response(row) && !roce_is_alone(oracle, key);
}

static struct roce_flow *begin_flow(struct roce_oracle *oracle, const struct roce_record *record,
                                    const struct roce_key *key, struct roce_flow *flow) {
    if (flow == NULL)
        flow = roce_flow_of(oracle, key);
    if (flow == NULL || flow->number >= 0)
        return flow;
    flow->number = oracle->table.begun_count;
    flow->first_frame = record->number;
    oracle->table.begun[oracle->table.begun_count++] = flow;
    return flow;
}

// A wrong ICRC may be the right one of the packet before.
static void note_icrc(struct roce_oracle *oracle, const struct roce_record *record,
                      const struct roce_packet *packet, struct roce_routed *routed) {
    if (packet->verdict == ROCE_UNCHECKED || record->interface >= ROCE_INTERFACES)
        return;
    routed->previous = oracle->previous[record->interface].right;
    if (oracle->previous[record->interface].known)
        routed->notes |= ROCE_HAS_PREVIOUS;
    oracle->previous[record->interface].right = packet->right;
    oracle->previous[record->interface].known = true;
}

// The rest of what is said of a packet with a whole BTH.
static void route_flow(struct roce_oracle *oracle, const struct roce_packet *packet,
                       const struct roce_key *key, struct roce_routed *routed) {
    const struct roce_opcode *row = roce_opcode(packet->opcode);
    const struct roce_flow *flow = routed->flow;
    if (flow == NULL && packet->fault == ROCE_SOUND)
        routed->notes |= ROCE_NO_ROOM;
    if (row->family == ROCE_CNP)
        routed->notes |= roce_marks_of(oracle, key);
    else if (roce_is_response(row) && flow != NULL && flow->counterpart == NULL &&
             roce_is_alone(oracle, key))
        routed->notes |= ROCE_ALONE;
    roce_note_mark(oracle, packet, key);
    routed->judge = flow != NULL ? flow->judge : packet->qpn % ROCE_JUDGES;
}

bool roce_route(struct roce_oracle *oracle, const struct roce_record *record,
                const struct roce_packet *packet, bool in_turn, struct roce_routed *routed) {
    const bool is_roce = packet->class == ROCE_V1 || packet->class == ROCE_V2;
    *routed = (struct roce_routed){.judge = packet->class == ROCE_OTHER ? ROCE_JUDGES : 0};
    struct roce_key key;
    if (is_roce && packet->has_bth) {
        read_key(&key, record, packet);
        routed->flow = roce_flow_find(&oracle->table, &key);
        const bool sound = packet->fault == ROCE_SOUND;
        if (sound && !in_turn && needs_turn(oracle, packet, &key, routed->flow))
            return false;
        if (sound)
            routed->flow = begin_flow(oracle, record, &key, routed->flow);
    }
    oracle->frames++;
    if (is_roce)
        note_icrc(oracle, record, packet, routed);
    if (is_roce && packet->has_bth)
        route_flow(oracle, packet, &key, routed);
    return true;
}

void roce_flow_move(struct roce_oracle *oracle, struct roce_flow *flow, uint8_t judge) {
    const size_t bytes = roce_flow_bytes(flow);
    oracle->judges[flow->judge].memory.bytes -= bytes;
    oracle->judges[judge].memory.bytes += bytes;
    flow->judge = judge;
}
