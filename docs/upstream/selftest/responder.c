/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What rdma_rxe answers to requests that come again, come torn, or do not say what they carry.
 */
#include "cases.h"

#include <unistd.h>

static bool reads(struct bench *bench, uint32_t psn, uint32_t length) {
    struct packet got;
    send_reth(bench, READ_REQUEST, psn, 0, length, 0);
    return expect(bench, READ_ONLY, &got);
}

/* A READ, one of no bytes, and the first one again: data are due, not a NAK. */
static enum verdict read_again(struct bench *bench) {
    struct packet got;
    if (!reads(bench, OUR_PSN, 64) || !reads(bench, OUR_PSN + 1, 0))
        return UNTOLD;
    send_reth(bench, READ_REQUEST, OUR_PSN, 0, 64, 0);
    if (!receive(bench, &got))
        return UNTOLD;
    return got.opcode == READ_ONLY ? DUE : DEVIATES;
}

/* A READ of no bytes, twice: the same response is due twice. */
static enum verdict empty_read_again(struct bench *bench) {
    if (!reads(bench, OUR_PSN, 64) || !reads(bench, OUR_PSN + 1, 0))
        return UNTOLD;
    return reads(bench, OUR_PSN + 1, 0) ? DUE : DEVIATES;
}

/* A READ of four packets, and its rest from the second on; the opcode that this is answered with.
 */
static int reread(struct bench *bench) {
    struct packet got;
    send_reth(bench, READ_REQUEST, OUR_PSN, 0, 4 * MTU, 0);
    for (int at = 0; at < 4; at++)
        if (!receive(bench, &got))
            return -1;
    send_reth(bench, READ_REQUEST, OUR_PSN + 1, MTU, 3 * MTU, 0);
    if (!receive(bench, &got))
        return -1;
    return got.opcode;
}

/* The answer to the rest of a READ begins with FIRST, like that to any other. */
static enum verdict partial_reread(struct bench *bench) {
    int opcode = reread(bench);
    return opcode < 0 ? UNTOLD : opcode == READ_FIRST ? DUE : DEVIATES;
}

/* A READ that is asked for as a whole behind its rest: it is answered. */
static enum verdict whole_reread(struct bench *bench) {
    struct packet got;
    if (reread(bench) < 0 || !receive(bench, &got) || !receive(bench, &got))
        return UNTOLD;
    send_reth(bench, READ_REQUEST, OUR_PSN, 0, 4 * MTU, 0);
    return expect(bench, READ_FIRST, &got) ? DUE : DEVIATES;
}

/* On a fresh connection a request one PSN before its start: at most an ACK of that PSN. */
static enum verdict ack_psn(struct bench *bench) {
    struct packet got;
    send_reth(bench, WRITE_ONLY, OUR_PSN - 1, 0, 64, 64);
    if (!receive(bench, &got))
        return DUE;
    return got.psn == OUR_PSN - 1 ? DUE : DEVIATES;
}

/* A WRITE, an atomic, and the WRITE again: an ACK of the WRITE is due. */
static enum verdict duplicate_ack(struct bench *bench) {
    struct packet got;
    send_reth(bench, WRITE_ONLY, OUR_PSN, 64, 64, 64);
    if (!expect(bench, ACKNOWLEDGE, &got))
        return UNTOLD;
    send_fetch_add(bench, OUR_PSN + 1);
    if (!expect(bench, ATOMIC_ACK, &got))
        return UNTOLD;
    send_reth(bench, WRITE_ONLY, OUR_PSN, 64, 64, 64);
    if (!expect(bench, ACKNOWLEDGE, &got))
        return UNTOLD;
    return got.psn == OUR_PSN ? DUE : DEVIATES;
}

/* A READ whose memory goes away while it is answered: the NAK has the PSN of what is missing. */
static enum verdict nak_psn(struct bench *bench) {
    struct ibv_mr *whole = bench->mr;
    struct packet got;
    bool has_data = false;
    bench->mr = ibv_reg_mr(bench->pd, bench->memory, MEMORY, IBV_ACCESS_REMOTE_READ);
    if (!bench->mr)
        die("a memory region");
    send_reth(bench, READ_REQUEST, OUR_PSN, 0, MEMORY, 0);
    ibv_dereg_mr(bench->mr);
    bench->mr = whole;
    while (receive_within(bench, 1000, &got) && got.opcode != ACKNOWLEDGE)
        has_data = true;
    if (!has_data || got.opcode != ACKNOWLEDGE || got.behind[0] != NAK_ACCESS)
        return UNTOLD;
    say("NAK at PSN 0x%06x of a READ at 0x%06x", got.psn, OUR_PSN);
    return got.psn != OUR_PSN ? DUE : DEVIATES;
}

/* Two SENDs without a receive: one RNR NAK is due, and nothing behind it. */
static enum verdict nak_behind_rnr(struct bench *bench) {
    uint8_t payload[8] = {0};
    struct packet got;
    send_packet(bench, SEND_ONLY, OUR_PSN, payload, sizeof payload);
    send_packet(bench, SEND_ONLY, OUR_PSN + 1, payload, sizeof payload);
    if (!expect(bench, ACKNOWLEDGE, &got) || (got.behind[0] & 0xe0) != RNR_NAK)
        return UNTOLD;
    return receive(bench, &got) ? DEVIATES : DUE;
}

/* A WRITE that promises three packets and ends with the second, a whole one: a NAK is due. */
static enum verdict last_too_early(struct bench *bench) {
    uint8_t payload[MTU] = {0};
    struct packet got;
    send_reth(bench, WRITE_FIRST, OUR_PSN, 0, 3 * MTU, MTU);
    if (!expect(bench, ACKNOWLEDGE, &got) || got.behind[0] != ACK)
        return UNTOLD;
    send_packet(bench, WRITE_LAST, OUR_PSN + 1, payload, sizeof payload);
    if (!expect(bench, ACKNOWLEDGE, &got))
        return UNTOLD;
    return got.behind[0] == NAK_INVALID ? DUE : DEVIATES;
}

/* A WRITE of no bytes with a payload: a NAK of the request is due, and no warning in the log. */
static enum verdict zero_dmalen(struct bench *bench) {
    struct packet got;
    send_reth(bench, WRITE_ONLY, OUR_PSN, 0, 0, 4);
    if (!expect(bench, ACKNOWLEDGE, &got))
        return UNTOLD;
    return got.behind[0] == NAK_INVALID ? DUE : DEVIATES;
}

/* Bytes between the end of UDP and that of IP: silence is due (CA17-24). */
static enum verdict udp_length(struct bench *bench) {
    struct packet got;
    bench->surplus = 8;
    send_reth(bench, WRITE_ONLY, OUR_PSN, 0, 64, 64);
    return receive(bench, &got) ? DEVIATES : DUE;
}

/* On UC a WRITE whose end is lost, then two whole WRITEs: both of these are due in memory. */
static enum verdict uc_torn_write(struct bench *bench) {
    send_reth(bench, UC_WRITE_FIRST, OUR_PSN, 0, 3 * MTU, MTU);
    send_reth(bench, UC_WRITE_ONLY, OUR_PSN + 3, 1024, 64, 64);
    send_reth(bench, UC_WRITE_ONLY, OUR_PSN + 4, 2048, 64, 64);
    usleep(500000);
    say("memory: %02x of the torn WRITE, %02x and %02x of those behind it", bench->memory[0],
        bench->memory[1024], bench->memory[2048]);
    if (bench->memory[0] != 0xa5)
        return UNTOLD;
    return bench->memory[1024] == 0xa5 && bench->memory[2048] == 0xa5 ? DUE : DEVIATES;
}

/* On UC with an SRQ a SEND whose end is lost, then three whole ones: these are due. */
static enum verdict uc_torn_srq(struct bench *bench) {
    uint8_t payload[MTU] = {0};
    enum ibv_wc_status status;
    int delivered = 0;
    for (int at = 0; at < 8; at++)
        post_receive(bench, 3 * MTU);
    send_packet(bench, UC_SEND_FIRST, OUR_PSN, payload, MTU);
    for (uint32_t at = 3; at < 6; at++)
        send_packet(bench, UC_SEND_ONLY, OUR_PSN + at, payload, 64);
    while (completes(bench, 500, &status))
        delivered += status == IBV_WC_SUCCESS;
    return delivered == 3 ? DUE : DEVIATES;
}

/* A path MTU of 0, which is reserved: it must be refused. */
static enum verdict path_mtu_zero(struct bench *bench) {
    modify(bench, IBV_QPS_RESET);
    modify(bench, IBV_QPS_INIT);
    return try_modify(bench, IBV_QPS_RTR, 0) ? DUE : DEVIATES;
}

const struct named_case responder_cases[] = {
    {"read-again", read_again, {IBV_QPT_RC, 20, 3, false}},
    {"empty-read-again", empty_read_again, {IBV_QPT_RC, 20, 3, false}},
    {"partial-reread", partial_reread, {IBV_QPT_RC, 20, 3, false}},
    {"whole-reread", whole_reread, {IBV_QPT_RC, 20, 3, false}},
    {"ack-psn", ack_psn, {IBV_QPT_RC, 20, 3, false}},
    {"duplicate-ack", duplicate_ack, {IBV_QPT_RC, 20, 3, false}},
    {"nak-psn", nak_psn, {IBV_QPT_RC, 20, 3, false}},
    {"nak-behind-rnr", nak_behind_rnr, {IBV_QPT_RC, 20, 3, false}},
    {"last-too-early", last_too_early, {IBV_QPT_RC, 20, 3, false}},
    {"udp-length", udp_length, {IBV_QPT_RC, 20, 3, false}},
    {"uc-torn-write", uc_torn_write, {IBV_QPT_UC, 0, 0, false}},
    {"uc-torn-srq", uc_torn_srq, {IBV_QPT_UC, 0, 0, true}},
    {"path-mtu-zero", path_mtu_zero, {IBV_QPT_RC, 20, 3, false}},
    {"zero-dmalen", zero_dmalen, {IBV_QPT_RC, 20, 3, false}},
    {0},
};
