// SPDX-License-Identifier: BSD-2-Clause
//
// Every operation of the protocol. An operation gets a request whose field
// names have been checked and returns a new object with its results, or NULL
// with the reason in `f`.
#ifndef ROCEPROOF_AGENT_OPS_H
#define ROCEPROOF_AGENT_OPS_H

#include <jansson.h>

#include "fail.h"
#include "session.h"

typedef json_t *operation(struct session *session, const json_t *request, struct fail *f);

operation op_hello, op_counters, op_look;                    // op_hello.c, op_counters.c, op_look.c
operation op_alloc_pd, op_reg_mr, op_alloc_mw, op_destroy;   // op_memory.c
operation op_write, op_read, op_fill, op_sha256;             // op_bytes.c
operation op_create_cq, op_poll_cq;                          // op_cq.c
operation op_create_srq, op_create_qp, op_create_ah;         // op_qp.c
operation op_modify_qp, op_query_qp;                         // op_modify.c, op_query.c
operation op_listen, op_connect, op_disconnect, op_query_cm; // op_cm.c
operation op_post_recv, op_post_send;                        // op_post.c

// Runs one line of the protocol and returns the reply line, newline included,
// for the caller to free; NULL only when memory has run out.
char *dispatch(struct session *session, const char *line, size_t length);
char *dispatch_too_long(void);

#endif
