// SPDX-License-Identifier: BSD-2-Clause

#include "port.h"

#include "flow.h"

static const uint64_t billion = UINT64_C(1000000000);

// splitmix64
static bool happens(struct port *p, uint64_t in_billion) {
    if (!in_billion)
        return false;
    uint64_t z = p->random += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return (z ^ z >> 31) % billion < in_billion;
}

static uint64_t priority_of(const struct world *w, const struct packet *packet) {
    return w->flows[packet->flow].plan.priority;
}

// What waits at the far end of a port has changed; the far end pauses it, or lets it go on.
static void weigh(struct world *w, struct port *p, uint64_t priority) {
    if (!p->plan.xoff)
        return;
    bool too_much = p->held[priority] > p->plan.xoff;
    if (p->pausing[priority] ? p->held[priority] > p->plan.xon : !too_much)
        return;
    p->pausing[priority] = too_much;
    p->pauses_sent += too_much;
    struct packet pause = {
        .time = w->now + p->plan.delay, .hop = (uint8_t)priority, .kind = too_much};
    if (!p->pauses.count)
        heap_set(&w->agenda, port_item(w, p, PAUSES), pause.time);
    world_push(w, &p->pauses, pause);
}

static void account(struct world *w, const struct packet *packet, bool arrives) {
    if (packet->hop == 0)
        return;
    struct port *from = &w->ports[w->flows[packet->flow].plan.path[packet->hop - 1]];
    uint64_t priority = priority_of(w, packet);
    if (arrives)
        from->held[priority] += packet->wire;
    else
        from->held[priority] -= packet->wire;
    weigh(w, from, priority);
}

// The next packet of a priority that may leave, its own flows behind what is passed on.
static bool next_packet(struct world *w, struct port *p, struct packet *packet) {
    for (unsigned n = 0; n < PRIORITIES; n++) {
        uint8_t priority = (uint8_t)((p->turn + n) % PRIORITIES);
        if (p->paused[priority])
            continue;
        if (p->waiting[priority].count) {
            *packet = ring_pop(&p->waiting[priority]);
            p->turn = (uint8_t)(priority + 1);
            return true;
        }
        while (p->ready[priority].count) {
            struct flow *f = &w->flows[ring_pop(&p->ready[priority]).flow];
            f->is_ready = false;
            if (flow_send(w, f, packet)) {
                flow_wake(w, f);
                p->turn = (uint8_t)(priority + 1);
                return true;
            }
        }
    }
    return false;
}

// When the port may begin to send, now or later.
static uint64_t opens(const struct world *w, const struct port *p) {
    uint64_t end = p->plan.stall_at + p->plan.stall_for;
    if (w->now >= p->plan.stall_at && w->now < end)
        return end;
    if (!p->plan.pace)
        return w->now;
    uint64_t credit = line_time(p->plan.burst, p->plan.pace);
    return p->conforming > w->now + credit ? p->conforming - credit : w->now;
}

static void serve(struct world *w, struct port *p) {
    if (p->busy)
        return;
    uint64_t time = opens(w, p);
    if (time > w->now) {
        heap_set(&w->agenda, port_item(w, p, LEAVES), time);
        return;
    }
    p->busy = true;
    if (!next_packet(w, p, &p->leaving)) {
        p->busy = false;
        return;
    }
    if (p->plan.pace) {
        uint64_t from = p->conforming > w->now ? p->conforming : w->now;
        p->conforming = from + line_time(p->leaving.wire, p->plan.pace);
    }
    heap_set(&w->agenda, port_item(w, p, LEAVES),
             w->now + line_time(p->leaving.wire, p->plan.rate));
}

static void put_on_wire(struct world *w, struct port *p, struct packet packet) {
    packet.time = w->now + p->plan.delay;
    if (!p->wire.count)
        heap_set(&w->agenda, port_item(w, p, ARRIVES), packet.time);
    world_push(w, &p->wire, packet);
}

// Exchange what two packets are; they arrive when the other would have.
static void exchange(struct packet *a, struct packet *b) {
    struct packet was = *a;
    *a = *b;
    a->time = was.time;
    was.time = b->time;
    *b = was;
}

static void leave(struct world *w, struct port *p) {
    struct packet packet = p->leaving;
    p->busy = false;
    p->sent++;
    if (packet.hop > 0)
        p->bytes -= packet.wire;
    account(w, &packet, false);
    if (happens(p, p->plan.loss)) {
        p->lost++;
        flow_suffers(&w->flows[packet.flow], packet.psn);
        return;
    }
    put_on_wire(w, p, packet);
    if (happens(p, p->plan.twice))
        put_on_wire(w, p, packet);
    if (p->wire.count > 1 && happens(p, p->plan.swap))
        exchange(&p->wire.packets[(p->wire.begin + p->wire.count - 2) & (p->wire.capacity - 1)],
                 ring_back(&p->wire));
}

static void enter(struct world *w, struct port *p, struct packet packet) {
    if (p->plan.buffer && p->bytes + packet.wire > p->plan.buffer) {
        p->dropped++;
        flow_suffers(&w->flows[packet.flow], packet.psn);
        return;
    }
    p->bytes += packet.wire;
    if (p->bytes > p->peak)
        p->peak = p->bytes;
    account(w, &packet, true);
    world_push(w, &p->waiting[priority_of(w, &packet)], packet);
    serve(w, p);
}

static void arrive(struct world *w, struct port *p) {
    struct packet packet = ring_pop(&p->wire);
    if (p->wire.count)
        heap_set(&w->agenda, port_item(w, p, ARRIVES), ring_front(&p->wire)->time);
    struct flow *f = &w->flows[packet.flow];
    if (++packet.hop < f->plan.hops)
        enter(w, &w->ports[f->plan.path[packet.hop]], packet);
    else
        flow_receive(w, f, packet.psn);
}

static void pause(struct world *w, struct port *p) {
    struct packet frame = ring_pop(&p->pauses);
    if (p->pauses.count)
        heap_set(&w->agenda, port_item(w, p, PAUSES), ring_front(&p->pauses)->time);
    p->paused[frame.hop] = frame.kind;
    if (frame.kind) {
        p->paused_since[frame.hop] = w->now;
    } else {
        p->paused_for += w->now - p->paused_since[frame.hop];
        serve(w, p);
    }
}

void port_offer(struct world *w, struct port *p, uint32_t flow) {
    world_push(w, &p->ready[w->flows[flow].plan.priority], (struct packet){.flow = flow});
    serve(w, p);
}

void port_act(struct world *w, struct port *p, uint32_t what) {
    if (what == ARRIVES) {
        arrive(w, p);
    } else if (what == PAUSES) {
        pause(w, p);
    } else {
        if (p->busy)
            leave(w, p);
        serve(w, p);
    }
}
