// SPDX-License-Identifier: BSD-2-Clause

#include "requests/path_mtu.h"

#include "requests/history.h"
#include "requests/reads.h"

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
        if (read->position == requests->newest)
            roce_reach(requests, read->position, read->span);
    }
}

void roce_learn_mtu(struct roce_flow *flow, uint32_t path_mtu) {
    take_mtu(flow, path_mtu);
    if (flow->counterpart != NULL)
        take_mtu(flow->counterpart, flow->path_mtu);
}
