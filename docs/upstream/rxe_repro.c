/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Shows deviations of rdma_rxe from the InfiniBand specification on this machine's kernel, alone:
 *
 *     cc -o rxe_repro rxe_repro.c -libverbs && sudo ./rxe_repro CASE
 *
 * It makes a TAP device with an rxe device on it, opens a queue pair there, and plays the other
 * end of its connection by writing frames to the TAP and reading what comes out. CASE is one of
 * those below. Exit code 1: the deviation was seen; 0: the kernel did what is due; 2: no way to
 * tell. Use a virtual machine: what it sends may harm a kernel.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum {
    SEEN = 1,
    UNTOLD = 2,
    MTU = 256,
    PEER_QPN = 0x11,
    OUR_PSN = 0x1000,
    ITS_PSN = 0x2000,
    UD_PORT = 4791,
    UC_WRITE_FIRST = 0x26,
    UC_WRITE_ONLY = 0x2a,
    WRITE_ONLY = 0x0a,
    READ_REQUEST = 0x0c,
    READ_ONLY = 0x10,
    ACKNOWLEDGE = 0x11,
    NAK_ACCESS = 0x62,
    HEADERS = 14 + 20 + 8,
    BTH = 12,
    FRAME = 4200
};

struct bench {
    int tap;
    uint8_t mac[6];
    struct ibv_context *context;
    struct ibv_pd *pd;
    struct ibv_cq *cq;
    struct ibv_qp *qp;
    struct ibv_mr *mr;
    enum ibv_qp_type type;
    uint8_t memory[4096];
};

static void die(const char *what) {
    perror(what);
    exit(UNTOLD);
}

static void run(const char *command) {
    if (system(command)) {
        fprintf(stderr, "failed: %s\n", command);
        exit(UNTOLD);
    }
}

static void put(uint8_t *at, uint64_t value, int bytes) {
    while (bytes--) {
        at[bytes] = (uint8_t)value;
        value >>= 8;
    }
}

static uint32_t get(const uint8_t *at, int bytes) {
    uint32_t value = 0;
    while (bytes--)
        value = value << 8 | *at++;
    return value;
}

static uint32_t crc32_of(uint32_t crc, const uint8_t *data, size_t size) {
    while (size--) {
        crc ^= *data++;
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
    }
    return crc;
}

/* Send a packet: BTH with A=1, then `size` bytes behind it, then the ICRC. */
static void send_packet(struct bench *bench, uint8_t opcode, uint32_t psn, const void *behind,
                        size_t size) {
    uint8_t frame[FRAME] = {0}, masked[FRAME];
    uint8_t *ip = frame + 14, *udp = ip + 20, *bth = udp + 8;
    size_t total = 20 + 8 + BTH + size + 4;
    memcpy(frame, bench->mac, 6);
    memcpy(frame + 6, "\x02\0\0\0\0\x02\x08\0", 8);
    memcpy(ip, "\x45\0\0\0\0\0\x40\0\x40\x11\0\0\x0a\x09\0\x02\x0a\x09\0\x01", 20);
    put(ip + 2, total, 2);
    uint32_t sum = 0;
    for (int at = 0; at < 20; at += 2)
        sum += get(ip + at, 2);
    sum = (sum >> 16) + (sum & 0xffff);
    put(ip + 10, ~(sum + (sum >> 16)), 2);
    put(udp, 0xc000, 2);
    put(udp + 2, UD_PORT, 2);
    put(udp + 4, total - 20, 2);
    bth[0] = opcode;
    put(bth + 2, 0xffff, 2);
    put(bth + 4, bench->qp->qp_num, 4);
    put(bth + 8, 0x80000000 | (psn & 0xffffff), 4);
    memcpy(bth + BTH, behind, size);
    memcpy(masked, ip, total);
    masked[1] = masked[8] = masked[10] = masked[11] = 0xff;
    masked[26] = masked[27] = masked[32] = 0xff;
    uint32_t crc = crc32_of(~0U, (const uint8_t *)"\xff\xff\xff\xff\xff\xff\xff\xff", 8);
    crc = ~crc32_of(crc, masked, total - 4);
    for (int at = 0; at < 4; at++)
        ip[total - 4 + (size_t)at] = (uint8_t)(crc >> 8 * at);
    if (write(bench->tap, frame, 14 + total) < 0)
        die("write to the TAP");
}

static void send_reth(struct bench *bench, uint8_t opcode, uint32_t psn, uint32_t offset,
                      uint32_t length, size_t payload) {
    uint8_t behind[16 + MTU];
    put(behind, (uintptr_t)bench->memory + offset, 8);
    put(behind + 8, bench->mr->rkey, 4);
    put(behind + 12, length, 4);
    memset(behind + 16, 0xa5, payload);
    send_packet(bench, opcode, psn, behind, 16 + payload);
}

static void send_aeth(struct bench *bench, uint32_t psn, uint8_t syndrome, uint32_t msn) {
    uint8_t aeth[4];
    put(aeth, (uint32_t)syndrome << 24 | msn, 4);
    send_packet(bench, ACKNOWLEDGE, psn, aeth, sizeof aeth);
}

/* The BTH of the next RoCE packet of the kernel within a second, or NULL. */
static const uint8_t *receive(struct bench *bench) {
    static uint8_t frame[FRAME];
    struct pollfd ready = {bench->tap, POLLIN, 0};
    while (poll(&ready, 1, 1000) == 1) {
        ssize_t size = read(bench->tap, frame, sizeof frame);
        if (size < HEADERS + BTH + 4 || get(frame + 12, 2) != 0x0800 || frame[23] != 17 ||
            get(frame + 36, 2) != UD_PORT)
            continue;
        const uint8_t *bth = frame + HEADERS;
        printf("  got opcode 0x%02x psn %+d, behind it %08x\n", bth[0],
               (int)get(bth + 9, 3) - (bth[0] == WRITE_ONLY ? ITS_PSN : OUR_PSN),
               get(bth + BTH, 4));
        return bth;
    }
    printf("  got nothing\n");
    return NULL;
}

static void modify(struct bench *bench, enum ibv_qp_state state) {
    bool is_rc = bench->type == IBV_QPT_RC;
    struct ibv_qp_attr attr = {
        .qp_state = state,
        .port_num = 1,
        .qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ,
        .path_mtu = IBV_MTU_256,
        .dest_qp_num = PEER_QPN,
        .rq_psn = OUR_PSN,
        .sq_psn = ITS_PSN,
        .max_dest_rd_atomic = 4,
        .max_rd_atomic = 4,
        .min_rnr_timer = 12,
        .timeout = 20,
        .retry_cnt = 3,
        .rnr_retry = 3,
        .ah_attr = {.is_global = 1, .port_num = 1, .grh = {.hop_limit = 64, .sgid_index = 1}}};
    int mask = IBV_QP_STATE;
    memcpy(attr.ah_attr.grh.dgid.raw, "\0\0\0\0\0\0\0\0\0\0\xff\xff\x0a\x09\0\x02", 16);
    if (state == IBV_QPS_INIT)
        mask |= IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
    if (state == IBV_QPS_RTR)
        mask |= IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                (is_rc ? IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER : 0);
    if (state == IBV_QPS_RTS)
        mask |= IBV_QP_SQ_PSN | (is_rc ? IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                                             IBV_QP_MAX_QP_RD_ATOMIC
                                       : 0);
    if (ibv_modify_qp(bench->qp, &attr, mask))
        die("ibv_modify_qp");
}

static void connect_qp(struct bench *bench) {
    modify(bench, IBV_QPS_INIT);
    modify(bench, IBV_QPS_RTR);
    modify(bench, IBV_QPS_RTS);
}

static void post_write(struct bench *bench, uint32_t length) {
    struct ibv_sge sge = {(uintptr_t)bench->memory, length, bench->mr->lkey};
    struct ibv_send_wr wr = {.wr_id = length, .sg_list = &sge, .num_sge = 1};
    struct ibv_send_wr *bad;
    wr.opcode = IBV_WR_RDMA_WRITE;
    wr.send_flags = IBV_SEND_SIGNALED;
    wr.wr.rdma.remote_addr = 0x1000;
    wr.wr.rdma.rkey = 0x1234;
    if (ibv_post_send(bench->qp, &wr, &bad))
        die("ibv_post_send");
}

static bool has_succeeded(struct bench *bench) {
    struct ibv_wc wc;
    sleep(1);
    if (ibv_poll_cq(bench->cq, 1, &wc) != 1) {
        printf("  no completion\n");
        return false;
    }
    printf("  completion: %s\n", ibv_wc_status_str(wc.status));
    return wc.status == IBV_WC_SUCCESS;
}

/* A READ of 64 bytes, one of none, and the first one again: data are due, not a NAK. */
static int read_again(struct bench *bench) {
    const uint8_t *got;
    send_reth(bench, READ_REQUEST, OUR_PSN, 0, 64, 0);
    if (!(got = receive(bench)) || got[0] != READ_ONLY)
        return UNTOLD;
    send_reth(bench, READ_REQUEST, OUR_PSN + 1, 0, 0, 0);
    if (!(got = receive(bench)) || got[0] != READ_ONLY)
        return UNTOLD;
    send_reth(bench, READ_REQUEST, OUR_PSN, 0, 64, 0);
    if (!(got = receive(bench)))
        return UNTOLD;
    if (got[0] == READ_ONLY)
        return 0;
    return got[0] == ACKNOWLEDGE && got[BTH] == NAK_ACCESS ? SEEN : UNTOLD;
}

/* A WRITE, and an ACK of a PSN a thousand ahead of it: it must not complete. */
static int ghost_ack(struct bench *bench) {
    post_write(bench, 64);
    if (!receive(bench))
        return UNTOLD;
    send_aeth(bench, ITS_PSN + 1000, 0x1f, 1);
    return has_succeeded(bench) ? SEEN : 0;
}

/* A WRITE, and a response with a reserved syndrome: it must not complete with success. */
static int reserved_syndrome(struct bench *bench) {
    post_write(bench, 64);
    if (!receive(bench))
        return UNTOLD;
    send_aeth(bench, ITS_PSN, 0x80, 1);
    return has_succeeded(bench) ? SEEN : 0;
}

/* On UC a WRITE whose end is lost, then two whole WRITEs: both of these are due in memory. */
static int uc_stuck(struct bench *bench) {
    send_reth(bench, UC_WRITE_FIRST, OUR_PSN, 0, 3 * MTU, MTU);
    send_reth(bench, UC_WRITE_ONLY, OUR_PSN + 3, 1024, 64, 64);
    send_reth(bench, UC_WRITE_ONLY, OUR_PSN + 4, 2048, 64, 64);
    sleep(1);
    printf("  memory: %02x of the torn WRITE, %02x and %02x of those behind it\n", bench->memory[0],
           bench->memory[1024], bench->memory[2048]);
    if (bench->memory[0] != 0xa5)
        return UNTOLD;
    return bench->memory[1024] == 0xa5 && bench->memory[2048] == 0xa5 ? 0 : SEEN;
}

/* Two WRITEs that nobody answers, RESET, and a new one: only that one is due on the wire. */
static int reset(struct bench *bench) {
    post_write(bench, 64);
    post_write(bench, 64);
    if (!receive(bench) || !receive(bench))
        return UNTOLD;
    modify(bench, IBV_QPS_RESET);
    connect_qp(bench);
    post_write(bench, 32);
    const uint8_t *got = receive(bench);
    return !got ? UNTOLD : get(got + BTH + 12, 4) == 32 ? 0 : SEEN;
}

static const struct {
    const char *name;
    int (*run)(struct bench *bench);
    enum ibv_qp_type type;
} cases[] = {
    {"read-again", read_again, IBV_QPT_RC},
    {"ghost-ack", ghost_ack, IBV_QPT_RC},
    {"reserved-syndrome", reserved_syndrome, IBV_QPT_RC},
    {"uc-stuck", uc_stuck, IBV_QPT_UC},
    {"reset", reset, IBV_QPT_RC},
};

static void set_up(struct bench *bench) {
    struct ifreq request = {.ifr_name = "repro0", .ifr_flags = IFF_TAP | IFF_NO_PI};
    int count;
    bench->tap = open("/dev/net/tun", O_RDWR);
    if (bench->tap < 0 || ioctl(bench->tap, TUNSETIFF, &request))
        die("/dev/net/tun");
    run("ip link set repro0 addrgenmode none && ip link set repro0 mtu 4200 up && "
        "ip addr add 10.9.0.1/24 dev repro0 && "
        "ip neigh add 10.9.0.2 lladdr 02:00:00:00:00:02 dev repro0 && "
        "rdma link add repro type rxe netdev repro0");
    if (ioctl(bench->tap, SIOCGIFHWADDR, &request))
        die("SIOCGIFHWADDR");
    memcpy(bench->mac, request.ifr_hwaddr.sa_data, 6);
    struct ibv_device **devices = ibv_get_device_list(&count);
    for (; devices && *devices && !bench->context; devices++)
        if (!strcmp(ibv_get_device_name(*devices), "repro"))
            bench->context = ibv_open_device(*devices);
    if (!bench->context || !(bench->pd = ibv_alloc_pd(bench->context)))
        die("the rxe device");
    bench->cq = ibv_create_cq(bench->context, 16, NULL, NULL, 0);
    bench->mr =
        ibv_reg_mr(bench->pd, bench->memory, sizeof bench->memory,
                   IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ);
    struct ibv_qp_init_attr init = {.send_cq = bench->cq,
                                    .recv_cq = bench->cq,
                                    .cap = {16, 16, 1, 1, 0},
                                    .qp_type = bench->type};
    if (!bench->cq || !bench->mr || !(bench->qp = ibv_create_qp(bench->pd, &init)))
        die("a queue pair");
}

int main(int count, char **words) {
    static struct bench bench;
    for (size_t at = 0; count == 2 && at < sizeof cases / sizeof *cases; at++) {
        if (strcmp(words[1], cases[at].name))
            continue;
        bench.type = cases[at].type;
        set_up(&bench);
        connect_qp(&bench);
        int outcome = cases[at].run(&bench);
        printf("%s: %s\n", words[1],
               outcome == SEEN ? "DEVIATES"
               : outcome       ? "no way to tell"
                               : "as it should be");
        return outcome;
    }
    fprintf(stderr, "usage: rxe_repro read-again|ghost-ack|reserved-syndrome|uc-stuck|reset\n");
    return UNTOLD;
}
