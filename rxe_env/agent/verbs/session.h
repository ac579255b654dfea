// SPDX-License-Identifier: BSD-2-Clause
//
// One conversation: the RDMA device it uses and everything it has allocated
// there. Closing a session gives all of it back.
#ifndef ROCEPROOF_AGENT_SESSION_H
#define ROCEPROOF_AGENT_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "protocol/fail.h"
#include "verbs/table.h"

enum { AGENT_SCHEMA = 1, DEVICE_PORT = 1 };

struct session {
    struct ibv_context *verbs; // NULL when no device could be opened
    struct fail no_device;     // and this is why
    bool quit;
    struct rdma_event_channel *cm_events; // NULL until somebody listens or connects
    struct table table;
};

// `device` names the RDMA device; NULL takes the only one there is. A session
// without a device still answers, with the reason.
struct session *session_open(const char *device);
void session_close(struct session *session);

#endif
