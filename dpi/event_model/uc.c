// SPDX-License-Identifier: BSD-2-Clause

#include "transport.h"

static bool may_send(const struct flow *f) {
    return f->next < f->plan.messages * f->per;
}

static void sent(struct world *w, struct flow *f, uint64_t psn) {
    (void)w;
    (void)f;
    (void)psn;
}

// Which messages a gap in the PSNs tells of: each of which a packet is missing, once.
static void tell(struct flow *f, uint64_t psn) {
    uint64_t first = f->expected / f->per, behind = (psn - 1) / f->per + 1;
    if (first < f->told)
        first = f->told;
    if (behind > first)
        f->by_psns += behind - first;
    if (behind > f->told)
        f->told = behind;
}

static bool takes_receive(const struct world *w, struct flow *f) {
    if (!f->plan.receives)
        return true;
    bool is_stalled = w->now >= f->plan.stall_at && w->now < f->plan.stall_at + f->plan.stall_for;
    if (!is_stalled)
        f->taken = 0;
    else if (f->taken++ >= f->plan.receives)
        return false;
    return true;
}

static void receive(struct world *w, struct flow *f, uint64_t psn) {
    uint64_t place = psn % f->per, message = psn / f->per;
    if (psn > f->expected)
        tell(f, psn);
    f->is_whole = place == 0 || (f->is_whole && psn == f->expected);
    f->expected = psn + 1;
    if (place != f->per - 1 || !f->is_whole)
        return;
    if (!takes_receive(w, f)) {
        f->starved++;
        return;
    }
    if (message >= f->immediate)
        f->by_immediates += message - f->immediate;
    f->immediate = message + 1;
    flow_deliver(w, f, f->plan.size);
    flow_complete(w, f);
}

static void replied(struct world *w, struct flow *f, const struct packet *reply) {
    (void)w;
    (void)f;
    (void)reply;
}

static void timed_out(struct world *w, struct flow *f) {
    (void)w;
    (void)f;
}

static void end(struct flow *f) {
    if (f->next > f->expected)
        tell(f, f->next);
    f->by_immediates += f->next / f->per - f->immediate;
}

const struct transport transport_uc = {.may_send = may_send,
                                       .sent = sent,
                                       .receive = receive,
                                       .replied = replied,
                                       .timed_out = timed_out,
                                       .end = end};
