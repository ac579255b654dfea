// SPDX-License-Identifier: BSD-2-Clause
#include "verbs/session.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct ibv_device *choose(struct ibv_device **list, int count, const char *name,
                                 struct fail *f) {
    if (!name && count == 1) {
        return list[0];
    }
    for (int i = 0; name && i < count; i++) {
        if (strcmp(ibv_get_device_name(list[i]), name) == 0) {
            return list[i];
        }
    }
    if (count == 0) {
        fail_say(f, "no RDMA device on this host (is rdma_rxe loaded and a link added?)");
    } else if (name) {
        fail_say(f, "no RDMA device called %.64s", name);
    } else {
        fail_say(f, "%d RDMA devices: name one with --device", count);
    }
    return NULL;
}

static struct ibv_context *open_device(const char *name, struct fail *f) {
    int count = 0;
    struct ibv_device **list = ibv_get_device_list(&count);
    if (!list) {
        int err = errno;
        if (err == ENOSYS) {
            fail_say(f, "no RDMA device: this kernel has no ib_uverbs");
            f->err = err;
        } else {
            fail_errno(f, err, "listing RDMA devices");
        }
        return NULL;
    }
    struct ibv_context *verbs = NULL;
    struct ibv_device *device = choose(list, count, name, f);
    if (device) {
        verbs = ibv_open_device(device);
        if (!verbs) {
            fail_errno(f, errno, "opening the RDMA device");
        }
    }
    ibv_free_device_list(list);
    return verbs;
}

struct session *session_open(const char *device) {
    struct session *session = calloc(1, sizeof(*session));
    if (session) {
        session->verbs = open_device(device, &session->no_device);
    }
    return session;
}

void session_close(struct session *session) {
    table_destroy_all(&session->table);
    if (session->cm_events) {
        rdma_destroy_event_channel(session->cm_events);
    }
    if (session->verbs) {
        ibv_close_device(session->verbs);
    }
    free(session);
}
