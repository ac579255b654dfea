// SPDX-License-Identifier: BSD-2-Clause

#include "world.h"

#include <stdlib.h>

#include "flow.h"
#include "port.h"

void world_push(struct world *w, struct ring *r, struct packet p) {
    if (!ring_push(r, p))
        w->out_of_memory = true;
}

static bool prepare(struct world *w) {
    uint32_t items = w->port_count * PORT_ITEMS + w->flow_count * FLOW_ITEMS;
    if (!heap_init(&w->agenda, items))
        return false;
    if (w->plan.sample) {
        w->sample_count = w->plan.until / w->plan.sample;
        w->samples = calloc(w->sample_count + 1, sizeof *w->samples);
        if (!w->samples)
            return false;
    }
    for (uint32_t n = 0; n < w->port_count; n++)
        w->ports[n].random = w->plan.seed * UINT64_C(0xd1342543de82ef95) + n;
    for (uint32_t n = 0; n < w->flow_count; n++)
        if (!flow_init(w, &w->flows[n]))
            return false;
    return true;
}

static void act(struct world *w, uint32_t item) {
    uint32_t of_ports = w->port_count * PORT_ITEMS;
    if (item < of_ports)
        port_act(w, &w->ports[item / PORT_ITEMS], item % PORT_ITEMS);
    else
        flow_act(w, &w->flows[(item - of_ports) / FLOW_ITEMS], (item - of_ports) % FLOW_ITEMS);
}

bool world_run(struct world *w) {
    if (!prepare(w))
        return false;
    while (heap_time(&w->agenda) <= w->plan.until && w->agenda.count && !w->out_of_memory) {
        w->now = heap_time(&w->agenda);
        act(w, heap_take(&w->agenda));
    }
    for (uint32_t n = 0; n < w->flow_count; n++)
        flow_end(&w->flows[n]);
    return !w->out_of_memory;
}
