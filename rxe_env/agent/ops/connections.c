// SPDX-License-Identifier: BSD-2-Clause
#include "ops/connections.h"

#include <errno.h>
#include <poll.h>
#include <string.h>

#include "ops/ops.h"

enum { RESOLVE_MS = 2000, VERBS_MASK = (IBV_QP_DEST_QPN << 1) - 1 };

bool cm_open(struct session *session, struct fail *f) {
    if (!session->cm_events) {
        session->cm_events = rdma_create_event_channel();
    }
    return session->cm_events || fail_errno(f, errno, "opening the connection manager");
}

bool cm_resolve(struct cm *cm, const struct sockaddr *address, struct fail *f) {
    cm->state = CM_RESOLVING;
    return rdma_resolve_addr(cm->id, NULL, (struct sockaddr *)address, RESOLVE_MS) == 0 ||
           fail_errno(f, errno, "rdma_resolve_addr");
}

static struct ibv_qp *queue_pair_of(struct session *session, const struct cm *cm) {
    const struct object *object = cm->qp ? &session->table.objects[cm->qp - 1] : NULL;
    return object && object->kind == KIND_QP ? object->qp : NULL;
}

static bool make_queue_pair(struct session *session, struct cm *cm, struct fail *f) {
    json_t *made = op_create_qp(session, cm->queue_pair, f);
    if (made) {
        cm->qp = (uint32_t)json_integer_value(json_object_get(made, "qp"));
        json_decref(made);
    }
    return made;
}

static bool move(struct session *session, struct cm *cm, enum ibv_qp_state state, struct fail *f) {
    struct ibv_qp *qp = queue_pair_of(session, cm);
    struct ibv_qp_attr attr = {.qp_state = state};
    int mask = 0;
    if (!qp) {
        return fail_say(f, "its queue pair has been destroyed");
    }
    if (rdma_init_qp_attr(cm->id, &attr, &mask)) {
        return fail_errno(f, errno, "rdma_init_qp_attr");
    }
    attr.qp_access_flags = (unsigned)cm->limits.access;
    attr.max_rd_atomic = cm->limits.max_rd_atomic;
    attr.max_dest_rd_atomic = cm->limits.max_dest_rd_atomic;
    attr.min_rnr_timer = cm->limits.min_rnr_timer;
    // Some kernels set bits that verbs do not know.
    int err = ibv_modify_qp(qp, &attr, mask & VERBS_MASK);
    return !err || fail_errno(f, err, "modify_qp");
}

static bool make_ready(struct session *session, struct cm *cm, struct fail *f) {
    return move(session, cm, IBV_QPS_INIT, f) && move(session, cm, IBV_QPS_RTR, f) &&
           move(session, cm, IBV_QPS_RTS, f);
}

static uint8_t smaller(uint8_t a, uint8_t b) {
    return a < b ? a : b;
}

static struct rdma_conn_param parameters(struct session *session, const struct cm *cm) {
    const struct ibv_qp *qp = queue_pair_of(session, cm);
    return (struct rdma_conn_param){
        .responder_resources = cm->limits.max_dest_rd_atomic,
        .initiator_depth = cm->limits.max_rd_atomic,
        .flow_control = cm->limits.flow_control,
        .retry_count = cm->limits.retry_cnt,
        .rnr_retry_count = cm->limits.rnr_retry,
        .qp_num = qp ? qp->qp_num : 0,
    };
}

static void agree(struct cm *cm, const struct rdma_conn_param *wish) {
    struct cm_limits *own = &cm->limits;
    own->max_rd_atomic = smaller(own->max_rd_atomic, wish->initiator_depth);
    own->max_dest_rd_atomic = smaller(own->max_dest_rd_atomic, wish->responder_resources);
}

static bool accept_it(struct session *session, struct cm *cm, struct fail *f) {
    if (!make_queue_pair(session, cm, f) || !make_ready(session, cm, f)) {
        return false;
    }
    struct rdma_conn_param answer = parameters(session, cm);
    return rdma_accept(cm->id, &answer) == 0 || fail_errno(f, errno, "rdma_accept");
}

static void asked(struct session *session, const struct rdma_cm_event *event) {
    const struct object *listener = event->listen_id->context;
    struct fail f = {0};
    struct object *place = table_place(&session->table, &f);
    if (!place) {
        rdma_reject(event->id, NULL, 0);
        rdma_destroy_id(event->id);
        return;
    }
    place->kind = KIND_CM;
    place->cm = (struct cm){
        .id = event->id,
        .queue_pair = json_incref(listener->cm.queue_pair),
        .limits = listener->cm.limits,
        .state = CM_CONNECTING,
        .listener = table_handle(&session->table, listener),
    };
    event->id->context = place;
    agree(&place->cm, &event->param.conn);
    if (!accept_it(session, &place->cm, &place->cm.why)) {
        place->cm.state = CM_FAILED;
        rdma_reject(event->id, NULL, 0);
    }
}

static bool ask(struct session *session, struct cm *cm, struct fail *f) {
    struct rdma_conn_param wish = parameters(session, cm);
    cm->state = CM_CONNECTING;
    return rdma_connect(cm->id, &wish) == 0 || fail_errno(f, errno, "rdma_connect");
}

static bool answered(struct session *session, struct cm *cm, const struct rdma_cm_event *event,
                     struct fail *f) {
    agree(cm, &event->param.conn);
    if (!make_ready(session, cm, f)) {
        rdma_reject(cm->id, NULL, 0);
        return false;
    }
    cm->state = CM_CONNECTED;
    return rdma_establish(cm->id) == 0 || fail_errno(f, errno, "rdma_establish");
}

bool cm_disconnect(struct session *session, struct cm *cm, struct fail *f) {
    struct ibv_qp *qp = queue_pair_of(session, cm);
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};
    if (qp) {
        ibv_modify_qp(qp, &attr, IBV_QP_STATE);
    }
    cm->state = CM_CLOSED;
    return rdma_disconnect(cm->id) == 0 || fail_errno(f, errno, "rdma_disconnect");
}

static bool went_on(struct session *session, struct cm *cm, const struct rdma_cm_event *event,
                    struct fail *f) {
    switch (event->event) {
    case RDMA_CM_EVENT_ADDR_RESOLVED:
        return rdma_resolve_route(cm->id, RESOLVE_MS) == 0 ||
               fail_errno(f, errno, "rdma_resolve_route");
    case RDMA_CM_EVENT_ROUTE_RESOLVED:
        return ask(session, cm, f);
    case RDMA_CM_EVENT_CONNECT_RESPONSE:
        return answered(session, cm, event, f);
    case RDMA_CM_EVENT_ESTABLISHED:
        cm->state = CM_CONNECTED;
        return true;
    case RDMA_CM_EVENT_DISCONNECTED:
        // Also the answer to our own disconnect, which leaves nothing to say.
        return cm->state == CM_CLOSED || cm_disconnect(session, cm, f);
    case RDMA_CM_EVENT_TIMEWAIT_EXIT:
        return true;
    default:
        return fail_say(f, "%s, status %d", rdma_event_str(event->event), event->status);
    }
}

static bool take_event(struct session *session) {
    struct rdma_cm_event *event = NULL;
    if (rdma_get_cm_event(session->cm_events, &event)) {
        return false;
    }
    // An id can only be destroyed once its events have been given back.
    struct rdma_cm_event copy = *event;
    rdma_ack_cm_event(event);
    if (copy.event == RDMA_CM_EVENT_CONNECT_REQUEST) {
        asked(session, &copy);
        return true;
    }
    struct cm *cm = &((struct object *)copy.id->context)->cm;
    if (!went_on(session, cm, &copy, &cm->why)) {
        cm->state = CM_FAILED;
    }
    return true;
}

void cm_serve(struct session *session, int fd) {
    bool has_events = session->cm_events;
    while (has_events) {
        struct pollfd ready[] = {{.fd = fd, .events = POLLIN},
                                 {.fd = session->cm_events->fd, .events = POLLIN}};
        if (poll(ready, 2, -1) < 0 ? errno != EINTR : ready[0].revents) {
            return;
        }
        has_events = !ready[1].revents || take_event(session);
    }
}
