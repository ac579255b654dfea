// SPDX-License-Identifier: BSD-2-Clause
//
// query_qp: what the kernel holds about a queue pair. On rxe, rq_psn is the
// PSN expected next and sq_psn the next to be sent. hop_limit is what the route
// to the peer made of the wish.
#include "ops/ops.h"
#include "protocol/names.h"

json_t *op_query_qp(struct session *session, const json_t *request, struct fail *f) {
    struct object *object = table_get(&session->table, request, "qp", KIND_QP, f);
    if (!object) {
        return NULL;
    }
    struct ibv_qp_attr attr = {0};
    struct ibv_qp_init_attr init = {0};
    int err =
        ibv_query_qp(object->qp, &attr,
                     IBV_QP_STATE | IBV_QP_PATH_MTU | IBV_QP_RQ_PSN | IBV_QP_SQ_PSN |
                         IBV_QP_DEST_QPN | IBV_QP_ACCESS_FLAGS | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
                         IBV_QP_RNR_RETRY | IBV_QP_MIN_RNR_TIMER | IBV_QP_AV,
                     &init);
    if (err) {
        fail_errno(f, err, "query_qp");
        return NULL;
    }
    json_t *reply = json_pack(
        "{s:s, s:i, s:I, s:I, s:I, s:i, s:i, s:i, s:i, s:i}", "state",
        word_name(qp_state_names, (int)attr.qp_state), "path_mtu",
        attr.path_mtu ? 128 << attr.path_mtu : 0, "rq_psn", (json_int_t)attr.rq_psn, "sq_psn",
        (json_int_t)attr.sq_psn, "dest_qpn", (json_int_t)attr.dest_qp_num, "timeout",
        (int)attr.timeout, "retry_cnt", (int)attr.retry_cnt, "rnr_retry", (int)attr.rnr_retry,
        "min_rnr_timer", (int)attr.min_rnr_timer, "hop_limit", (int)attr.ah_attr.grh.hop_limit);
    json_object_set_new(reply, "access", word_flags(access_names, (int)attr.qp_access_flags));
    return reply;
}
