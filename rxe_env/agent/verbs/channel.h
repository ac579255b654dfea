// SPDX-License-Identifier: BSD-2-Clause
//
// Sleeping until completion queues tell of something, but no longer than that.
#ifndef ROCEPROOF_AGENT_CHANNEL_H
#define ROCEPROOF_AGENT_CHANNEL_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>

enum { CHANNEL_MOST = 2, CHANNEL_MAX_MS = 60000 };

// Of a clock that never goes back.
int64_t now_us(void);

// Waits until an event of one of these queues has come, and takes one of each
// that has: `came` says of which. False at `deadline`.
bool channel_wait(struct ibv_cq *const cqs[], bool came[], int count, int64_t deadline);

#endif
