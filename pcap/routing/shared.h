// SPDX-License-Identifier: BSD-2-Clause
//
// What all judges share, touched by one thread at a time and in capture order: flows, who
// may answer whom, connection management, marks. Inside the library only.

#ifndef ROCEPROOF_SHARED_H
#define ROCEPROOF_SHARED_H

#include "judge/judge.h"
#include "routing/routes.h"

enum {
    ROCE_CM_REQUESTS = 1024,
    ROCE_CM_ANSWERS = 4,
    ROCE_INTERFACES = 256,
    ROCE_WAYS = 1024,
};

// Where packets of one look went that concern nobody but their flow.
struct roce_way {
    uint64_t look; // 0: none
    struct roce_flow *flow;
    bool is_request;
};

// A reply of connection management that was heeded.
struct roce_cm_answer {
    uint32_t communication, qpn, psn;
};

// A connection request that has been seen, for the reply that will name it.
struct roce_cm_request {
    struct roce_address source, destination;
    uint32_t interface, communication, qpn, psn;
    uint64_t transaction;
    uint32_t path_mtu;
    uint32_t answer_count;
    struct roce_cm_answer answers[ROCE_CM_ANSWERS]; // ring
};

struct roce_oracle {
    const struct roce_facts *facts;
    struct roce_totals totals; // the sum, once asked for
    uint64_t frames;
    struct roce_flow_table table;
    struct roce_routes routes;
    struct roce_cm_request *requests; // ring
    uint32_t request_count;
    bool any_mark;                      // a CE mark has been seen
    bool lost_mark;                     // one that there was no memory for
    uint64_t previous[ROCE_INTERFACES]; // as in struct roce_routed, for the next frame
    struct roce_way ways[ROCE_WAYS];
    struct roce_judge judges[ROCE_JUDGES];
};

#endif
