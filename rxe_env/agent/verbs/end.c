// SPDX-License-Identifier: BSD-2-Clause
#include "verbs/end.h"

#include "protocol/names.h"
#include "verbs/channel.h"

static bool one(struct table *table, const json_t *request, const char *qp_name,
                const char *mr_name, struct end *end, struct fail *f) {
    struct object *qp = table_get(table, request, qp_name, KIND_QP, f);
    struct object *mr = qp ? table_get(table, request, mr_name, KIND_MR, f) : NULL;
    if (!mr) {
        return false;
    }
    if (qp->qp->qp_type == IBV_QPT_UD) {
        return fail_say(f, "'%s' must be RC or UC", qp_name);
    }
    if (qp->qp->srq) {
        return fail_say(f, "'%s' must not receive from an srq", qp_name);
    }
    if (qp->qp->send_cq != qp->qp->recv_cq) {
        return fail_say(f, "'%s' must have one cq for all its work", qp_name);
    }
    *end = (struct end){.qp = qp->qp, .cq = qp->qp->send_cq, .mr = &mr->mr};
    return true;
}

bool ends_from(struct table *table, const json_t *request, struct end ends[2], uint32_t depth,
               struct fail *f) {
    if (!one(table, request, "qp", "mr", &ends[0], f) ||
        !one(table, request, "far_qp", "far_mr", &ends[1], f)) {
        return false;
    }
    if (ends[0].cq == ends[1].cq) {
        return fail_say(f, "'qp' and 'far_qp' must not share a cq");
    }
    for (int i = 0; i < 2; i++) {
        if ((uint32_t)ends[i].cq->cqe < depth) {
            return fail_say(f, "a cq holds %d completions, and %u may come", ends[i].cq->cqe,
                            (unsigned)depth);
        }
    }
    return true;
}

static bool arm(struct end *end, struct fail *f) {
    int err = ibv_req_notify_cq(end->cq, end->wait == WAIT_SOLICITED);
    return err == 0 || fail_errno(f, err, "req_notify_cq");
}

bool ends_wait_by(struct end ends[2], enum wait near, enum wait far, struct fail *f) {
    ends[0].wait = near;
    ends[1].wait = far;
    for (int i = 0; i < 2; i++) {
        ends[i].awake = ends[i].wait == WAIT_BUSY;
        if (!ends[i].awake && !arm(&ends[i], f)) {
            return false;
        }
    }
    return true;
}

bool ends_rest(struct end ends[2], int64_t deadline, struct fail *f) {
    static const char late[] = "the time is over";
    if (ends[0].wait == WAIT_BUSY) {
        return now_us() < deadline || fail_say(f, late);
    }
    struct ibv_cq *const cqs[2] = {ends[0].cq, ends[1].cq};
    bool came[2];
    if (!channel_wait(cqs, came, 2, deadline)) {
        return fail_say(f, late);
    }
    for (int i = 0; i < 2; i++) {
        if (came[i]) {
            ends[i].events++;
            ends[i].awake = true;
            // Before the look, so that what comes after it wakes again.
            if (!arm(&ends[i], f)) {
                return false;
            }
        }
    }
    return true;
}

int end_take(struct end *end, struct ibv_wc *wc, struct fail *f) {
    if (!end->awake) {
        return 0;
    }
    int count = ibv_poll_cq(end->cq, 1, wc);
    if (count == 0) {
        end->awake = end->wait == WAIT_BUSY;
        return 0;
    }
    if (count < 0) {
        fail_say(f, "poll_cq: the completion queue is in error");
        return -1;
    }
    if (wc->status != IBV_WC_SUCCESS) {
        fail_say(f, "a completion is %s", word_name(wc_status_names, (int)wc->status));
        return -1;
    }
    end->completions++;
    return 1;
}

json_t *ends_told(const struct end ends[2]) {
    return json_pack("{s:I, s:I, s:I, s:I}", "completions", (json_int_t)ends[0].completions,
                     "events", (json_int_t)ends[0].events, "far_completions",
                     (json_int_t)ends[1].completions, "far_events", (json_int_t)ends[1].events);
}
