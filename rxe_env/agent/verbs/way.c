// SPDX-License-Identifier: BSD-2-Clause
#include "verbs/way.h"

#include <arpa/inet.h>

static uint8_t *place(const struct end *end, size_t first, const struct way *way, uint32_t number) {
    return end->mr->bytes + first + (size_t)(number % way->places) * way->size;
}

static uint8_t *near_place(const struct way *way, uint32_t number) {
    return place(way->from, way->from_offset, way, number);
}

static uint8_t *far_place(const struct way *way, uint32_t number) {
    return place(way->to, way->to_offset, way, number);
}

bool way_fits(const struct way *way, struct fail *f) {
    uint64_t all = (uint64_t)way->size * way->places;
    if (way->from_offset + all > way->from->mr->size || way->to_offset + all > way->to->mr->size) {
        return fail_say(f, "an mr is too small for %u messages of %u bytes", (unsigned)way->places,
                        (unsigned)way->size);
    }
    return true;
}

static bool is_read(const struct way *way) {
    return way->opcode == IBV_WR_RDMA_READ;
}

static bool is_send(const struct way *way) {
    return way->opcode == IBV_WR_SEND || way->opcode == IBV_WR_SEND_WITH_IMM;
}

static bool has_immediate(const struct way *way) {
    return way->opcode == IBV_WR_SEND_WITH_IMM || way->opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
}

bool way_is_heard(const struct way *way) {
    return is_send(way) || has_immediate(way);
}

// A byte of a message: other messages have other bytes there, nearly always.
static uint8_t content(uint32_t number, uint32_t at) {
    return (uint8_t)(((number + 1) * UINT32_C(0x9e3779b1) + (at + 1) * UINT32_C(0x85ebca6b)) >> 24);
}

struct ibv_send_wr way_work(const struct way *way, uint32_t number, unsigned flags,
                            struct ibv_sge *sge) {
    uint8_t *near = near_place(way, number);
    uint8_t *far = far_place(way, number);
    uint8_t *source = is_read(way) ? far : near;
    uint8_t *target = is_read(way) ? near : far;
    for (uint32_t at = 0; at < way->size; at++) {
        source[at] = content(number, at);
        target[at] = (uint8_t)~source[at];
    }
    *sge = (struct ibv_sge){
        .addr = (uintptr_t)near, .length = way->size, .lkey = way->from->mr->verbs->lkey};
    struct ibv_send_wr wr = {.wr_id = number,
                             .sg_list = sge,
                             .num_sge = 1,
                             .opcode = way->opcode,
                             .send_flags = flags,
                             .imm_data = htonl(number)};
    if (!is_send(way)) {
        wr.wr.rdma.remote_addr = (uintptr_t)far;
        wr.wr.rdma.rkey = way->to->mr->verbs->rkey;
    }
    return wr;
}

bool way_receive(const struct way *way, uint32_t number, struct fail *f) {
    struct ibv_sge sge = {.addr = (uintptr_t)far_place(way, number),
                          .length = way->size,
                          .lkey = way->to->mr->verbs->lkey};
    struct ibv_recv_wr wr = {.wr_id = number, .sg_list = &sge, .num_sge = is_send(way)};
    struct ibv_recv_wr *bad = NULL;
    int err = ibv_post_recv(way->to->qp, &wr, &bad);
    return err == 0 || fail_errno(f, err, "post_recv");
}

bool way_heard(const struct way *way, uint32_t number, const struct ibv_wc *wc) {
    bool is_tagged = wc->wc_flags & IBV_WC_WITH_IMM;
    return wc->wr_id == number && wc->byte_len == way->size && is_tagged == has_immediate(way) &&
           (!is_tagged || ntohl(wc->imm_data) == number);
}

bool way_arrived(const struct way *way, uint32_t number) {
    const uint8_t *target = is_read(way) ? near_place(way, number) : far_place(way, number);
    for (uint32_t at = 0; at < way->size; at++) {
        if (target[at] != content(number, at)) {
            return false;
        }
    }
    return true;
}
