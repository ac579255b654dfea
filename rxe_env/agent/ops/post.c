// SPDX-License-Identifier: BSD-2-Clause
//
// post_recv, post_send: work requests, posted one after the other. When one is
// refused those before it stay posted, and the reply says how many they are.
#include "ops/ops.h"
#include "protocol/args.h"
#include "verbs/sge.h"
#include "verbs/work.h"

enum { MAX_POST = 4096 };

struct target {
    struct ibv_qp *qp;
    struct ibv_srq *srq;
};

static bool recv_target(struct table *table, const json_t *request, struct target *target,
                        struct fail *f) {
    if (json_object_get(request, "srq")) {
        struct object *srq = table_get(table, request, "srq", KIND_SRQ, f);
        target->srq = srq ? srq->srq : NULL;
        return srq != NULL;
    }
    struct object *qp = table_get(table, request, "qp", KIND_QP, f);
    target->qp = qp ? qp->qp : NULL;
    if (qp && qp->qp->srq) {
        return fail_say(f, "this qp receives from its srq: post there");
    }
    return qp != NULL;
}

static bool post_one_recv(struct table *table, const struct target *target, const json_t *entry,
                          struct fail *f) {
    struct ibv_sge sge[SGE_MAX];
    struct ibv_recv_wr wr = {.sg_list = sge};
    if (!arg_only(entry, "wr_id sge", f) ||
        !arg_optional_number(entry, "wr_id", 0, INT64_MAX, &wr.wr_id, f) ||
        !sge_from(table, entry, sge, &wr.num_sge, f)) {
        return false;
    }
    struct ibv_recv_wr *bad = NULL;
    int err = target->srq ? ibv_post_srq_recv(target->srq, &wr, &bad)
                          : ibv_post_recv(target->qp, &wr, &bad);
    return err == 0 || fail_errno(f, err, "post_recv");
}

static bool post_one_send(struct table *table, const struct target *target, const json_t *entry,
                          struct fail *f) {
    struct ibv_sge sge[SGE_MAX];
    struct ibv_send_wr wr = {.sg_list = sge};
    if (!work_from(table, target->qp, entry, &wr, f)) {
        return false;
    }
    struct ibv_send_wr *bad = NULL;
    int err = ibv_post_send(target->qp, &wr, &bad);
    return err == 0 || fail_errno(f, err, "post_send");
}

typedef bool post_one(struct table *, const struct target *, const json_t *, struct fail *);

static json_t *post_each(struct table *table, const struct target *target, const json_t *request,
                         post_one *post, struct fail *f) {
    const json_t *list = NULL;
    if (!arg_objects(request, "wrs", MAX_POST, &list, f)) {
        return NULL;
    }
    for (size_t i = 0; i < json_array_size(list); i++) {
        struct fail why = {0};
        if (!post(table, target, json_array_get(list, i), &why)) {
            fail_say(f, "wrs[%zu], after %zu posted: %.180s", i, i, why.text);
            f->err = why.err;
            return NULL;
        }
    }
    return json_pack("{s:i}", "posted", (int)json_array_size(list));
}

json_t *op_post_recv(struct session *session, const json_t *request, struct fail *f) {
    struct target target = {0};
    if (!recv_target(&session->table, request, &target, f)) {
        return NULL;
    }
    return post_each(&session->table, &target, request, post_one_recv, f);
}

json_t *op_post_send(struct session *session, const json_t *request, struct fail *f) {
    struct object *qp = table_get(&session->table, request, "qp", KIND_QP, f);
    if (!qp) {
        return NULL;
    }
    struct target target = {.qp = qp->qp};
    return post_each(&session->table, &target, request, post_one_send, f);
}
