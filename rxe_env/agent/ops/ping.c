// SPDX-License-Identifier: BSD-2-Clause
//
// ping: a message from one queue pair of this host to another and one back,
// round after round.
#include "ops/ops.h"
#include "protocol/args.h"
#include "protocol/words.h"
#include "verbs/channel.h"
#include "verbs/way.h"

enum { MAX_ROUNDS = 1 << 20, DEFAULT_TIMEOUT_MS = 10000 };
enum { MOST_COMPLETIONS = 2 }; // of a round, at either end

static const struct word opcode_names[] = {
    {"send", IBV_WR_SEND},
    {"write_imm", IBV_WR_RDMA_WRITE_WITH_IMM},
    {NULL, 0},
};

static const struct word wait_names[] = {
    {"busy", WAIT_BUSY},
    {"event", WAIT_EVENT},
    {NULL, 0},
};

struct ping {
    struct end ends[2];
    struct way ways[2]; // by the end that posts
    uint32_t rounds;
    uint32_t timeout_ms;
    bool is_signaled;
    uint32_t heard[2]; // by the end that receives
    uint32_t sent[2];  // told of, where signalled
    uint32_t right;
};

static bool ping_from(struct table *table, const json_t *request, struct ping *p, struct fail *f) {
    int opcode = 0;
    int wait = 0;
    uint64_t size = 0;
    uint64_t rounds = 0;
    p->is_signaled = true;
    p->timeout_ms = DEFAULT_TIMEOUT_MS;
    if (!arg_word(request, "opcode", opcode_names, &opcode, f) ||
        !arg_word(request, "wait", wait_names, &wait, f) ||
        !arg_number(request, "size", 1, UINT32_MAX, &size, f) ||
        !arg_number(request, "rounds", 1, MAX_ROUNDS, &rounds, f) ||
        !arg_optional_bool(request, "signaled", &p->is_signaled, f) ||
        !arg_optional_u32(request, "timeout_ms", 1, CHANNEL_MAX_MS, &p->timeout_ms, f) ||
        !ends_from(table, request, p->ends, MOST_COMPLETIONS, f)) {
        return false;
    }
    p->rounds = (uint32_t)rounds;
    for (int i = 0; i < 2; i++) {
        // What an end sends lies before what it receives.
        p->ways[i] = (struct way){.from = &p->ends[i],
                                  .to = &p->ends[1 - i],
                                  .opcode = (enum ibv_wr_opcode)opcode,
                                  .size = (uint32_t)size,
                                  .places = 1,
                                  .to_offset = size};
        if (!way_fits(&p->ways[i], f)) {
            return false;
        }
    }
    return ends_wait_by(p->ends, (enum wait)wait, (enum wait)wait, f);
}

static bool post(struct ping *p, int from, uint32_t round, struct fail *f) {
    struct ibv_sge sge;
    unsigned flags = p->is_signaled ? IBV_SEND_SIGNALED : 0U;
    struct ibv_send_wr wr = way_work(&p->ways[from], round, flags, &sge);
    struct ibv_send_wr *bad = NULL;
    int err = ibv_post_send(p->ends[from].qp, &wr, &bad);
    return err == 0 || fail_errno(f, err, "post_send");
}

static bool take(struct ping *p, int at, struct fail *f) {
    const struct way *way = &p->ways[1 - at];
    struct ibv_wc wc;
    int took = 0;
    while ((took = end_take(&p->ends[at], &wc, f)) > 0) {
        if (!(wc.opcode & IBV_WC_RECV)) {
            p->sent[at]++;
            continue;
        }
        uint32_t round = p->heard[at]++;
        p->right += way_heard(way, round, &wc) && way_arrived(way, round);
        if (round + 1 < p->rounds && !way_receive(way, round + 1, f)) {
            return false;
        }
    }
    return took == 0;
}

// Until so many have been received at this end; a round is over when signalled sends are told of.
static bool hear(struct ping *p, int at, uint32_t heard, int64_t deadline, struct fail *f) {
    uint32_t told = at == 0 && p->is_signaled ? heard : 0;
    while (p->heard[at] < heard || p->sent[0] < told || p->sent[1] < told) {
        if (!ends_rest(p->ends, deadline, f) || !take(p, 0, f) || !take(p, 1, f)) {
            return false;
        }
    }
    return true;
}

static bool play(struct ping *p, struct fail *f) {
    int64_t deadline = now_us() + (int64_t)p->timeout_ms * 1000;
    if (!way_receive(&p->ways[0], 0, f) || !way_receive(&p->ways[1], 0, f)) {
        return false;
    }
    for (uint32_t round = 0; round < p->rounds; round++) {
        if (!post(p, 0, round, f) || !hear(p, 1, round + 1, deadline, f) || !post(p, 1, round, f) ||
            !hear(p, 0, round + 1, deadline, f)) {
            return false;
        }
    }
    return true;
}

json_t *op_ping(struct session *session, const json_t *request, struct fail *f) {
    struct ping ping = {0};
    if (!ping_from(&session->table, request, &ping, f)) {
        return NULL;
    }
    struct fail why = {0};
    if (!play(&ping, &why)) {
        fail_say(f, "after %u there and %u back: %.200s", (unsigned)ping.heard[1],
                 (unsigned)ping.heard[0], why.text);
        f->err = why.err;
        return NULL;
    }
    json_t *told = ends_told(ping.ends);
    json_object_set_new(told, "right", json_integer(ping.right));
    return told;
}
