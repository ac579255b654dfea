// SPDX-License-Identifier: BSD-2-Clause
//
// create_srq, create_qp, create_ah: what sends and receives.
#include <errno.h>

#include "ops/ops.h"
#include "protocol/args.h"
#include "protocol/names.h"
#include "verbs/address.h"

enum { MAX_WR = 16384, MAX_SGE = 32, MAX_INLINE = 1024 };

json_t *op_create_srq(struct session *session, const json_t *request, struct fail *f) {
    struct object *pd = table_get(&session->table, request, "pd", KIND_PD, f);
    struct object *place = pd ? table_place(&session->table, f) : NULL;
    struct ibv_srq_init_attr init = {.attr = {.max_wr = 128, .max_sge = 1}};
    if (!place || !arg_optional_u32(request, "max_wr", 1, MAX_WR, &init.attr.max_wr, f) ||
        !arg_optional_u32(request, "max_sge", 1, MAX_SGE, &init.attr.max_sge, f)) {
        return NULL;
    }
    place->srq = ibv_create_srq(pd->pd, &init);
    if (!place->srq) {
        fail_errno(f, errno, "create_srq");
        return NULL;
    }
    place->kind = KIND_SRQ;
    return json_pack("{s:i}", "srq", (int)table_handle(&session->table, place));
}

static bool qp_caps(const json_t *request, struct ibv_qp_cap *caps, struct fail *f) {
    *caps = (struct ibv_qp_cap){
        .max_send_wr = 128, .max_recv_wr = 128, .max_send_sge = 1, .max_recv_sge = 1};
    return arg_optional_u32(request, "max_send_wr", 0, MAX_WR, &caps->max_send_wr, f) &&
           arg_optional_u32(request, "max_recv_wr", 0, MAX_WR, &caps->max_recv_wr, f) &&
           arg_optional_u32(request, "max_send_sge", 1, MAX_SGE, &caps->max_send_sge, f) &&
           arg_optional_u32(request, "max_recv_sge", 1, MAX_SGE, &caps->max_recv_sge, f) &&
           arg_optional_u32(request, "max_inline_data", 0, MAX_INLINE, &caps->max_inline_data, f);
}

static bool qp_queues(struct table *table, const json_t *request, struct ibv_qp_init_attr *init,
                      struct fail *f) {
    struct object *send_cq = table_get(table, request, "send_cq", KIND_CQ, f);
    struct object *recv_cq = send_cq ? table_get(table, request, "recv_cq", KIND_CQ, f) : NULL;
    if (!recv_cq) {
        return false;
    }
    init->send_cq = send_cq->cq.verbs;
    init->recv_cq = recv_cq->cq.verbs;
    if (json_object_get(request, "srq")) {
        struct object *srq = table_get(table, request, "srq", KIND_SRQ, f);
        if (!srq) {
            return false;
        }
        init->srq = srq->srq;
    }
    return true;
}

json_t *op_create_qp(struct session *session, const json_t *request, struct fail *f) {
    struct object *pd = table_get(&session->table, request, "pd", KIND_PD, f);
    struct object *place = pd ? table_place(&session->table, f) : NULL;
    struct ibv_qp_init_attr init = {0};
    int type = 0;
    bool all_signaled = false;
    if (!place || !arg_word(request, "type", qp_type_names, &type, f) ||
        !qp_queues(&session->table, request, &init, f) || !qp_caps(request, &init.cap, f) ||
        !arg_optional_bool(request, "sq_sig_all", &all_signaled, f)) {
        return NULL;
    }
    init.qp_type = (enum ibv_qp_type)type;
    init.sq_sig_all = all_signaled;
    place->qp = ibv_create_qp(pd->pd, &init);
    if (!place->qp) {
        fail_errno(f, errno, "create_qp");
        return NULL;
    }
    place->kind = KIND_QP;
    return json_pack("{s:i, s:I}", "qp", (int)table_handle(&session->table, place), "qpn",
                     (json_int_t)place->qp->qp_num);
}

json_t *op_create_ah(struct session *session, const json_t *request, struct fail *f) {
    struct object *pd = table_get(&session->table, request, "pd", KIND_PD, f);
    struct object *place = pd ? table_place(&session->table, f) : NULL;
    struct ibv_ah_attr address;
    if (!place || !address_from(request, &address, f)) {
        return NULL;
    }
    place->ah = ibv_create_ah(pd->pd, &address);
    if (!place->ah) {
        fail_errno(f, errno, "create_ah");
        return NULL;
    }
    place->kind = KIND_AH;
    return json_pack("{s:i}", "ah", (int)table_handle(&session->table, place));
}
