// SPDX-License-Identifier: BSD-2-Clause
//
// A flow at its start, and again when its QP is set up anew.

#include <string.h>

#include "judge.h"

static bool same(const struct roce_address *a, const struct roce_address *b) {
    return a->version == b->version && memcmp(a->bytes, b->bytes, sizeof a->bytes) == 0;
}

// The row of the end that sends names the destination QPN as remote, that of the end that
// receives as its own.
static void configure(const struct roce_facts *facts, struct roce_flow *flow) {
    const struct roce_key *key = &flow->key;
    for (size_t i = 0; facts != NULL && i < facts->count; i++) {
        const struct roce_fact *fact = &facts->rows[i];
        if (flow->own_fact == NULL && fact->remote_qpn == key->qpn &&
            same(&fact->address, &key->source) && same(&fact->remote_address, &key->destination))
            flow->own_fact = fact;
        if (flow->peer_fact == NULL && fact->qpn == key->qpn &&
            same(&fact->address, &key->destination) && same(&fact->remote_address, &key->source))
            flow->peer_fact = fact;
    }
}

void roce_flow_restore(struct roce_flow *flow) {
    const struct roce_fact *own = flow->own_fact;
    const struct roce_fact *peer = flow->peer_fact;
    flow->start_psn = own && own->start_psn >= 0 ? own->start_psn
                      : peer                     ? peer->remote_start_psn
                                                 : -1;
    const int32_t mtu = own && own->path_mtu >= 0 ? own->path_mtu : peer ? peer->path_mtu : -1;
    flow->path_mtu = mtu > 0 ? (uint32_t)mtu : 0;
    flow->service = own ? own->service : peer ? peer->service : ROCE_NO_SERVICE;
    flow->first_port = -1;
}

void roce_flow_begin(struct roce_oracle *oracle, struct roce_flow *flow) {
    static const struct roce_constants NONE = {-1, -1, -1, -1};
    flow->request_constants = flow->response_constants = flow->cnp_constants = NONE;
    flow->doubt = true;
    configure(oracle->facts, flow);
    roce_flow_restore(flow);
    const struct roce_fact *own = flow->own_fact;
    const struct roce_fact *peer = flow->peer_fact;
    if (own == NULL && peer == NULL)
        return;
    const struct roce_key back = {
        .interface = flow->key.interface,
        .qpn = own ? own->qpn : peer->remote_qpn,
        .source = flow->key.destination,
        .destination = flow->key.source,
    };
    struct roce_flow *other = roce_flow_find(&oracle->table, &back);
    if (other != NULL && other != flow)
        roce_pair(oracle, flow, other);
}
