// SPDX-License-Identifier: BSD-2-Clause
//
// Every transmission has a number of its own, so that what is repeated is simply sent; what is
// delivered counts once, since only what was lost is repeated.

#include "transport.h"

static const double cubic_c = 0.4; // packets per cubed second
static const double cubic_beta = 0.7;
static const double initial_window = 10;
static const uint64_t least_timeout = UINT64_C(200000000000);

static void init(struct flow *f) {
    f->window = initial_window;
    f->threshold = 1e18;
}

static bool may_send(const struct flow *f) {
    double most = (double)f->plan.depth;
    return (double)(f->in_flight + 1) <= (f->window < most ? f->window : most);
}

static void arm(struct world *w, struct flow *f) {
    uint64_t time = f->in_flight ? w->now + least_timeout + 2 * f->plan.back : NEVER;
    heap_set(&w->agenda, flow_item(w, f, TIMES_OUT), time);
}

static void sent(struct world *w, struct flow *f, uint64_t psn) {
    (void)psn;
    if (!f->in_flight++)
        arm(w, f);
}

static void receive(struct world *w, struct flow *f, uint64_t psn) {
    flow_deliver(w, f, f->plan.mtu);
    flow_reply(w, f, psn, ACK);
}

// Of a number of at least 0, by Newton's method, so that every machine says the same.
static double cube_root(double x) {
    double root = x > 1 ? x : 1;
    for (int n = 0; n < 100; n++)
        root -= (root - x / (root * root)) / 3;
    return root;
}

static void reduce(struct world *w, struct flow *f) {
    f->largest = f->window;
    f->window *= cubic_beta;
    if (f->window < 2)
        f->window = 2;
    f->threshold = f->window;
    f->reduced_at = w->now;
    f->recovery = f->next;
}

static void grow(struct world *w, struct flow *f) {
    if (f->window < f->threshold) {
        f->window += 1;
        return;
    }
    double k = cube_root(f->largest * (1 - cubic_beta) / cubic_c);
    double t = (double)(w->now - f->reduced_at) / 1e12 - k;
    double target = cubic_c * t * t * t + f->largest;
    double most = 1.5 * f->window;
    target = target < most ? target : most;
    f->window += (target > f->window ? target - f->window : 0.01) / f->window;
}

static void replied(struct world *w, struct flow *f, const struct packet *reply) {
    if (reply->psn < f->high)
        return; // counted as lost when a later one was acknowledged
    uint64_t lost = reply->psn - f->high;
    f->high = reply->psn + 1;
    f->in_flight -= lost + 1 < f->in_flight ? lost + 1 : f->in_flight;
    f->resent += lost;
    if (lost && reply->psn >= f->recovery)
        reduce(w, f);
    else if (!lost)
        grow(w, f);
    arm(w, f);
}

static void timed_out(struct world *w, struct flow *f) {
    f->timeouts++;
    f->resent += f->in_flight;
    f->in_flight = 0;
    f->high = f->next;
    f->threshold = f->window / 2 > 2 ? f->window / 2 : 2;
    f->largest = f->window;
    f->reduced_at = w->now;
    f->window = 1;
}

const struct transport transport_tcp = {.init = init,
                                        .may_send = may_send,
                                        .sent = sent,
                                        .receive = receive,
                                        .replied = replied,
                                        .timed_out = timed_out};
