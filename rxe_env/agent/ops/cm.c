// SPDX-License-Identifier: BSD-2-Clause
//
// listen, connect, disconnect, query_cm: queue pairs through the connection manager.
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include "ops/connections.h"
#include "ops/ops.h"
#include "protocol/args.h"
#include "protocol/names.h"

enum { MAX_TIMER = 31, MAX_RETRY = 7, BACKLOG = 128 };

static bool limits_from(const json_t *request, struct cm_limits *limits, struct fail *f) {
    *limits = (struct cm_limits){
        .access = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC,
        .max_rd_atomic = 16,
        .max_dest_rd_atomic = 16,
        .min_rnr_timer = 12,
        .retry_cnt = 6,
        .rnr_retry = 6,
    };
    return arg_optional_flags(request, "access", access_names, &limits->access, f) &&
           arg_optional_u8(request, "max_rd_atomic", 0, UINT8_MAX, &limits->max_rd_atomic, f) &&
           arg_optional_u8(request, "max_dest_rd_atomic", 0, UINT8_MAX, &limits->max_dest_rd_atomic,
                           f) &&
           arg_optional_u8(request, "min_rnr_timer", 0, MAX_TIMER, &limits->min_rnr_timer, f) &&
           arg_optional_u8(request, "retry_cnt", 0, MAX_RETRY, &limits->retry_cnt, f) &&
           arg_optional_u8(request, "rnr_retry", 0, MAX_RETRY, &limits->rnr_retry, f) &&
           arg_optional_bool(request, "flow_control", &limits->flow_control, f);
}

static bool address_and_port(const json_t *request, struct sockaddr_storage *out, struct fail *f) {
    const char *text = NULL;
    uint64_t port = 0;
    struct sockaddr_in *four = (struct sockaddr_in *)out;
    struct sockaddr_in6 *six = (struct sockaddr_in6 *)out;
    memset(out, 0, sizeof(*out));
    if (!arg_string(request, "address", &text, f) ||
        !arg_number(request, "port", 1, UINT16_MAX, &port, f)) {
        return false;
    }
    if (inet_pton(AF_INET, text, &four->sin_addr) == 1) {
        four->sin_family = AF_INET;
        four->sin_port = htons((uint16_t)port);
        return true;
    }
    if (inet_pton(AF_INET6, text, &six->sin6_addr) == 1) {
        six->sin6_family = AF_INET6;
        six->sin6_port = htons((uint16_t)port);
        return true;
    }
    return fail_say(f, "'address' must be an IP address such as 10.77.0.1 or fd77::1");
}

// A place with an id and what its queue pairs shall be; nothing is sent yet.
static struct object *place_for(struct session *session, const json_t *request, struct fail *f) {
    struct object *place = table_place(&session->table, f);
    struct cm cm = {0};
    if (!place || !limits_from(request, &cm.limits, f) || !cm_open(session, f)) {
        return NULL;
    }
    if (rdma_create_id(session->cm_events, &cm.id, place, RDMA_PS_TCP)) {
        fail_errno(f, errno, "rdma_create_id");
        return NULL;
    }
    cm.queue_pair = json_copy((json_t *)request);
    place->kind = KIND_CM;
    place->cm = cm;
    return place;
}

static json_t *give_up(struct object *place) {
    struct fail ignored = {0};
    table_destroy(place, &ignored);
    return NULL;
}

json_t *op_listen(struct session *session, const json_t *request, struct fail *f) {
    struct sockaddr_storage address;
    struct object *place = NULL;
    if (!address_and_port(request, &address, f) || !(place = place_for(session, request, f))) {
        return NULL;
    }
    if (rdma_bind_addr(place->cm.id, (struct sockaddr *)&address) ||
        rdma_listen(place->cm.id, BACKLOG)) {
        fail_errno(f, errno, "listen");
        return give_up(place);
    }
    place->cm.state = CM_LISTENING;
    return json_pack("{s:i}", "cm", (int)table_handle(&session->table, place));
}

json_t *op_connect(struct session *session, const json_t *request, struct fail *f) {
    struct sockaddr_storage address;
    struct object *place = NULL;
    if (!address_and_port(request, &address, f) || !(place = place_for(session, request, f))) {
        return NULL;
    }
    json_t *made = op_create_qp(session, request, f);
    if (!made) {
        return give_up(place);
    }
    place->cm.qp = (uint32_t)json_integer_value(json_object_get(made, "qp"));
    if (!cm_resolve(&place->cm, (struct sockaddr *)&address, f)) {
        json_decref(made);
        table_destroy(&session->table.objects[place->cm.qp - 1], &(struct fail){0});
        return give_up(place);
    }
    json_object_set_new(made, "cm", json_integer(table_handle(&session->table, place)));
    return made;
}

json_t *op_disconnect(struct session *session, const json_t *request, struct fail *f) {
    struct object *object = table_get(&session->table, request, "cm", KIND_CM, f);
    if (!object) {
        return NULL;
    }
    return cm_disconnect(session, &object->cm, f) ? json_object() : NULL;
}

static json_t *describe(struct session *session, const struct object *object) {
    static const char *const states[] = {"listening", "resolving", "connecting",
                                         "connected", "closed",    "failed"};
    const struct cm *cm = &object->cm;
    const struct object *qp = cm->qp ? &session->table.objects[cm->qp - 1] : NULL;
    json_t *entry = json_pack("{s:i, s:i, s:s}", "cm", (int)table_handle(&session->table, object),
                              "listener", (int)cm->listener, "state", states[cm->state]);
    if (qp && qp->kind == KIND_QP) {
        json_object_set_new(entry, "qp", json_integer(cm->qp));
        json_object_set_new(entry, "qpn", json_integer(qp->qp->qp_num));
    }
    if (cm->state == CM_FAILED) {
        json_object_set_new(entry, "error", json_string(cm->why.text));
    }
    return entry;
}

json_t *op_query_cm(struct session *session, const json_t *request, struct fail *f) {
    (void)request;
    (void)f;
    json_t *list = json_array();
    for (size_t i = 0; i < TABLE_MAX_OBJECTS; i++) {
        const struct object *object = &session->table.objects[i];
        if (object->kind == KIND_CM) {
            json_array_append_new(list, describe(session, object));
        }
    }
    return json_pack("{s:o}", "connections", list);
}
