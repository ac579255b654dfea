// SPDX-License-Identifier: BSD-2-Clause

#include "routing/flow_begin.h"

#include "routing/pairs.h"

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

void roce_flow_reset(struct roce_flow *flow) {
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
    roce_flow_reset(flow);
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
