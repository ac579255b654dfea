// SPDX-License-Identifier: BSD-2-Clause
//
// From a request line to a reply line. The table names each operation, its
// fields and whether it can do without an RDMA device.
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ops/ops.h"
#include "protocol/args.h"
#include "protocol/line.h"

struct entry {
    const char *name;
    operation *run;
    const char *fields;
};

static json_t *op_quit(struct session *session, const json_t *request, struct fail *f) {
    (void)request;
    (void)f;
    session->quit = true;
    return json_object();
}

static json_t *op_reset(struct session *session, const json_t *request, struct fail *f) {
    (void)request;
    (void)f;
    table_destroy_all(&session->table);
    return json_object();
}

static const struct entry entries[] = {
    {"hello", op_hello, "id op"},
    {"alloc_pd", op_alloc_pd, "id op"},
    {"reg_mr", op_reg_mr, "id op pd size access fill"},
    {"alloc_mw", op_alloc_mw, "id op pd"},
    {"create_cq", op_create_cq, "id op depth"},
    {"create_srq", op_create_srq, "id op pd max_wr max_sge"},
    {"create_qp", op_create_qp,
     "id op pd type send_cq recv_cq srq max_send_wr max_recv_wr max_send_sge max_recv_sge "
     "max_inline_data sq_sig_all"},
    {"create_ah", op_create_ah, "id op pd dgid sgid_index hop_limit traffic_class flow_label sl"},
    {"modify_qp", op_modify_qp,
     "id op qp state pkey_index qkey access path_mtu dest_qpn rq_psn sq_psn dgid sgid_index "
     "hop_limit traffic_class flow_label sl max_rd_atomic max_dest_rd_atomic min_rnr_timer "
     "timeout retry_cnt rnr_retry"},
    {"query_qp", op_query_qp, "id op qp"},
    {"listen", op_listen,
     "id op address port access max_rd_atomic max_dest_rd_atomic min_rnr_timer pd type send_cq "
     "recv_cq srq max_send_wr max_recv_wr max_send_sge max_recv_sge max_inline_data sq_sig_all"},
    {"connect", op_connect,
     "id op address port access max_rd_atomic max_dest_rd_atomic min_rnr_timer retry_cnt rnr_retry "
     "flow_control pd type send_cq recv_cq srq max_send_wr max_recv_wr max_send_sge max_recv_sge "
     "max_inline_data sq_sig_all"},
    {"disconnect", op_disconnect, "id op cm"},
    {"query_cm", op_query_cm, "id op"},
    {"post_recv", op_post_recv, "id op qp srq wrs"},
    {"post_send", op_post_send, "id op qp wrs"},
    {"poll_cq", op_poll_cq, "id op cq min max timeout_ms"},
    {"ping", op_ping, "id op qp mr far_qp far_mr opcode wait size rounds signaled timeout_ms"},
    {"blast", op_blast,
     "id op qp mr far_qp far_mr opcode wait size buffers messages list signal_every solicit_every "
     "timeout_ms"},
    {"write", op_write, "id op mr offset data"},
    {"read", op_read, "id op mr offset length"},
    {"fill", op_fill, "id op mr offset length byte"},
    {"sha256", op_sha256, "id op mr offset length"},
    {"counters", op_counters, "id op"},
    {"look", op_look, "id op path"},
    {"destroy", op_destroy, "id op handle"},
    {"reset", op_reset, "id op"},
    {"quit", op_quit, "id op"},
};

static bool needs_device(operation *run) {
    return run != op_quit && run != op_reset && run != op_look;
}

static json_t *run(struct session *session, const json_t *request, struct fail *f) {
    const char *name = NULL;
    if (!arg_string(request, "op", &name, f)) {
        return NULL;
    }
    for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++) {
        const struct entry *entry = &entries[i];
        if (strcmp(entry->name, name) != 0) {
            continue;
        }
        if (!arg_only(request, entry->fields, f)) {
            return NULL;
        }
        if (!session->verbs && needs_device(entry->run)) {
            *f = session->no_device;
            return NULL;
        }
        return entry->run(session, request, f);
    }
    fail_say(f, "unknown op '%.40s'", name);
    return NULL;
}

static char *reply_line(json_t *reply) {
    char *text = json_dumps(reply, JSON_COMPACT);
    json_decref(reply);
    if (!text) {
        return NULL;
    }
    size_t length = strlen(text);
    char *line = realloc(text, length + 2);
    if (!line) {
        free(text);
        return NULL;
    }
    line[length] = '\n';
    line[length + 1] = '\0';
    return line;
}

static char *refuse(json_t *id, const struct fail *f) {
    return reply_line(
        json_pack("{s:o, s:b, s:s, s:i}", "id", id, "ok", 0, "error", f->text, "errno", f->err));
}

char *dispatch_too_long(void) {
    struct fail f = {0};
    fail_say(&f, "the line is longer than %d bytes", LINE_MAX_BYTES);
    return refuse(json_null(), &f);
}

char *dispatch(struct session *session, const char *line, size_t length) {
    struct fail f = {0};
    json_error_t error;
    json_t *request = json_loadb(line, length, JSON_REJECT_DUPLICATES, &error);
    if (!json_is_object(request)) {
        fail_say(&f, "not a JSON object: %.160s", request ? "another JSON type" : error.text);
        json_decref(request);
        return refuse(json_null(), &f);
    }
    uint64_t id = 0;
    char *reply = NULL;
    if (!arg_number(request, "id", 0, INT64_MAX, &id, &f)) {
        reply = refuse(json_null(), &f);
    } else {
        json_t *result = run(session, request, &f);
        if (result) {
            json_object_set_new(result, "id", json_integer((json_int_t)id));
            json_object_set_new(result, "ok", json_true());
            reply = reply_line(result);
        } else {
            reply = refuse(json_integer((json_int_t)id), &f);
        }
    }
    json_decref(request);
    return reply;
}
