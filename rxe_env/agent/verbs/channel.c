// SPDX-License-Identifier: BSD-2-Clause
#include "verbs/channel.h"

#include <poll.h>
#include <time.h>

int64_t now_us(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static bool take_event(struct ibv_comp_channel *channel) {
    struct ibv_cq *from = NULL;
    void *context = NULL;
    if (ibv_get_cq_event(channel, &from, &context)) {
        return false;
    }
    ibv_ack_cq_events(from, 1);
    return true;
}

bool channel_wait(struct ibv_cq *const cqs[], bool came[], int count, int64_t deadline) {
    struct pollfd ready[CHANNEL_MOST];
    for (int i = 0; i < count; i++) {
        ready[i] = (struct pollfd){.fd = cqs[i]->channel->fd, .events = POLLIN};
    }
    int64_t left_ms = (deadline - now_us() + 999) / 1000;
    if (poll(ready, (nfds_t)count, left_ms > 0 ? (int)left_ms : 0) < 1) {
        return false;
    }
    bool any = false;
    for (int i = 0; i < count; i++) {
        came[i] = (ready[i].revents & POLLIN) && take_event(cqs[i]->channel);
        any |= came[i];
    }
    return any;
}
