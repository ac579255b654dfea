// SPDX-License-Identifier: BSD-2-Clause
//
// modify_qp: moves a queue pair to a state with the attributes that the step
// takes for the QP's service. Attributes not given have ordinary defaults.
#include "ops/ops.h"
#include "protocol/args.h"
#include "protocol/names.h"
#include "verbs/address.h"

enum { MAX_QPN = 0xffffff, MAX_PSN = 0xffffff, MAX_TIMER = 31, MAX_RETRY = 7, MAX_RD_ATOMIC = 255 };

struct change {
    struct ibv_qp_attr attr;
    int mask;
};

static bool to_init(enum ibv_qp_type type, const json_t *request, struct change *change,
                    struct fail *f) {
    uint64_t pkey_index = 0;
    int access = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
    change->attr.port_num = DEVICE_PORT;
    change->mask |= IBV_QP_PKEY_INDEX | IBV_QP_PORT;
    if (!arg_optional_number(request, "pkey_index", 0, UINT16_MAX, &pkey_index, f) ||
        !arg_optional_u32(request, "qkey", 0, UINT32_MAX, &change->attr.qkey, f) ||
        !arg_optional_flags(request, "access", access_names, &access, f)) {
        return false;
    }
    change->attr.pkey_index = (uint16_t)pkey_index;
    change->attr.qp_access_flags = (unsigned)access;
    change->mask |= type == IBV_QPT_UD ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS;
    return true;
}

static bool path_mtu(const json_t *request, enum ibv_mtu *out, struct fail *f) {
    uint64_t bytes = 0;
    if (!arg_number(request, "path_mtu", 256, 4096, &bytes, f)) {
        return false;
    }
    for (int mtu = IBV_MTU_256; mtu <= IBV_MTU_4096; mtu++) {
        if (bytes == UINT64_C(128) << mtu) {
            *out = (enum ibv_mtu)mtu;
            return true;
        }
    }
    return fail_say(f, "'path_mtu' must be 256, 512, 1024, 2048 or 4096");
}

static bool to_rtr(enum ibv_qp_type type, const json_t *request, struct change *change,
                   struct fail *f) {
    if (type == IBV_QPT_UD) {
        return true;
    }
    struct ibv_qp_attr *attr = &change->attr;
    uint64_t dest_qpn = 0;
    uint64_t rq_psn = 0;
    if (!path_mtu(request, &attr->path_mtu, f) ||
        !arg_number(request, "dest_qpn", 0, MAX_QPN, &dest_qpn, f) ||
        !arg_number(request, "rq_psn", 0, MAX_PSN, &rq_psn, f) ||
        !address_from(request, &attr->ah_attr, f)) {
        return false;
    }
    attr->dest_qp_num = (uint32_t)dest_qpn;
    attr->rq_psn = (uint32_t)rq_psn;
    change->mask |= IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
    if (type == IBV_QPT_UC) {
        return true;
    }
    attr->max_dest_rd_atomic = 16;
    attr->min_rnr_timer = 12;
    change->mask |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
    return arg_optional_u8(request, "max_dest_rd_atomic", 0, MAX_RD_ATOMIC,
                           &attr->max_dest_rd_atomic, f) &&
           arg_optional_u8(request, "min_rnr_timer", 0, MAX_TIMER, &attr->min_rnr_timer, f);
}

static bool to_rts(enum ibv_qp_type type, const json_t *request, struct change *change,
                   struct fail *f) {
    struct ibv_qp_attr *attr = &change->attr;
    uint64_t sq_psn = 0;
    if (!arg_number(request, "sq_psn", 0, MAX_PSN, &sq_psn, f)) {
        return false;
    }
    attr->sq_psn = (uint32_t)sq_psn;
    change->mask |= IBV_QP_SQ_PSN;
    if (type != IBV_QPT_RC) {
        return true;
    }
    attr->timeout = 14;
    attr->retry_cnt = 6;
    attr->rnr_retry = 6;
    attr->max_rd_atomic = 16;
    change->mask |= IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
    return arg_optional_u8(request, "timeout", 0, MAX_TIMER, &attr->timeout, f) &&
           arg_optional_u8(request, "retry_cnt", 0, MAX_RETRY, &attr->retry_cnt, f) &&
           arg_optional_u8(request, "rnr_retry", 0, MAX_RETRY, &attr->rnr_retry, f) &&
           arg_optional_u8(request, "max_rd_atomic", 0, MAX_RD_ATOMIC, &attr->max_rd_atomic, f);
}

static bool attributes(enum ibv_qp_type type, const json_t *request, struct change *change,
                       struct fail *f) {
    switch (change->attr.qp_state) {
    case IBV_QPS_INIT:
        return to_init(type, request, change, f);
    case IBV_QPS_RTR:
        return to_rtr(type, request, change, f);
    case IBV_QPS_RTS:
        return to_rts(type, request, change, f);
    default:
        return true;
    }
}

json_t *op_modify_qp(struct session *session, const json_t *request, struct fail *f) {
    struct object *object = table_get(&session->table, request, "qp", KIND_QP, f);
    int state = 0;
    if (!object || !arg_word(request, "state", qp_state_names, &state, f)) {
        return NULL;
    }
    struct change change = {.attr = {.qp_state = (enum ibv_qp_state)state}, .mask = IBV_QP_STATE};
    if (!attributes(object->qp->qp_type, request, &change, f)) {
        return NULL;
    }
    int err = ibv_modify_qp(object->qp, &change.attr, change.mask);
    if (err) {
        fail_errno(f, err, "modify_qp");
        return NULL;
    }
    return json_object();
}
