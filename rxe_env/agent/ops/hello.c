// SPDX-License-Identifier: BSD-2-Clause
//
// hello: who is here. Everything a peer needs before it can connect, and what
// goes wrong most often: port state, active path MTU, GID indexes.
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "host/netdev.h"
#include "host/sysfs.h"
#include "ops/ops.h"

enum { MAX_GIDS = 64 };

static const char *gid_type_name(uint32_t type) {
    switch (type) {
    case IBV_GID_TYPE_IB:
        return "ib";
    case IBV_GID_TYPE_ROCE_V1:
        return "roce_v1";
    case IBV_GID_TYPE_ROCE_V2:
        return "roce_v2";
    default:
        return "unknown";
    }
}

static json_t *gid_list(struct ibv_context *verbs) {
    struct ibv_gid_entry entries[MAX_GIDS];
    ssize_t count = ibv_query_gid_table(verbs, entries, MAX_GIDS, 0);
    json_t *list = json_array();
    for (ssize_t i = 0; i < count; i++) {
        char text[INET6_ADDRSTRLEN];
        inet_ntop(AF_INET6, entries[i].gid.raw, text, sizeof(text));
        json_array_append_new(list,
                              json_pack("{s:i, s:s, s:s}", "index", (int)entries[i].gid_index,
                                        "gid", text, "type", gid_type_name(entries[i].gid_type)));
    }
    return list;
}

static void describe_netdev(struct ibv_context *verbs, json_t *reply) {
    char name[IF_NAMESIZE];
    if (!netdev_name(verbs, name)) {
        return;
    }
    char path[128];
    char line[64];
    json_object_set_new(reply, "netdev", json_string(name));
    snprintf(path, sizeof(path), "/sys/class/net/%s/address", name);
    if (sysfs_line(path, line, sizeof(line))) {
        json_object_set_new(reply, "mac", json_string(line));
    }
}

static void describe_make(const char *device, json_t *reply) {
    static const char *const files[] = {"fw_ver", "hca_type", "board_id"};
    char path[128];
    char line[64];
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        snprintf(path, sizeof(path), "/sys/class/infiniband/%s/%s", device, files[i]);
        if (sysfs_line(path, line, sizeof(line)) && line[0]) {
            json_object_set_new(reply, files[i], json_string(line));
        }
    }
    char target[256];
    snprintf(path, sizeof(path), "/sys/class/infiniband/%s/device/driver", device);
    ssize_t length = readlink(path, target, sizeof(target) - 1);
    if (length > 0) {
        target[length] = '\0';
        const char *slash = strrchr(target, '/');
        json_object_set_new(reply, "driver", json_string(slash ? slash + 1 : target));
    }
}

json_t *op_hello(struct session *session, const json_t *request, struct fail *f) {
    (void)request;
    struct ibv_port_attr port;
    int err = ibv_query_port(session->verbs, DEVICE_PORT, &port);
    if (err) {
        fail_errno(f, err, "query_port");
        return NULL;
    }
    struct utsname host;
    if (uname(&host)) {
        fail_errno(f, errno, "uname");
        return NULL;
    }
    char guid[20];
    snprintf(guid, sizeof(guid), "%016" PRIx64,
             be64toh(ibv_get_device_guid(session->verbs->device)));
    json_t *reply = json_pack("{s:i, s:s, s:s, s:s, s:s, s:s, s:i, s:i}", "schema", AGENT_SCHEMA,
                              "kernel", host.release, "host", host.nodename, "device",
                              ibv_get_device_name(session->verbs->device), "node_guid", guid,
                              "port_state", ibv_port_state_str(port.state), "active_mtu",
                              128 << port.active_mtu, "max_mtu", 128 << port.max_mtu);
    json_object_set_new(reply, "gids", gid_list(session->verbs));
    describe_netdev(session->verbs, reply);
    describe_make(ibv_get_device_name(session->verbs->device), reply);
    return reply;
}
