// SPDX-License-Identifier: BSD-2-Clause
//
// counters: the RDMA port's hardware counters and its interface's statistics.
#include <stdio.h>

#include "netdev.h"
#include "ops.h"
#include "sysfs.h"

json_t *op_counters(struct session *session, const json_t *request, struct fail *f) {
    (void)request;
    (void)f;
    char path[256];
    snprintf(path, sizeof(path), "/sys/class/infiniband/%s/ports/%d/hw_counters",
             ibv_get_device_name(session->verbs->device), DEVICE_PORT);
    json_t *reply = json_object();
    json_object_set_new(reply, "hw", sysfs_numbers(path));
    char name[IF_NAMESIZE];
    if (netdev_name(session->verbs, name)) {
        snprintf(path, sizeof(path), "/sys/class/net/%s/statistics", name);
        json_object_set_new(reply, "net", sysfs_numbers(path));
    }
    return reply;
}
