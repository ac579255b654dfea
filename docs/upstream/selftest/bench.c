/* SPDX-License-Identifier: BSD-2-Clause */
#include "bench.h"

#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

enum { ETHERNET = 14, IP = 20, UDP = 8, ICRC = 4, PORT = 4791, FRAME = 4200, DEPTH = 128 };

/* Which a reader of TAP passes over. */
void say(const char *format, ...) {
    va_list words;
    va_start(words, format);
    fputs("# ", stdout);
    vprintf(format, words);
    putchar('\n');
    va_end(words);
}

/* What the bench lacks: nothing can be told. */
_Noreturn void die(const char *what) {
    perror(what);
    printf("Bail out! %s\n", what);
    exit(UNTOLD);
}

void put(uint8_t *at, uint64_t value, int bytes) {
    while (bytes--) {
        at[bytes] = (uint8_t)value;
        value >>= 8;
    }
}

uint32_t get(const uint8_t *at, int bytes) {
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

/* A packet: BTH with A=1, then `size` bytes behind it, then the ICRC. */
void send_packet(struct bench *bench, uint8_t opcode, uint32_t psn, const void *behind,
                 size_t size) {
    uint8_t frame[FRAME] = {0}, masked[FRAME];
    uint8_t *ip = frame + ETHERNET, *udp = ip + IP, *bth = udp + UDP;
    size_t total = IP + UDP + BTH + size + ICRC;
    memcpy(frame, bench->mac, 6);
    memcpy(frame + 6, "\x02\0\0\0\0\x02\x08\0", 8);
    memcpy(ip, "\x45\0\0\0\0\0\x40\0\x40\x11\0\0\x0a\x09\0\x02\x0a\x09\0\x01", IP);
    put(ip + 2, total + bench->surplus, 2);
    uint32_t sum = 0;
    for (int at = 0; at < IP; at += 2)
        sum += get(ip + at, 2);
    sum = (sum >> 16) + (sum & 0xffff);
    put(ip + 10, ~(sum + (sum >> 16)), 2);
    put(udp, 0xc000, 2);
    put(udp + 2, PORT, 2);
    put(udp + 4, total - IP, 2);
    bth[0] = opcode;
    put(bth + 2, 0xffff, 2);
    put(bth + 4, bench->qp->qp_num, 4);
    put(bth + 8, 0x80000000 | (psn & 0xffffff), 4);
    memcpy(bth + BTH, behind, size);
    memcpy(masked, ip, total);
    masked[1] = masked[8] = masked[10] = masked[11] = 0xff;
    masked[26] = masked[27] = masked[32] = 0xff;
    uint32_t crc = crc32_of(~0U, (const uint8_t *)"\xff\xff\xff\xff\xff\xff\xff\xff", 8);
    crc = ~crc32_of(crc, masked, total - ICRC);
    for (size_t at = 0; at < ICRC; at++)
        ip[total - ICRC + at] = (uint8_t)(crc >> 8 * at);
    if (write(bench->tap, frame, ETHERNET + total + bench->surplus) < 0)
        die("write to the TAP");
}

void send_reth(struct bench *bench, uint8_t opcode, uint32_t psn, uint32_t offset, uint32_t length,
               size_t payload) {
    uint8_t behind[16 + MTU];
    put(behind, (uintptr_t)bench->memory + offset, 8);
    put(behind + 8, bench->mr->rkey, 4);
    put(behind + 12, length, 4);
    memset(behind + 16, 0xa5, payload);
    send_packet(bench, opcode, psn, behind, 16 + payload);
}

void send_fetch_add(struct bench *bench, uint32_t psn) {
    uint8_t behind[28] = {0};
    put(behind, (uintptr_t)bench->memory, 8);
    put(behind + 8, bench->mr->rkey, 4);
    put(behind + 12, 1, 8);
    send_packet(bench, FETCH_ADD, psn, behind, sizeof behind);
}

void send_aeth(struct bench *bench, uint32_t psn, uint8_t syndrome) {
    uint8_t aeth[AETH];
    put(aeth, (uint32_t)syndrome << 24 | 1, AETH);
    send_packet(bench, ACKNOWLEDGE, psn, aeth, AETH);
}

static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000LL + time.tv_nsec / 1000000;
}

/* The next RoCE packet of the kernel; false if none comes in time. */
bool receive_within(struct bench *bench, int milliseconds, struct packet *got) {
    static uint8_t frame[FRAME];
    struct pollfd ready = {bench->tap, POLLIN, 0};
    int64_t end = now() + milliseconds;
    for (int64_t left; (left = end - now()) >= 0;) {
        if (poll(&ready, 1, (int)left) != 1)
            continue;
        ssize_t size = read(bench->tap, frame, sizeof frame);
        const uint8_t *bth = frame + ETHERNET + IP + UDP;
        if (size < ETHERNET + IP + UDP + BTH + ICRC || get(frame + 12, 2) != 0x0800 ||
            frame[ETHERNET + 9] != 17 || get(frame + ETHERNET + IP + 2, 2) != PORT)
            continue;
        *got = (struct packet){bth[0], get(bth + 9, 3), bth + BTH};
        return true;
    }
    return false;
}

bool receive(struct bench *bench, struct packet *got) {
    if (!receive_within(bench, 1000, got)) {
        say("got nothing");
        return false;
    }
    say("got opcode 0x%02x psn 0x%06x, behind it %08x", got->opcode, got->psn, get(got->behind, 4));
    return true;
}

bool expect(struct bench *bench, uint8_t opcode, struct packet *got) {
    return receive(bench, got) && got->opcode == opcode;
}

int try_modify(struct bench *bench, enum ibv_qp_state state, enum ibv_mtu mtu) {
    bool is_rc = bench->wish.type == IBV_QPT_RC, is_ud = bench->wish.type == IBV_QPT_UD;
    struct ibv_qp_attr attr = {
        .qp_state = state,
        .port_num = 1,
        .qkey = 0x11223344,
        .qp_access_flags =
            IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC,
        .path_mtu = mtu,
        .dest_qp_num = PEER_QPN,
        .rq_psn = OUR_PSN,
        .sq_psn = ITS_PSN,
        .max_dest_rd_atomic = 4,
        .max_rd_atomic = 4,
        .min_rnr_timer = 12,
        .timeout = bench->wish.timeout,
        .retry_cnt = bench->wish.retry_cnt,
        .rnr_retry = 3,
        .ah_attr = {.is_global = 1, .port_num = 1, .grh = {.hop_limit = 64, .sgid_index = 1}}};
    int mask = IBV_QP_STATE;
    memcpy(attr.ah_attr.grh.dgid.raw, "\0\0\0\0\0\0\0\0\0\0\xff\xff\x0a\x09\0\x02", 16);
    if (state == IBV_QPS_INIT)
        mask |= IBV_QP_PKEY_INDEX | IBV_QP_PORT | (is_ud ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS);
    if (state == IBV_QPS_RTR && !is_ud)
        mask |= IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                (is_rc ? IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER : 0);
    if (state == IBV_QPS_RTS)
        mask |= IBV_QP_SQ_PSN | (is_rc ? IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                                             IBV_QP_MAX_QP_RD_ATOMIC
                                       : 0);
    return ibv_modify_qp(bench->qp, &attr, mask);
}

void modify(struct bench *bench, enum ibv_qp_state state) {
    if (try_modify(bench, state, IBV_MTU_256))
        die("ibv_modify_qp");
}

void connect_qp(struct bench *bench) {
    modify(bench, IBV_QPS_INIT);
    modify(bench, IBV_QPS_RTR);
    modify(bench, IBV_QPS_RTS);
}

void make_qp(struct bench *bench, struct wish wish) {
    struct ibv_srq_init_attr shared = {.attr = {.max_wr = DEPTH, .max_sge = 1}};
    memset(bench->memory, 0, MEMORY);
    bench->wish = wish;
    bench->surplus = 0;
    bench->cq = ibv_create_cq(bench->context, 2 * DEPTH, NULL, NULL, 0);
    bench->srq = wish.is_shared ? ibv_create_srq(bench->pd, &shared) : NULL;
    struct ibv_qp_init_attr init = {.send_cq = bench->cq,
                                    .recv_cq = bench->cq,
                                    .srq = bench->srq,
                                    .cap = {DEPTH, DEPTH, 1, 1, 0},
                                    .qp_type = wish.type};
    if (!bench->cq || (wish.is_shared && !bench->srq) ||
        !(bench->qp = ibv_create_qp(bench->pd, &init)))
        die("a queue pair");
}

void drop_qp(struct bench *bench) {
    struct packet got;
    if (ibv_destroy_qp(bench->qp) || ibv_destroy_cq(bench->cq) ||
        (bench->srq && ibv_destroy_srq(bench->srq)))
        die("destroying a queue pair");
    while (receive_within(bench, 20, &got)) {
    }
}

void post(struct bench *bench, enum ibv_wr_opcode opcode, uint32_t length) {
    struct ibv_sge sge = {(uintptr_t)bench->memory, length, bench->mr->lkey};
    struct ibv_send_wr wr = {.wr_id = length, .sg_list = &sge, .num_sge = 1, .opcode = opcode};
    struct ibv_send_wr *bad;
    wr.send_flags = IBV_SEND_SIGNALED;
    if (opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
        wr.wr.atomic.remote_addr = 0x1000;
        wr.wr.atomic.rkey = 0x1234;
    } else {
        wr.wr.rdma.remote_addr = 0x1000;
        wr.wr.rdma.rkey = 0x1234;
    }
    if (ibv_post_send(bench->qp, &wr, &bad))
        die("ibv_post_send");
}

void post_receive(struct bench *bench, uint32_t length) {
    struct ibv_sge sge = {(uintptr_t)bench->memory, length, bench->mr->lkey};
    struct ibv_recv_wr wr = {.sg_list = &sge, .num_sge = 1}, *bad;
    if (bench->srq ? ibv_post_srq_recv(bench->srq, &wr, &bad) : ibv_post_recv(bench->qp, &wr, &bad))
        die("ibv_post_recv");
}

/* Whether something completes in time, and how. */
bool completes(struct bench *bench, int milliseconds, enum ibv_wc_status *status) {
    struct ibv_wc wc;
    for (int64_t end = now() + milliseconds; now() <= end; usleep(2000))
        if (ibv_poll_cq(bench->cq, 1, &wc) == 1) {
            say("completion: %s", ibv_wc_status_str(wc.status));
            *status = wc.status;
            return true;
        }
    say("no completion");
    return false;
}

bool has_succeeded(struct bench *bench) {
    enum ibv_wc_status status;
    return completes(bench, 1000, &status) && status == IBV_WC_SUCCESS;
}

void open_bench(struct bench *bench) {
    struct ifreq request = {.ifr_name = "repro0", .ifr_flags = IFF_TAP | IFF_NO_PI};
    int count;
    bench->tap = open("/dev/net/tun", O_RDWR);
    if (bench->tap < 0 || ioctl(bench->tap, TUNSETIFF, &request))
        die("/dev/net/tun");
    if (system("ip link set repro0 addrgenmode none && ip link set repro0 txqueuelen 20000 && "
               "ip link set repro0 mtu 4200 up && ip addr add 10.9.0.1/24 dev repro0 && "
               "ip neigh add 10.9.0.2 lladdr 02:00:00:00:00:02 dev repro0 && "
               "rdma link add repro type rxe netdev repro0"))
        die("ip, rdma");
    if (ioctl(bench->tap, SIOCGIFHWADDR, &request))
        die("SIOCGIFHWADDR");
    memcpy(bench->mac, request.ifr_hwaddr.sa_data, 6);
    struct ibv_device **devices = ibv_get_device_list(&count);
    for (; devices && *devices && !bench->context; devices++)
        if (!strcmp(ibv_get_device_name(*devices), "repro"))
            bench->context = ibv_open_device(*devices);
    bench->memory = aligned_alloc(4096, MEMORY);
    if (!bench->context || !bench->memory || !(bench->pd = ibv_alloc_pd(bench->context)))
        die("the rxe device");
    bench->mr = ibv_reg_mr(bench->pd, bench->memory, MEMORY,
                           IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
                               IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC);
    if (!bench->mr)
        die("a memory region");
}

void close_bench(struct bench *bench) {
    ibv_dereg_mr(bench->mr);
    ibv_dealloc_pd(bench->pd);
    ibv_close_device(bench->context);
    free(bench->memory);
    if (system("rdma link delete repro"))
        die("rdma link delete");
    close(bench->tap);
}
