// SPDX-License-Identifier: BSD-2-Clause
//
// A flow at its start, and again when its QP is set up anew: what configuration and
// CM say of it, and what its packets teach of the path MTU.

#include <string.h>

#include "judge.h"
#include "routing.h"

static bool is_end(const struct roce_fact *fact, const struct roce_address *address) {
    return roce_same_address(&fact->address, address) ||
           roce_same_address(&fact->remote_address, address);
}

// The row of the end that sends names the destination QPN as remote, that of the end that
// receives as its own. Of rows that say the same, the last one counts.
static void configure(const struct roce_facts *facts, struct roce_flow *flow) {
    const struct roce_key *key = &flow->key;
    bool knows_source = false;
    bool knows_destination = false;
    for (size_t i = 0; facts != NULL && i < facts->count; i++) {
        const struct roce_fact *fact = &facts->rows[i];
        if (fact->remote_qpn == key->qpn && roce_same_address(&fact->address, &key->source) &&
            roce_same_address(&fact->remote_address, &key->destination))
            flow->own_fact = fact;
        if (fact->qpn == key->qpn && roce_same_address(&fact->address, &key->destination) &&
            roce_same_address(&fact->remote_address, &key->source))
            flow->peer_fact = fact;
        knows_source = knows_source || is_end(fact, &key->source);
        knows_destination = knows_destination || is_end(fact, &key->destination);
        flow->is_elsewhere =
            flow->is_elsewhere || fact->qpn == key->qpn || fact->remote_qpn == key->qpn;
    }
    const bool special = key->qpn <= 1 || key->qpn == 0xFFFFFF;
    flow->is_stranger = flow->own_fact == NULL && flow->peer_fact == NULL && !special &&
                        knows_source && knows_destination;
}

static void reset(struct roce_flow *flow) {
    flow->changes++;
    static const struct roce_constants NONE = {-1, -1, -1, -1};
    struct roce_requests *requests = &flow->requests;
    *requests = (struct roce_requests){
        .awaited = -1,
        .message.doubt = true,
        .msn_counter = {.ends = requests->msn_counter.ends, .slots = requests->msn_counter.slots},
        .sent = requests->sent,
        .sent_slots = requests->sent_slots,
        .reads = requests->reads,
        .gaps = requests->gaps,
    };
    flow->responses = (struct roce_responses){0};
    flow->request_constants = flow->response_constants = flow->cnp_constants = NONE;
    const struct roce_fact *own = flow->own_fact;
    const struct roce_fact *peer = flow->peer_fact;
    flow->service = own ? own->service : peer ? peer->service : ROCE_NO_SERVICE;
    flow->start_psn = own && own->start_psn >= 0 ? own->start_psn
                      : peer                     ? peer->remote_start_psn
                                                 : -1;
    const int32_t mtu = own && own->path_mtu >= 0 ? own->path_mtu : peer ? peer->path_mtu : -1;
    flow->path_mtu = mtu > 0 ? (uint32_t)mtu : 0;
    flow->first_port = -1;
}

struct roce_flow *roce_flow_of(struct roce_oracle *oracle, const struct roce_key *key) {
    bool made;
    struct roce_flow *flow = roce_flow_get(&oracle->table, key, &made);
    if (flow == NULL || !made)
        return flow;
    flow->judge = (uint8_t)(oracle->table.count % ROCE_JUDGES);
    configure(oracle->facts, flow);
    reset(flow);
    const struct roce_fact *own = flow->own_fact;
    const struct roce_fact *peer = flow->peer_fact;
    if (own == NULL && peer == NULL)
        return flow;
    const struct roce_key back = {
        .interface = key->interface,
        .qpn = own ? own->qpn : peer->remote_qpn,
        .source = key->destination,
        .destination = key->source,
    };
    struct roce_flow *other = roce_flow_of(oracle, &back);
    if (other != NULL && other != flow)
        roce_pair(oracle, flow, other);
    return flow;
}

// Everything that packets have shown of one direction is forgotten; whether it waits for a
// counterpart is not, since that of a flow with requests does.
static void restart(struct roce_judge *judge, struct roce_flow *flow) {
    struct roce_requests *requests = &flow->requests;
    flow->count.restarts += requests->any;
    roce_gaps_report(judge, flow);
    roce_msn_give_up(judge, flow);
    for (uint32_t i = 0; i < requests->sent_slots; i++)
        requests->sent[i].present = false;
    for (uint32_t i = roce_reads_oldest(requests); i != requests->read_count; i++)
        roce_read_forget(judge, roce_read_number(requests, i));
    reset(flow);
}

void roce_flow_restart(struct roce_judge *judge, struct roce_flow *flow) {
    struct roce_flow *other = flow->counterpart;
    restart(judge, flow);
    if (other != NULL)
        restart(judge, other);
}

// Configuration outweighs what CM tells.
static void tell(struct roce_flow *flow, uint32_t start_psn, uint32_t path_mtu) {
    flow->changes++;
    if (flow->start_psn < 0)
        flow->start_psn = (int32_t)start_psn;
    if (flow->path_mtu == 0)
        flow->path_mtu = path_mtu;
}

void roce_flows_connect(struct roce_judge *judge, struct roce_flow *one, struct roce_flow *other,
                        const uint32_t start_psns[2], uint32_t path_mtu) {
    struct roce_flow *const flows[] = {one, one->counterpart, other, other->counterpart};
    for (size_t i = 0; i < sizeof flows / sizeof *flows; i++)
        if (flows[i] != NULL)
            roce_flow_move(judge->oracle, flows[i], judge->number);
    roce_flow_restart(judge, one);
    roce_flow_restart(judge, other);
    roce_pair(judge->oracle, one, other);
    tell(one, start_psns[0], path_mtu);
    tell(other, start_psns[1], path_mtu);
}

static void take_mtu(struct roce_flow *flow, uint32_t path_mtu) {
    if (flow->path_mtu != 0)
        return;
    flow->changes++;
    flow->path_mtu = path_mtu;
    struct roce_requests *requests = &flow->requests;
    for (uint32_t i = roce_reads_oldest(requests); i != requests->read_count; i++) {
        struct roce_read *read = roce_read_number(requests, i);
        if (read->span != 0 || !read->known)
            continue;
        read->span = roce_span(read->length, path_mtu);
        if (requests->adopts && read->position == requests->newest)
            roce_reach(requests, read->position, read->span);
    }
}

void roce_learn_mtu(struct roce_flow *flow, uint32_t path_mtu) {
    take_mtu(flow, path_mtu);
    if (flow->counterpart != NULL)
        take_mtu(flow->counterpart, flow->path_mtu);
}
