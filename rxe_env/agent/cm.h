// SPDX-License-Identifier: BSD-2-Clause
//
// Connections that the RDMA connection manager makes. Its events are answered
// between requests: whoever asks a listener is accepted, whom we ask is
// answered, and who hangs up is let go. The queue pairs are those of create_qp.
#ifndef ROCEPROOF_AGENT_CM_H
#define ROCEPROOF_AGENT_CM_H

#include <jansson.h>
#include <rdma/rdma_cma.h>
#include <stdbool.h>
#include <stdint.h>

#include "fail.h"

struct session;

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

// Gives back what `cm` holds; its queue pair lives on.
int cm_destroy(struct cm *cm);

// Starts a connection that we ask for.
bool cm_resolve(struct cm *cm, const struct sockaddr *address, struct fail *f);

// Hangs up: the queue pair is dead, and the other end is told.
bool cm_disconnect(struct session *session, struct cm *cm, struct fail *f);

// Opens the session's event channel on first use.
bool cm_open(struct session *session, struct fail *f);

// Answers events until there is something to read from `fd`.
void cm_serve(struct session *session, int fd);

#endif
