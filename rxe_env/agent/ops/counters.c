// SPDX-License-Identifier: BSD-2-Clause
//
// counters: the RDMA port's hardware counters and its interface's statistics.
// The kernel answers from memory for as long as the file "lifespan" says (in ms),
// so that is waited for first: what happened before the request is counted.
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "host/netdev.h"
#include "host/sysfs.h"
#include "ops/ops.h"

enum { MAX_LIFESPAN_MS = 1000, TICK_MS = 10 };

static void outlive_memory(const char *hw_counters) {
    char path[300];
    char line[32];
    snprintf(path, sizeof(path), "%s/lifespan", hw_counters);
    if (!sysfs_line(path, line, sizeof(line))) {
        return;
    }
    long lifespan = strtol(line, NULL, 10);
    if (lifespan < 0 || lifespan > MAX_LIFESPAN_MS) {
        lifespan = MAX_LIFESPAN_MS;
    }
    // The kernel counts in ticks of its own.
    struct timespec wait = {.tv_sec = (lifespan + TICK_MS) / 1000,
                            .tv_nsec = (lifespan + TICK_MS) % 1000 * 1000000};
    nanosleep(&wait, NULL);
}

json_t *op_counters(struct session *session, const json_t *request, struct fail *f) {
    (void)request;
    (void)f;
    char path[256];
    snprintf(path, sizeof(path), "/sys/class/infiniband/%s/ports/%d/hw_counters",
             ibv_get_device_name(session->verbs->device), DEVICE_PORT);
    json_t *reply = json_object();
    outlive_memory(path);
    json_t *numbers = sysfs_numbers(path);
    json_object_del(numbers, "lifespan");
    json_object_set_new(reply, "hw", numbers);
    char name[IF_NAMESIZE];
    if (netdev_name(session->verbs, name)) {
        snprintf(path, sizeof(path), "/sys/class/net/%s/statistics", name);
        json_object_set_new(reply, "net", sysfs_numbers(path));
    }
    return reply;
}
