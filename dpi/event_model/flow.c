// SPDX-License-Identifier: BSD-2-Clause

#include "flow.h"

#include <stdlib.h>

#include "port.h"
#include "transport.h"

enum {
    OVERHEAD_RC_UC = 14 + 20 + 8 + 12 + 4 + PREAMBLE_GAP_FCS, // IPv4, BTH, ICRC
    OVERHEAD_TCP = 14 + 20 + 32 + PREAMBLE_GAP_FCS,           // with timestamps
    RETH = 16,
    IMMEDIATE = 4,
};

static const struct transport *const transports[KINDS] = {
    [RC] = &transport_rc, [UC] = &transport_uc, [TCP] = &transport_tcp};

static const struct transport *transport_of(const struct flow *f) {
    return transports[f->plan.kind];
}

bool flow_init(struct world *w, struct flow *f) {
    const struct flow_plan *plan = &f->plan;
    f->per = plan->size ? (plan->size + plan->mtu - 1) / plan->mtu : 1;
    f->due = plan->start;
    f->is_whole = true;
    f->latency_least = UINT64_MAX;
    f->injected_last = UINT64_MAX;
    f->begun = calloc(plan->depth, sizeof *f->begun);
    if (!f->begun)
        return false;
    if (transport_of(f)->init)
        transport_of(f)->init(f);
    heap_set(&w->agenda, flow_item(w, f, MAY_BEGIN), plan->start);
    return true;
}

uint64_t flow_payload(const struct flow *f, uint64_t psn) {
    bool is_last = psn % f->per == f->per - 1;
    return is_last ? f->plan.size - (f->per - 1) * f->plan.mtu : f->plan.mtu;
}

static uint64_t wire_bytes(const struct flow *f, uint64_t psn) {
    if (f->plan.kind == TCP)
        return f->plan.mtu + OVERHEAD_TCP;
    uint64_t place = psn % f->per;
    uint64_t padded = (flow_payload(f, psn) + 3) / 4 * 4;
    bool has_immediate = f->plan.immediate && place == f->per - 1;
    return padded + OVERHEAD_RC_UC + (place ? 0 : RETH) + (has_immediate ? IMMEDIATE : 0);
}

static uint64_t message_wire_bytes(const struct flow *f) {
    uint64_t bytes = 0;
    if (f->per > 1)
        bytes = wire_bytes(f, 0) + (f->per - 2) * (f->plan.mtu + OVERHEAD_RC_UC);
    return bytes + wire_bytes(f, f->per - 1);
}

static bool begins_unit(const struct flow *f) {
    return f->plan.pace && (!f->plan.pace_messages || f->next % f->per == 0);
}

static bool is_due(const struct world *w, const struct flow *f) {
    return w->now >= (begins_unit(f) ? f->due : f->plan.start);
}

void flow_wake(struct world *w, struct flow *f) {
    if (f->is_ready || f->failed || !transport_of(f)->may_send(f))
        return;
    if (!is_due(w, f)) {
        heap_set(&w->agenda, flow_item(w, f, MAY_BEGIN), f->due);
        return;
    }
    f->is_ready = true;
    port_offer(w, &w->ports[f->plan.path[0]], (uint32_t)(f - w->flows));
}

bool flow_send(struct world *w, struct flow *f, struct packet *packet) {
    if (f->failed || !transport_of(f)->may_send(f) || !is_due(w, f))
        return false;
    uint64_t psn = f->next;
    packet->psn = psn;
    packet->flow = (uint32_t)(f - w->flows);
    packet->hop = 0;
    packet->wire = (uint16_t)wire_bytes(f, psn);
    if (begins_unit(f)) {
        uint64_t unit = f->plan.pace_messages ? message_wire_bytes(f) : packet->wire;
        f->due = (f->due > w->now ? f->due : w->now) + line_time(unit, f->plan.pace);
    }
    if (psn == f->most)
        f->most++;
    else
        f->resent++;
    f->next++;
    transport_of(f)->sent(w, f, psn);
    return true;
}

void flow_receive(struct world *w, struct flow *f, uint64_t psn) {
    transport_of(f)->receive(w, f, psn);
}

void flow_reply(struct world *w, struct flow *f, uint64_t psn, uint8_t kind) {
    struct packet reply = {.time = w->now + f->plan.back, .psn = psn, .kind = kind};
    if (!f->replies.count)
        heap_set(&w->agenda, flow_item(w, f, REPLIED), reply.time);
    world_push(w, &f->replies, reply);
}

void flow_deliver(struct world *w, struct flow *f, uint64_t bytes) {
    f->delivered += bytes;
    if (w->now >= w->plan.since)
        f->delivered_since += bytes;
    if (w->plan.sample && w->now / w->plan.sample < w->sample_count)
        w->samples[w->now / w->plan.sample] += bytes;
}

void flow_complete(struct world *w, struct flow *f) {
    f->done++;
    f->last_time = w->now;
    if (f->done == f->plan.warm)
        f->warm_time = w->now;
}

void flow_suffers(struct flow *f, uint64_t psn) {
    uint64_t message = psn / f->per;
    f->injected += message != f->injected_last;
    f->injected_last = message;
}

void flow_act(struct world *w, struct flow *f, uint32_t what) {
    if (what == REPLIED) {
        struct packet reply = ring_pop(&f->replies);
        if (f->replies.count)
            heap_set(&w->agenda, flow_item(w, f, REPLIED), ring_front(&f->replies)->time);
        transport_of(f)->replied(w, f, &reply);
    } else if (what == TIMES_OUT) {
        transport_of(f)->timed_out(w, f);
    }
    flow_wake(w, f);
}

void flow_end(struct flow *f) {
    if (transport_of(f)->end)
        transport_of(f)->end(f);
}
