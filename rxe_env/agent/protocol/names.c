// SPDX-License-Identifier: BSD-2-Clause
#include "protocol/names.h"

#include <infiniband/verbs.h>

const struct word access_names[] = {
    {"local_write", IBV_ACCESS_LOCAL_WRITE},
    {"remote_write", IBV_ACCESS_REMOTE_WRITE},
    {"remote_read", IBV_ACCESS_REMOTE_READ},
    {"remote_atomic", IBV_ACCESS_REMOTE_ATOMIC},
    {"mw_bind", IBV_ACCESS_MW_BIND},
    {"zero_based", IBV_ACCESS_ZERO_BASED},
    {NULL, 0},
};

const struct word qp_type_names[] = {
    {"RC", IBV_QPT_RC},
    {"UC", IBV_QPT_UC},
    {"UD", IBV_QPT_UD},
    {NULL, 0},
};

const struct word qp_state_names[] = {
    {"RESET", IBV_QPS_RESET}, {"INIT", IBV_QPS_INIT}, {"RTR", IBV_QPS_RTR}, {"RTS", IBV_QPS_RTS},
    {"SQD", IBV_QPS_SQD},     {"SQE", IBV_QPS_SQE},   {"ERR", IBV_QPS_ERR}, {NULL, 0},
};

const struct word wr_opcode_names[] = {
    {"send", IBV_WR_SEND},
    {"send_imm", IBV_WR_SEND_WITH_IMM},
    {"send_inv", IBV_WR_SEND_WITH_INV},
    {"write", IBV_WR_RDMA_WRITE},
    {"write_imm", IBV_WR_RDMA_WRITE_WITH_IMM},
    {"read", IBV_WR_RDMA_READ},
    {"cmp_swap", IBV_WR_ATOMIC_CMP_AND_SWP},
    {"fetch_add", IBV_WR_ATOMIC_FETCH_AND_ADD},
    {"bind_mw", IBV_WR_BIND_MW},
    {"local_inv", IBV_WR_LOCAL_INV},
    {NULL, 0},
};

const struct word wc_opcode_names[] = {
    {"send", IBV_WC_SEND},
    {"write", IBV_WC_RDMA_WRITE},
    {"read", IBV_WC_RDMA_READ},
    {"cmp_swap", IBV_WC_COMP_SWAP},
    {"fetch_add", IBV_WC_FETCH_ADD},
    {"bind_mw", IBV_WC_BIND_MW},
    {"local_inv", IBV_WC_LOCAL_INV},
    {"recv", IBV_WC_RECV},
    {"recv_write_imm", IBV_WC_RECV_RDMA_WITH_IMM},
    {NULL, 0},
};

const struct word wc_status_names[] = {
    {"success", IBV_WC_SUCCESS},
    {"loc_len_err", IBV_WC_LOC_LEN_ERR},
    {"loc_qp_op_err", IBV_WC_LOC_QP_OP_ERR},
    {"loc_eec_op_err", IBV_WC_LOC_EEC_OP_ERR},
    {"loc_prot_err", IBV_WC_LOC_PROT_ERR},
    {"wr_flush_err", IBV_WC_WR_FLUSH_ERR},
    {"mw_bind_err", IBV_WC_MW_BIND_ERR},
    {"bad_resp_err", IBV_WC_BAD_RESP_ERR},
    {"loc_access_err", IBV_WC_LOC_ACCESS_ERR},
    {"rem_inv_req_err", IBV_WC_REM_INV_REQ_ERR},
    {"rem_access_err", IBV_WC_REM_ACCESS_ERR},
    {"rem_op_err", IBV_WC_REM_OP_ERR},
    {"retry_exc_err", IBV_WC_RETRY_EXC_ERR},
    {"rnr_retry_exc_err", IBV_WC_RNR_RETRY_EXC_ERR},
    {"rem_abort_err", IBV_WC_REM_ABORT_ERR},
    {"fatal_err", IBV_WC_FATAL_ERR},
    {"resp_timeout_err", IBV_WC_RESP_TIMEOUT_ERR},
    {"general_err", IBV_WC_GENERAL_ERR},
    {NULL, 0},
};
