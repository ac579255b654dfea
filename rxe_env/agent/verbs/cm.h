// SPDX-License-Identifier: BSD-2-Clause
//
// A connection that the RDMA connection manager makes, or a listener for them.
#ifndef ROCEPROOF_AGENT_CM_H
#define ROCEPROOF_AGENT_CM_H

#include <jansson.h>
#include <rdma/rdma_cma.h>
#include <stdbool.h>
#include <stdint.h>

#include "protocol/fail.h"

enum cm_state { CM_LISTENING, CM_RESOLVING, CM_CONNECTING, CM_CONNECTED, CM_CLOSED, CM_FAILED };

struct cm_limits {
    int access;
    uint8_t max_rd_atomic;
    uint8_t max_dest_rd_atomic;
    uint8_t min_rnr_timer;
    uint8_t retry_cnt;
    uint8_t rnr_retry;
    bool flow_control;
};

struct cm {
    struct rdma_cm_id *id;
    json_t *queue_pair; // the fields of create_qp, for every connection
    struct cm_limits limits;
    enum cm_state state;
    uint32_t listener; // handle, 0 when we have asked
    uint32_t qp;       // handle, 0 when there is none
    struct fail why;   // it failed
};

#endif
