// SPDX-License-Identifier: BSD-2-Clause
//
// create_cq, poll_cq: completions. The wait of poll_cq happens here, on the
// completion channel, so that a peer spends one round trip per answer.
#include <arpa/inet.h>
#include <errno.h>

#include "ops/ops.h"
#include "protocol/args.h"
#include "protocol/names.h"
#include "verbs/channel.h"

enum { MAX_CQ_DEPTH = 32768, MAX_POLL = 1024 };

static bool create_cq(struct ibv_context *verbs, struct cq *cq, int depth, struct fail *f) {
    cq->channel = ibv_create_comp_channel(verbs);
    if (!cq->channel) {
        return fail_errno(f, errno, "create_comp_channel");
    }
    cq->verbs = ibv_create_cq(verbs, depth, NULL, cq->channel, 0);
    if (!cq->verbs) {
        int err = errno;
        ibv_destroy_comp_channel(cq->channel);
        return fail_errno(f, err, "create_cq");
    }
    return true;
}

json_t *op_create_cq(struct session *session, const json_t *request, struct fail *f) {
    struct object *place = table_place(&session->table, f);
    uint32_t depth = 256;
    if (!place || !arg_optional_u32(request, "depth", 1, MAX_CQ_DEPTH, &depth, f) ||
        !create_cq(session->verbs, &place->cq, (int)depth, f)) {
        return NULL;
    }
    place->kind = KIND_CQ;
    return json_pack("{s:i, s:i}", "cq", (int)table_handle(&session->table, place), "depth",
                     place->cq.verbs->cqe);
}

static json_t *describe(const struct ibv_wc *wc) {
    json_t *entry = json_pack("{s:I, s:s, s:i, s:I}", "wr_id", (json_int_t)wc->wr_id, "status",
                              word_name(wc_status_names, (int)wc->status), "vendor_err",
                              (int)wc->vendor_err, "qp_num", (json_int_t)wc->qp_num);
    if (wc->status != IBV_WC_SUCCESS) {
        return entry;
    }
    json_object_set_new(entry, "opcode", json_string(word_name(wc_opcode_names, (int)wc->opcode)));
    json_object_set_new(entry, "byte_len", json_integer(wc->byte_len));
    json_object_set_new(entry, "src_qp", json_integer(wc->src_qp));
    json_object_set_new(entry, "grh", json_boolean(wc->wc_flags & IBV_WC_GRH));
    if (wc->wc_flags & IBV_WC_WITH_IMM) {
        json_object_set_new(entry, "imm", json_integer(ntohl(wc->imm_data)));
    }
    if (wc->wc_flags & IBV_WC_WITH_INV) {
        json_object_set_new(entry, "invalidated_rkey", json_integer(wc->invalidated_rkey));
    }
    return entry;
}

// Takes what is there; false, with the reason, when the queue itself failed.
static bool take(struct ibv_cq *cq, json_t *list, size_t max, struct fail *f) {
    while (json_array_size(list) < max) {
        struct ibv_wc wc;
        int count = ibv_poll_cq(cq, 1, &wc);
        if (count < 0) {
            return fail_say(f, "poll_cq: the completion queue is in error");
        }
        if (count == 0) {
            break;
        }
        json_array_append_new(list, describe(&wc));
    }
    return true;
}

static bool collect(struct cq *cq, json_t *list, size_t min, size_t max, uint32_t timeout_ms,
                    struct fail *f) {
    int64_t deadline = now_us() + (int64_t)timeout_ms * 1000;
    bool more = true;
    while (take(cq->verbs, list, max, f)) {
        if (json_array_size(list) >= min || !more) {
            return true;
        }
        int err = ibv_req_notify_cq(cq->verbs, 0);
        if (err) {
            return fail_errno(f, err, "req_notify_cq");
        }
        // A completion may have come between the look and the request.
        if (!take(cq->verbs, list, max, f)) {
            return false;
        }
        bool came = false;
        more = json_array_size(list) >= min || channel_wait(&cq->verbs, &came, 1, deadline);
    }
    return false;
}

json_t *op_poll_cq(struct session *session, const json_t *request, struct fail *f) {
    struct object *object = table_get(&session->table, request, "cq", KIND_CQ, f);
    uint32_t max = 16;
    uint32_t min = 1;
    uint32_t timeout_ms = 0;
    if (!object || !arg_optional_u32(request, "max", 1, MAX_POLL, &max, f) ||
        !arg_optional_u32(request, "min", 1, max, &min, f) ||
        !arg_optional_u32(request, "timeout_ms", 0, CHANNEL_MAX_MS, &timeout_ms, f)) {
        return NULL;
    }
    json_t *list = json_array();
    if (!collect(&object->cq, list, min, max, timeout_ms, f)) {
        json_decref(list);
        return NULL;
    }
    return json_pack("{s:o}", "wcs", list);
}
