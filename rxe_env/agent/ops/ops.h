// SPDX-License-Identifier: BSD-2-Clause
//
// Every operation of the protocol. An operation gets a request whose field
// names have been checked and returns a new object with its results, or NULL
// with the reason in `f`.
#ifndef ROCEPROOF_AGENT_OPS_H
#define ROCEPROOF_AGENT_OPS_H

#include <jansson.h>

#include "protocol/fail.h"
#include "verbs/session.h"

typedef json_t *operation(struct session *session, const json_t *request, struct fail *f);

operation op_hello, op_counters, op_look;                    // hello.c, counters.c, look.c
operation op_alloc_pd, op_reg_mr, op_alloc_mw, op_destroy;   // memory.c
operation op_write, op_read, op_fill, op_sha256;             // bytes.c
operation op_create_cq, op_poll_cq;                          // cq.c
operation op_create_srq, op_create_qp, op_create_ah;         // qp.c
operation op_modify_qp, op_query_qp;                         // modify.c, query.c
operation op_listen, op_connect, op_disconnect, op_query_cm; // cm.c
operation op_post_recv, op_post_send;                        // post.c
operation op_ping, op_blast;                                 // ping.c, blast.c

// Runs one line of the protocol and returns the reply line, newline included,
// for the caller to free; NULL only when memory has run out.
char *dispatch(struct session *session, const char *line, size_t length);
char *dispatch_too_long(void);

#endif
