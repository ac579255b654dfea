// SPDX-License-Identifier: BSD-2-Clause
#include "verbs/work.h"

#include <arpa/inet.h>

#include "protocol/args.h"
#include "protocol/names.h"
#include "verbs/sge.h"

static const char fields[] = "wr_id opcode sge signaled solicited fence inline imm inv_rkey raddr "
                             "rkey compare swap add ah remote_qpn remote_qkey mw mr offset length "
                             "access";

static bool send_flags(const json_t *entry, unsigned *flags, struct fail *f) {
    bool signaled = true;
    bool solicited = false;
    bool fence = false;
    bool inlined = false;
    if (!arg_optional_bool(entry, "signaled", &signaled, f) ||
        !arg_optional_bool(entry, "solicited", &solicited, f) ||
        !arg_optional_bool(entry, "fence", &fence, f) ||
        !arg_optional_bool(entry, "inline", &inlined, f)) {
        return false;
    }
    *flags = (signaled ? IBV_SEND_SIGNALED : 0U) | (solicited ? IBV_SEND_SOLICITED : 0U) |
             (fence ? IBV_SEND_FENCE : 0U) | (inlined ? IBV_SEND_INLINE : 0U);
    return true;
}

static bool remote_memory(const json_t *entry, uint64_t *address, uint32_t *rkey, struct fail *f) {
    uint64_t key = 0;
    if (!arg_number(entry, "raddr", 0, UINT64_MAX, address, f) ||
        !arg_number(entry, "rkey", 0, UINT32_MAX, &key, f)) {
        return false;
    }
    *rkey = (uint32_t)key;
    return true;
}

static bool immediate(const json_t *entry, struct ibv_send_wr *wr, struct fail *f) {
    uint64_t imm = 0;
    bool ok = arg_number(entry, "imm", 0, UINT32_MAX, &imm, f);
    wr->imm_data = htonl((uint32_t)imm);
    return ok;
}

static bool invalidate(const json_t *entry, struct ibv_send_wr *wr, struct fail *f) {
    uint64_t rkey = 0;
    bool ok = arg_number(entry, "inv_rkey", 0, UINT32_MAX, &rkey, f);
    wr->invalidate_rkey = (uint32_t)rkey;
    return ok;
}

static bool atomic(const json_t *entry, struct ibv_send_wr *wr, struct fail *f) {
    bool swap = wr->opcode == IBV_WR_ATOMIC_CMP_AND_SWP;
    return remote_memory(entry, &wr->wr.atomic.remote_addr, &wr->wr.atomic.rkey, f) &&
           arg_number(entry, swap ? "compare" : "add", 0, UINT64_MAX, &wr->wr.atomic.compare_add,
                      f) &&
           (!swap || arg_number(entry, "swap", 0, UINT64_MAX, &wr->wr.atomic.swap, f));
}

static bool bind_window(struct table *table, const json_t *entry, struct ibv_send_wr *wr,
                        struct fail *f) {
    struct object *mw = table_get(table, entry, "mw", KIND_MW, f);
    struct object *mr = mw ? table_get(table, entry, "mr", KIND_MR, f) : NULL;
    uint64_t offset = 0;
    uint64_t length = 0;
    int access = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
    if (!mr || !arg_optional_number(entry, "offset", 0, mr->mr.size, &offset, f) ||
        !arg_number(entry, "length", 1, mr->mr.size - offset, &length, f) ||
        !arg_optional_flags(entry, "access", access_names, &access, f)) {
        return false;
    }
    wr->bind_mw.mw = mw->mw;
    wr->bind_mw.rkey = ibv_inc_rkey(mw->mw->rkey);
    wr->bind_mw.bind_info.mr = mr->mr.verbs;
    wr->bind_mw.bind_info.addr = (uintptr_t)mr->mr.verbs->addr + offset;
    wr->bind_mw.bind_info.length = length;
    wr->bind_mw.bind_info.mw_access_flags = (unsigned)access;
    return true;
}

static bool datagram(struct table *table, const json_t *entry, struct ibv_send_wr *wr,
                     struct fail *f) {
    struct object *ah = table_get(table, entry, "ah", KIND_AH, f);
    uint64_t qpn = 0;
    uint64_t qkey = 0;
    if (!ah || !arg_number(entry, "remote_qpn", 0, 0xffffff, &qpn, f) ||
        !arg_number(entry, "remote_qkey", 0, UINT32_MAX, &qkey, f)) {
        return false;
    }
    wr->wr.ud.ah = ah->ah;
    wr->wr.ud.remote_qpn = (uint32_t)qpn;
    wr->wr.ud.remote_qkey = (uint32_t)qkey;
    return true;
}

static bool operands(struct table *table, const json_t *entry, struct ibv_send_wr *wr,
                     struct fail *f) {
    switch (wr->opcode) {
    case IBV_WR_SEND_WITH_IMM:
        return immediate(entry, wr, f);
    case IBV_WR_SEND_WITH_INV:
    case IBV_WR_LOCAL_INV:
        return invalidate(entry, wr, f);
    case IBV_WR_RDMA_WRITE_WITH_IMM:
        return immediate(entry, wr, f) &&
               remote_memory(entry, &wr->wr.rdma.remote_addr, &wr->wr.rdma.rkey, f);
    case IBV_WR_RDMA_WRITE:
    case IBV_WR_RDMA_READ:
        return remote_memory(entry, &wr->wr.rdma.remote_addr, &wr->wr.rdma.rkey, f);
    case IBV_WR_ATOMIC_CMP_AND_SWP:
    case IBV_WR_ATOMIC_FETCH_AND_ADD:
        return atomic(entry, wr, f);
    case IBV_WR_BIND_MW:
        return bind_window(table, entry, wr, f);
    default:
        return true;
    }
}

static bool is_send(enum ibv_wr_opcode opcode) {
    return opcode == IBV_WR_SEND || opcode == IBV_WR_SEND_WITH_IMM;
}

bool work_from(struct table *table, const struct ibv_qp *qp, const json_t *entry,
               struct ibv_send_wr *wr, struct fail *f) {
    int opcode = 0;
    if (!arg_only(entry, fields, f) ||
        !arg_optional_number(entry, "wr_id", 0, INT64_MAX, &wr->wr_id, f) ||
        !arg_word(entry, "opcode", wr_opcode_names, &opcode, f) ||
        !send_flags(entry, &wr->send_flags, f) ||
        !sge_from(table, entry, wr->sg_list, &wr->num_sge, f)) {
        return false;
    }
    wr->opcode = (enum ibv_wr_opcode)opcode;
    if (qp->qp_type == IBV_QPT_UD) {
        if (!is_send(wr->opcode)) {
            return fail_say(f, "a UD qp can only send and send_imm");
        }
        if (!datagram(table, entry, wr, f)) {
            return false;
        }
    }
    return operands(table, entry, wr, f);
}
