// SPDX-License-Identifier: BSD-2-Clause
//
// Connections that the RDMA connection manager makes. Its events are answered
// between requests: whoever asks a listener is accepted, whom we ask is
// answered, and who hangs up is let go. The queue pairs are those of create_qp.
#ifndef ROCEPROOF_AGENT_CONNECTIONS_H
#define ROCEPROOF_AGENT_CONNECTIONS_H

#include <stdbool.h>
#include <sys/socket.h>

#include "protocol/fail.h"
#include "verbs/cm.h"
#include "verbs/session.h"

// Starts a connection that we ask for.
bool cm_resolve(struct cm *cm, const struct sockaddr *address, struct fail *f);

// Hangs up: the queue pair is dead, and the other end is told.
bool cm_disconnect(struct session *session, struct cm *cm, struct fail *f);

// Opens the session's event channel on first use.
bool cm_open(struct session *session, struct fail *f);

// Answers events until there is something to read from `fd`.
void cm_serve(struct session *session, int fd);

#endif
