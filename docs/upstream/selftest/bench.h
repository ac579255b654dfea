/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A bench for rdma_rxe: a TAP device with an rxe device on it, one queue pair, and the other end
 * of its connection, which is played by writing frames to the TAP and reading what comes out.
 */
#ifndef RXE_BENCH_H
#define RXE_BENCH_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum verdict { DUE, DEVIATES, UNTOLD };

enum {
    MTU = 256,
    MEMORY = 4 << 20,
    PEER_QPN = 0x11,
    OUR_PSN = 0x1000,
    ITS_PSN = 0x2000,
    BTH = 12,
    AETH = 4
};

enum opcode {
    SEND_ONLY = 0x04,
    WRITE_FIRST = 0x06,
    WRITE_LAST = 0x08,
    WRITE_ONLY = 0x0a,
    READ_REQUEST = 0x0c,
    READ_FIRST = 0x0d,
    READ_MIDDLE = 0x0e,
    READ_LAST = 0x0f,
    READ_ONLY = 0x10,
    ACKNOWLEDGE = 0x11,
    ATOMIC_ACK = 0x12,
    FETCH_ADD = 0x14,
    UC_SEND_FIRST = 0x20,
    UC_SEND_ONLY = 0x24,
    UC_WRITE_FIRST = 0x26,
    UC_WRITE_ONLY = 0x2a
};

enum syndrome {
    ACK = 0x1f,
    RNR_NAK = 0x20,
    NAK_SEQUENCE = 0x60,
    NAK_INVALID = 0x61,
    NAK_ACCESS = 0x62,
    RESERVED = 0x80
};

/* How a case wants its queue pair. */
struct wish {
    enum ibv_qp_type type;
    uint8_t timeout, retry_cnt;
    bool is_shared; /* its receives come from an SRQ */
};

struct bench {
    int tap;
    uint8_t mac[6];
    struct ibv_context *context;
    struct ibv_pd *pd;
    struct ibv_mr *mr;
    struct ibv_cq *cq;
    struct ibv_srq *srq;
    struct ibv_qp *qp;
    struct wish wish;
    uint32_t surplus; /* bytes between the end of UDP and that of IP */
    uint8_t *memory;
};

/* A packet of the kernel. */
struct packet {
    uint8_t opcode;
    uint32_t psn;
    const uint8_t *behind; /* the BTH */
};

void open_bench(struct bench *bench);
void close_bench(struct bench *bench);
void make_qp(struct bench *bench, struct wish wish);
void drop_qp(struct bench *bench);
int try_modify(struct bench *bench, enum ibv_qp_state state, enum ibv_mtu mtu);
void modify(struct bench *bench, enum ibv_qp_state state);
void connect_qp(struct bench *bench);

void put(uint8_t *at, uint64_t value, int bytes);
uint32_t get(const uint8_t *at, int bytes);
void send_packet(struct bench *bench, uint8_t opcode, uint32_t psn, const void *behind,
                 size_t size);
void send_reth(struct bench *bench, uint8_t opcode, uint32_t psn, uint32_t offset, uint32_t length,
               size_t payload);
void send_fetch_add(struct bench *bench, uint32_t psn);
void send_aeth(struct bench *bench, uint32_t psn, uint8_t syndrome);
bool receive_within(struct bench *bench, int milliseconds, struct packet *got);
bool receive(struct bench *bench, struct packet *got);
bool expect(struct bench *bench, uint8_t opcode, struct packet *got);

void post(struct bench *bench, enum ibv_wr_opcode opcode, uint32_t length);
void post_receive(struct bench *bench, uint32_t length);
bool completes(struct bench *bench, int milliseconds, enum ibv_wc_status *status);
bool has_succeeded(struct bench *bench);
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
_Noreturn void die(const char *what);

#endif
