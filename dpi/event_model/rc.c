// SPDX-License-Identifier: BSD-2-Clause

#include "transport.h"

static bool may_send(const struct flow *f) {
    uint64_t open = f->una / f->per + f->plan.depth;
    uint64_t end = open < f->plan.messages ? open : f->plan.messages;
    return f->next < end * f->per;
}

static void arm(struct world *w, struct flow *f) {
    uint64_t time = f->most > f->una ? w->now + f->plan.timeout : NEVER;
    heap_set(&w->agenda, flow_item(w, f, TIMES_OUT), time);
}

static void sent(struct world *w, struct flow *f, uint64_t psn) {
    if (psn % f->per == 0 && f->most == psn + 1)
        f->begun[psn / f->per % f->plan.depth] = w->now;
    if (psn == f->una)
        arm(w, f);
}

static void receive(struct world *w, struct flow *f, uint64_t psn) {
    bool asks = psn % f->per == f->per - 1;
    if (psn > f->expected) {
        if (!f->nak_sent)
            flow_reply(w, f, f->expected, SEQUENCE_NAK);
        f->nak_sent = true;
    } else if (psn < f->expected) {
        if (asks)
            flow_reply(w, f, f->expected - 1, ACK);
    } else {
        flow_deliver(w, f, flow_payload(f, psn));
        f->expected++;
        f->nak_sent = false;
        if (asks)
            flow_reply(w, f, psn, ACK);
    }
}

static void complete(struct world *w, struct flow *f) {
    uint64_t latency = w->now - f->begun[f->done % f->plan.depth];
    if (latency < f->latency_least)
        f->latency_least = latency;
    if (latency > f->latency_most)
        f->latency_most = latency;
    f->latency_sum += latency;
    flow_complete(w, f);
}

// All PSNs before that one have arrived.
static bool advance(struct world *w, struct flow *f, uint64_t una) {
    if (una <= f->una)
        return false;
    f->una = una;
    if (f->next < una)
        f->next = una;
    f->retries = 0;
    while (f->done < una / f->per)
        complete(w, f);
    arm(w, f);
    return true;
}

static void repeat(struct world *w, struct flow *f) {
    f->next = f->una;
    if (++f->retries > f->plan.retries) {
        f->failed = true;
        heap_set(&w->agenda, flow_item(w, f, TIMES_OUT), NEVER);
    } else {
        arm(w, f);
    }
}

static void replied(struct world *w, struct flow *f, const struct packet *reply) {
    if (f->failed)
        return;
    if (reply->kind == ACK) {
        advance(w, f, reply->psn + 1);
    } else {
        f->naks++;
        advance(w, f, reply->psn);
        if (reply->psn == f->una)
            repeat(w, f);
    }
}

static void timed_out(struct world *w, struct flow *f) {
    f->timeouts++;
    repeat(w, f);
}

const struct transport transport_rc = {.may_send = may_send,
                                       .sent = sent,
                                       .receive = receive,
                                       .replied = replied,
                                       .timed_out = timed_out};
