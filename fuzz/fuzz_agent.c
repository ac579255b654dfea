// SPDX-License-Identifier: BSD-2-Clause
//
// Lines to the verbs agent: each draws one line, an object that says whether it
// is ok. The adapter here is a mock that has everything and does nothing: what
// a kernel makes of a request costs more time than a fuzzer has. Left out are
// operations that wait, and those that look at the host.

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "ops/ops.h"
#include "target.h"

enum { MEMORY_LIMIT = 1 << 20 };

static const char *const left_out[] = {"look",    "hello", "counters", "listen",
                                       "connect", "ping",  "blast",    "poll_cq"};

static void *made(size_t size) {
    void *object = calloc(1, size);
    demand(object != NULL);
    return object;
}

// The agent's posix_memalign, by the Makefile: a region of 2 GiB takes a second to fill.
int fuzz_memalign(void **memory, size_t alignment, size_t size) {
    if (size > MEMORY_LIMIT)
        return ENOMEM;
    *memory = aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
    return *memory ? 0 : ENOMEM;
}

static struct ibv_mw *alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type) {
    struct ibv_mw *mw = made(sizeof *mw);
    mw->context = pd->context;
    mw->type = type;
    return mw;
}

static int dealloc_mw(struct ibv_mw *mw) {
    free(mw);
    return 0;
}

static int post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad) {
    (void)bad;
    demand(qp != NULL && wr->num_sge >= 0 && wr->next == NULL);
    return 0;
}

static int post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad) {
    (void)bad;
    demand(qp != NULL && wr->num_sge >= 0);
    return 0;
}

static int post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad) {
    (void)bad;
    demand(srq != NULL && wr->num_sge >= 0);
    return 0;
}

// libibverbs, as far as the agent calls it.

struct ibv_pd *ibv_alloc_pd(struct ibv_context *context) {
    struct ibv_pd *pd = made(sizeof *pd);
    pd->context = context;
    return pd;
}

int ibv_dealloc_pd(struct ibv_pd *pd) {
    free(pd);
    return 0;
}

struct ibv_mr *(ibv_reg_mr)(struct ibv_pd * pd, void *address, size_t length, int access) {
    (void)access;
    struct ibv_mr *mr = made(sizeof *mr);
    *mr = (struct ibv_mr){.context = pd->context, .pd = pd, .addr = address, .length = length};
    return mr;
}

struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *address, size_t length, uint64_t iova,
                                unsigned int access) {
    (void)iova;
    return (ibv_reg_mr)(pd, address, length, (int)access);
}

int ibv_dereg_mr(struct ibv_mr *mr) {
    free(mr);
    return 0;
}

struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *context) {
    struct ibv_comp_channel *channel = made(sizeof *channel);
    channel->context = context;
    return channel;
}

int ibv_destroy_comp_channel(struct ibv_comp_channel *channel) {
    free(channel);
    return 0;
}

struct ibv_cq *ibv_create_cq(struct ibv_context *context, int depth, void *own,
                             struct ibv_comp_channel *channel, int vector) {
    (void)own, (void)vector;
    struct ibv_cq *cq = made(sizeof *cq);
    cq->context = context;
    cq->channel = channel;
    cq->cqe = depth;
    return cq;
}

int ibv_destroy_cq(struct ibv_cq *cq) {
    free(cq);
    return 0;
}

struct ibv_srq *ibv_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *attributes) {
    demand(attributes->attr.max_wr > 0 && attributes->attr.max_sge > 0);
    struct ibv_srq *srq = made(sizeof *srq);
    srq->context = pd->context;
    return srq;
}

int ibv_destroy_srq(struct ibv_srq *srq) {
    free(srq);
    return 0;
}

struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attributes) {
    demand(attributes->send_cq && attributes->recv_cq);
    struct ibv_qp *qp = made(sizeof *qp);
    qp->context = pd->context;
    qp->srq = attributes->srq;
    qp->qp_type = attributes->qp_type;
    return qp;
}

int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attributes, int mask) {
    demand(mask & IBV_QP_STATE);
    qp->state = attributes->qp_state;
    return 0;
}

int ibv_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attributes, int mask,
                 struct ibv_qp_init_attr *init) {
    (void)mask;
    *attributes = (struct ibv_qp_attr){.qp_state = qp->state, .path_mtu = IBV_MTU_1024};
    *init = (struct ibv_qp_init_attr){.qp_type = qp->qp_type};
    return 0;
}

int ibv_destroy_qp(struct ibv_qp *qp) {
    free(qp);
    return 0;
}

struct ibv_ah *ibv_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attributes) {
    demand(attributes->is_global);
    struct ibv_ah *ah = made(sizeof *ah);
    ah->context = pd->context;
    return ah;
}

int ibv_destroy_ah(struct ibv_ah *ah) {
    free(ah);
    return 0;
}

static bool is_left_out(const uint8_t *line, size_t length) {
    for (size_t i = 0; i < sizeof left_out / sizeof left_out[0]; i++) {
        if (memmem(line, length, left_out[i], strlen(left_out[i])))
            return true;
    }
    return false;
}

static void ask(struct session *session, const uint8_t *line, size_t length) {
    char *text = dispatch(session, (const char *)line, length);
    demand(text != NULL && strlen(text) > 0 && strchr(text, '\n') == text + strlen(text) - 1);
    json_t *answer = json_loads(text, 0, NULL);
    demand(json_is_boolean(json_object_get(answer, "ok")) && json_object_get(answer, "id"));
    json_decref(answer);
    free(text);
}

// The table of a session is large: one serves all inputs, and is empty before each.
static struct session *session_of(struct ibv_context *context) {
    static struct session *session;
    if (!session)
        session = made(sizeof *session);
    session->verbs = context;
    session->quit = false;
    return session;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct ibv_context context = {.ops = {.alloc_mw = alloc_mw,
                                          .dealloc_mw = dealloc_mw,
                                          .post_send = post_send,
                                          .post_recv = post_recv,
                                          .post_srq_recv = post_srq_recv}};
    struct session *session = session_of(&context);
    while (size > 0) {
        const uint8_t *end = memchr(data, '\n', size);
        const size_t length = end ? (size_t)(end - data) : size;
        if (!is_left_out(data, length))
            ask(session, data, length);
        data += end ? length + 1 : length;
        size -= end ? length + 1 : length;
    }
    table_destroy_all(&session->table);
    return 0;
}
