/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What rdma_rxe makes of answers to its own requests, and of none.
 */
#include "cases.h"

#include <string.h>
#include <unistd.h>

/* A request that asks for data, and an ACK without any: it must not complete with success. */
static enum verdict plain_ack(struct bench *bench, enum ibv_wr_opcode opcode, uint32_t length) {
    struct packet got;
    post(bench, opcode, length);
    if (!receive(bench, &got))
        return UNTOLD;
    send_aeth(bench, ITS_PSN, ACK);
    return has_succeeded(bench) ? DEVIATES : DUE;
}

static enum verdict plain_ack_read(struct bench *bench) {
    return plain_ack(bench, IBV_WR_RDMA_READ, 64);
}

static enum verdict plain_ack_atomic(struct bench *bench) {
    return plain_ack(bench, IBV_WR_ATOMIC_FETCH_AND_ADD, 8);
}

static bool write_succeeds(struct bench *bench) {
    struct packet got;
    post(bench, IBV_WR_RDMA_WRITE, 64);
    if (!receive(bench, &got))
        return false;
    send_aeth(bench, ITS_PSN, ACK);
    return has_succeeded(bench);
}

static void respond(struct bench *bench, uint8_t opcode, uint32_t psn, size_t size) {
    uint8_t data[AETH + MTU] = {ACK, [AETH] = 0xa5, [AETH + MTU - 1] = 0xa5};
    size_t skipped = opcode == READ_MIDDLE ? AETH : 0;
    send_packet(bench, opcode, psn, data + skipped, AETH - skipped + size);
}

/* Old acknowledgments between the responses of a READ: it is complete with the last response. */
static enum verdict old_ack_in_read(struct bench *bench) {
    struct packet got;
    if (!write_succeeds(bench))
        return UNTOLD;
    post(bench, IBV_WR_RDMA_READ, 3 * MTU);
    if (!expect(bench, READ_REQUEST, &got))
        return UNTOLD;
    respond(bench, READ_FIRST, ITS_PSN + 1, MTU);
    send_aeth(bench, ITS_PSN, ACK);
    send_aeth(bench, ITS_PSN, NAK_INVALID);
    respond(bench, READ_MIDDLE, ITS_PSN + 2, MTU);
    respond(bench, READ_LAST, ITS_PSN + 3, MTU);
    return has_succeeded(bench) && bench->memory[3 * MTU - 1] == 0xa5 ? DUE : DEVIATES;
}

/* A response that is too short, and again: the READ must not complete with success. */
static enum verdict short_response(struct bench *bench) {
    enum ibv_wc_status status;
    struct packet got;
    post(bench, IBV_WR_RDMA_READ, 64);
    if (!expect(bench, READ_REQUEST, &got))
        return UNTOLD;
    for (int times = 0; times < 2; times++) {
        respond(bench, READ_ONLY, ITS_PSN, 4);
        if (completes(bench, 300, &status))
            return status == IBV_WC_SUCCESS ? DEVIATES : DUE;
    }
    return DUE;
}

/* A WRITE, and a response with a reserved syndrome: it must not complete with success. */
static enum verdict bad_response(struct bench *bench) {
    struct packet got;
    post(bench, IBV_WR_RDMA_WRITE, 64);
    if (!receive(bench, &got))
        return UNTOLD;
    send_aeth(bench, ITS_PSN, RESERVED);
    return has_succeeded(bench) ? DEVIATES : DUE;
}

/* A WRITE, and an ACK of a PSN a thousand ahead of it: it must not complete. */
static enum verdict unsent_psn(struct bench *bench) {
    struct packet got;
    post(bench, IBV_WR_RDMA_WRITE, 64);
    if (!receive(bench, &got))
        return UNTOLD;
    send_aeth(bench, ITS_PSN + 1000, ACK);
    return has_succeeded(bench) ? DEVIATES : DUE;
}

/* A WRITE that nobody answers, with retry count 7: it is due to be given up. */
static enum verdict retry_7(struct bench *bench) {
    enum ibv_wc_status status;
    post(bench, IBV_WR_RDMA_WRITE, 64);
    if (!completes(bench, 3000, &status))
        return DEVIATES;
    return status == IBV_WC_RETRY_EXC_ERR ? DUE : UNTOLD;
}

/* An RNR NAK that asks for a wait beyond the ACK timeout: no retry is used up in it. */
static enum verdict rnr_wait(struct bench *bench) {
    enum ibv_wc_status status;
    struct packet got;
    post(bench, IBV_WR_RDMA_WRITE, 64);
    if (!receive(bench, &got))
        return UNTOLD;
    send_aeth(bench, ITS_PSN, RNR_NAK | 31); /* 491.52 ms */
    if (!receive_within(bench, 3000, &got))
        return completes(bench, 3000, &status) ? DEVIATES : UNTOLD;
    send_aeth(bench, ITS_PSN, ACK);
    return has_succeeded(bench) ? DUE : DEVIATES;
}

/* A WRITE that nobody answers, and others behind it all the time: it must be sent again. */
static enum verdict posts_put_off_timeout(struct bench *bench) {
    struct packet got;
    int times = 0;
    for (int at = 0; at < 60; at++) {
        post(bench, IBV_WR_RDMA_WRITE, 64);
        while (receive_within(bench, 30, &got))
            times += got.psn == ITS_PSN;
    }
    say("the first was sent %d times", times);
    return times > 1 ? DUE : times ? DEVIATES : UNTOLD;
}

/* Two WRITEs that nobody answers, RESET, and a new one: only that one is due on the wire. */
static enum verdict reset_index(struct bench *bench) {
    struct packet got;
    post(bench, IBV_WR_RDMA_WRITE, 64);
    post(bench, IBV_WR_RDMA_WRITE, 64);
    if (!receive(bench, &got) || !receive(bench, &got))
        return UNTOLD;
    modify(bench, IBV_QPS_RESET);
    connect_qp(bench);
    post(bench, IBV_WR_RDMA_WRITE, 32);
    if (!receive(bench, &got))
        return UNTOLD;
    return get(got.behind + 12, 4) == 32 ? DUE : DEVIATES;
}

/* RESET while the ACK timer runs, and a connection without one: nothing is sent again. */
static enum verdict reset_timers(struct bench *bench) {
    struct packet got;
    if (!write_succeeds(bench))
        return UNTOLD;
    modify(bench, IBV_QPS_RESET);
    bench->wish.timeout = 0;
    connect_qp(bench);
    post(bench, IBV_WR_RDMA_WRITE, 32);
    if (!receive(bench, &got))
        return UNTOLD;
    return receive(bench, &got) ? DEVIATES : DUE;
}

/* A READ that is cut off by ERROR and RESET, then an atomic: it completes, with its data. */
static enum verdict reset_completer(struct bench *bench) {
    uint8_t data[AETH + MTU] = {ACK}, original[AETH + 8] = {ACK};
    enum ibv_wc_status status;
    struct packet got;
    post(bench, IBV_WR_RDMA_READ, 3 * MTU);
    if (!expect(bench, READ_REQUEST, &got))
        return UNTOLD;
    send_packet(bench, READ_FIRST, ITS_PSN, data, sizeof data);
    usleep(200000);
    modify(bench, IBV_QPS_ERR);
    if (!completes(bench, 1000, &status))
        return UNTOLD;
    modify(bench, IBV_QPS_RESET);
    connect_qp(bench);
    post(bench, IBV_WR_ATOMIC_FETCH_AND_ADD, 8);
    if (!expect(bench, FETCH_ADD, &got))
        return UNTOLD;
    put(original + AETH, 0x1122334455667788, 8);
    send_packet(bench, ATOMIC_ACK, ITS_PSN, original, sizeof original);
    bool is_success = has_succeeded(bench);
    uint64_t value;
    memcpy(&value, bench->memory, sizeof value);
    return is_success && value == 0x1122334455667788 ? DUE : DEVIATES;
}

/* A datagram whose work request has a controlled Q_Key: the queue pair's own is due. */
static enum verdict q_key(struct bench *bench) {
    struct ibv_ah_attr path = {.is_global = 1, .port_num = 1};
    struct ibv_sge sge = {(uintptr_t)bench->memory, 8, bench->mr->lkey};
    struct ibv_send_wr wr = {.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND}, *bad;
    struct packet got;
    path.grh.hop_limit = 64;
    path.grh.sgid_index = 1;
    memcpy(path.grh.dgid.raw, "\0\0\0\0\0\0\0\0\0\0\xff\xff\x0a\x09\0\x02", 16);
    struct ibv_ah *ah = ibv_create_ah(bench->pd, &path);
    if (!ah)
        die("ibv_create_ah");
    wr.wr.ud.ah = ah;
    wr.wr.ud.remote_qpn = PEER_QPN;
    wr.wr.ud.remote_qkey = 0x80000001;
    if (ibv_post_send(bench->qp, &wr, &bad))
        die("ibv_post_send");
    bool is_there = receive(bench, &got);
    ibv_destroy_ah(ah);
    return !is_there ? UNTOLD : get(got.behind, 4) == 0x11223344 ? DUE : DEVIATES;
}

const struct named_case requester_cases[] = {
    {"plain-ack-read", plain_ack_read, {IBV_QPT_RC, 20, 3, false}},
    {"plain-ack-atomic", plain_ack_atomic, {IBV_QPT_RC, 20, 3, false}},
    {"old-ack-in-read", old_ack_in_read, {IBV_QPT_RC, 20, 3, false}},
    {"short-response", short_response, {IBV_QPT_RC, 20, 3, false}},
    {"bad-response", bad_response, {IBV_QPT_RC, 20, 3, false}},
    {"unsent-psn", unsent_psn, {IBV_QPT_RC, 20, 3, false}},
    {"retry-7", retry_7, {IBV_QPT_RC, 12, 7, false}},
    {"rnr-wait", rnr_wait, {IBV_QPT_RC, 14, 0, false}},
    {"posts-put-off-timeout", posts_put_off_timeout, {IBV_QPT_RC, 16, 3, false}},
    {"reset-index", reset_index, {IBV_QPT_RC, 20, 3, false}},
    {"reset-timers", reset_timers, {IBV_QPT_RC, 17, 3, false}},
    {"reset-completer", reset_completer, {IBV_QPT_RC, 20, 3, false}},
    {"q-key", q_key, {IBV_QPT_UD, 0, 0, false}},
    {0},
};
