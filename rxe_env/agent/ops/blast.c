// SPDX-License-Identifier: BSD-2-Clause
//
// blast: messages from one queue pair of this host to another, several
// outstanding at once, posted in lists and signalled as the request says.
#include <sys/resource.h>

#include "ops/ops.h"
#include "protocol/args.h"
#include "protocol/words.h"
#include "verbs/channel.h"
#include "verbs/way.h"

enum { MAX_BUFFERS = 4096, MAX_LIST = 256, MAX_MESSAGES = 1 << 20 };
enum { DEFAULT_TIMEOUT_MS = 10000 };

static const struct word opcode_names[] = {
    {"send", IBV_WR_SEND},        {"send_imm", IBV_WR_SEND_WITH_IMM},
    {"write", IBV_WR_RDMA_WRITE}, {"write_imm", IBV_WR_RDMA_WRITE_WITH_IMM},
    {"read", IBV_WR_RDMA_READ},   {NULL, 0},
};

static const struct word wait_names[] = {
    {"busy", WAIT_BUSY},
    {"event", WAIT_EVENT},
    {"solicited", WAIT_SOLICITED},
    {NULL, 0},
};

struct blast {
    struct end ends[2];
    struct way way;
    uint32_t messages;
    uint32_t list;
    uint32_t signal_every;
    uint32_t solicit_every;
    uint32_t timeout_ms;
    uint32_t posts;  // calls
    uint32_t posted; // messages
    uint32_t done;   // where they were posted
    uint32_t heard;  // where they are received
    uint32_t right;
};

// An optional number of messages, at most `max`, which all of them are a multiple of.
static bool group(const json_t *request, const char *name, uint32_t max, uint32_t messages,
                  uint32_t *out, struct fail *f) {
    if (!arg_optional_u32(request, name, 1, max, out, f)) {
        return false;
    }
    return messages % *out == 0 || fail_say(f, "'messages' must be a multiple of '%s'", name);
}

static bool amounts(const json_t *request, struct blast *b, struct fail *f) {
    uint64_t size = 0;
    uint64_t buffers = 0;
    uint64_t messages = 0;
    if (!arg_number(request, "size", 1, UINT32_MAX, &size, f) ||
        !arg_number(request, "buffers", 1, MAX_BUFFERS, &buffers, f) ||
        !arg_number(request, "messages", 1, MAX_MESSAGES, &messages, f)) {
        return false;
    }
    b->way.size = (uint32_t)size;
    b->way.places = (uint32_t)buffers;
    b->messages = (uint32_t)messages;
    b->list = 1;
    b->signal_every = 1;
    b->timeout_ms = DEFAULT_TIMEOUT_MS;
    if (!group(request, "list", MAX_LIST, b->messages, &b->list, f) ||
        !group(request, "signal_every", MAX_BUFFERS, b->messages, &b->signal_every, f)) {
        return false;
    }
    b->solicit_every = b->list;
    if (b->list + b->signal_every - 1 > b->way.places) {
        return fail_say(f, "'buffers' must be at least 'list' + 'signal_every' - 1");
    }
    return group(request, "solicit_every", MAX_MESSAGES, b->messages, &b->solicit_every, f) &&
           arg_optional_u32(request, "timeout_ms", 1, CHANNEL_MAX_MS, &b->timeout_ms, f);
}

static bool blast_from(struct table *table, const json_t *request, struct blast *b,
                       struct fail *f) {
    int opcode = 0;
    int wait = 0;
    if (!arg_word(request, "opcode", opcode_names, &opcode, f) ||
        !arg_word(request, "wait", wait_names, &wait, f) || !amounts(request, b, f) ||
        !ends_from(table, request, b->ends, b->way.places, f)) {
        return false;
    }
    b->way.from = &b->ends[0];
    b->way.to = &b->ends[1];
    b->way.opcode = (enum ibv_wr_opcode)opcode;
    if (!way_is_heard(&b->way) && b->ends[0].qp->qp_type != IBV_QPT_RC) {
        return fail_say(f, "'opcode': only on RC is it known that a write has arrived");
    }
    // Nothing that was posted is solicited where it was posted.
    enum wait near = wait == WAIT_BUSY ? WAIT_BUSY : WAIT_EVENT;
    return way_fits(&b->way, f) && ends_wait_by(b->ends, near, (enum wait)wait, f);
}

static unsigned flags_of(const struct blast *b, uint32_t number) {
    bool is_signaled = (number + 1) % b->signal_every == 0;
    bool is_solicited = way_is_heard(&b->way) && (number + 1) % b->solicit_every == 0;
    return (is_signaled ? IBV_SEND_SIGNALED : 0U) | (is_solicited ? IBV_SEND_SOLICITED : 0U);
}

static bool post_list(struct blast *b, struct fail *f) {
    struct ibv_sge sges[MAX_LIST];
    struct ibv_send_wr wrs[MAX_LIST];
    for (uint32_t i = 0; i < b->list; i++) {
        uint32_t number = b->posted + i;
        wrs[i] = way_work(&b->way, number, flags_of(b, number), &sges[i]);
        wrs[i].next = i + 1 < b->list ? &wrs[i + 1] : NULL;
    }
    struct ibv_send_wr *bad = NULL;
    int err = ibv_post_send(b->ends[0].qp, wrs, &bad);
    if (err) {
        return fail_errno(f, err, "post_send");
    }
    b->posts++;
    b->posted += b->list;
    return true;
}

// A place is free again when its message is known at both ends.
static bool may_post(const struct blast *b) {
    bool is_behind = way_is_heard(&b->way) && b->heard < b->done;
    uint32_t known = is_behind ? b->heard : b->done;
    return b->posted < b->messages && b->posted + b->list - known <= b->way.places;
}

static bool take_near(struct blast *b, struct fail *f) {
    struct ibv_wc wc;
    int took = 0;
    while ((took = end_take(&b->ends[0], &wc, f)) > 0) {
        for (uint32_t end = (uint32_t)wc.wr_id + 1; b->done < end; b->done++) {
            b->right += !way_is_heard(&b->way) && way_arrived(&b->way, b->done);
        }
    }
    return took == 0;
}

static bool take_far(struct blast *b, struct fail *f) {
    struct ibv_wc wc;
    int took = 0;
    while ((took = end_take(&b->ends[1], &wc, f)) > 0) {
        uint32_t number = b->heard++;
        b->right += way_heard(&b->way, number, &wc) && way_arrived(&b->way, number);
        uint32_t next = number + b->way.places;
        if (next < b->messages && !way_receive(&b->way, next, f)) {
            return false;
        }
    }
    return took == 0;
}

static bool is_over(const struct blast *b) {
    return b->done == b->messages && (!way_is_heard(&b->way) || b->heard == b->messages);
}

static bool play(struct blast *b, struct fail *f) {
    int64_t deadline = now_us() + (int64_t)b->timeout_ms * 1000;
    for (uint32_t i = 0; way_is_heard(&b->way) && i < b->way.places && i < b->messages; i++) {
        if (!way_receive(&b->way, i, f)) {
            return false;
        }
    }
    while (!is_over(b)) {
        while (may_post(b)) {
            if (!post_list(b, f)) {
                return false;
            }
        }
        if (!ends_rest(b->ends, deadline, f) || !take_near(b, f) || !take_far(b, f)) {
            return false;
        }
    }
    return true;
}

static int64_t processor_us(void) {
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    return (int64_t)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1000000 +
           used.ru_utime.tv_usec + used.ru_stime.tv_usec;
}

json_t *op_blast(struct session *session, const json_t *request, struct fail *f) {
    struct blast blast = {0};
    if (!blast_from(&session->table, request, &blast, f)) {
        return NULL;
    }
    int64_t begun = now_us();
    int64_t spent = processor_us();
    struct fail why = {0};
    if (!play(&blast, &why)) {
        fail_say(f, "after %u posted, %u done and %u received: %.180s", (unsigned)blast.posted,
                 (unsigned)blast.done, (unsigned)blast.heard, why.text);
        f->err = why.err;
        return NULL;
    }
    json_t *told = ends_told(blast.ends);
    json_object_set_new(told, "posts", json_integer(blast.posts));
    json_object_set_new(told, "right", json_integer(blast.right));
    json_object_set_new(told, "elapsed_us", json_integer(now_us() - begun));
    json_object_set_new(told, "cpu_us", json_integer(processor_us() - spent));
    return told;
}
