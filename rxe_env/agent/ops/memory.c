// SPDX-License-Identifier: BSD-2-Clause
//
// alloc_pd, reg_mr, alloc_mw, destroy: protection domains and memory.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ops/ops.h"
#include "protocol/args.h"
#include "protocol/names.h"

static const uint64_t max_mr_bytes = UINT64_C(1) << 31;
enum { PAGE_BYTES = 4096 };

json_t *op_alloc_pd(struct session *session, const json_t *request, struct fail *f) {
    (void)request;
    struct object *place = table_place(&session->table, f);
    if (!place) {
        return NULL;
    }
    place->pd = ibv_alloc_pd(session->verbs);
    if (!place->pd) {
        fail_errno(f, errno, "alloc_pd");
        return NULL;
    }
    place->kind = KIND_PD;
    return json_pack("{s:i}", "pd", (int)table_handle(&session->table, place));
}

static bool register_bytes(struct mr *mr, struct ibv_pd *pd, size_t size, int access, uint8_t byte,
                           struct fail *f) {
    void *bytes = NULL;
    int err = posix_memalign(&bytes, PAGE_BYTES, size);
    if (err) {
        return fail_errno(f, err, "allocating the memory region");
    }
    memset(bytes, byte, size);
    mr->verbs = ibv_reg_mr(pd, bytes, size, access);
    if (!mr->verbs) {
        err = errno;
        free(bytes);
        return fail_errno(f, err, "reg_mr");
    }
    mr->bytes = bytes;
    mr->size = size;
    return true;
}

json_t *op_reg_mr(struct session *session, const json_t *request, struct fail *f) {
    struct object *pd = table_get(&session->table, request, "pd", KIND_PD, f);
    struct object *place = pd ? table_place(&session->table, f) : NULL;
    uint64_t size = 0;
    int access = IBV_ACCESS_LOCAL_WRITE;
    uint8_t byte = 0;
    if (!place || !arg_number(request, "size", 1, max_mr_bytes, &size, f) ||
        !arg_optional_flags(request, "access", access_names, &access, f) ||
        !arg_optional_u8(request, "fill", 0, UINT8_MAX, &byte, f) ||
        !register_bytes(&place->mr, pd->pd, size, access, byte, f)) {
        return NULL;
    }
    place->kind = KIND_MR;
    const struct ibv_mr *verbs = place->mr.verbs;
    uintptr_t address = access & IBV_ACCESS_ZERO_BASED ? 0 : (uintptr_t)place->mr.bytes;
    return json_pack("{s:i, s:I, s:I, s:I}", "mr", (int)table_handle(&session->table, place),
                     "addr", (json_int_t)address, "lkey", (json_int_t)verbs->lkey, "rkey",
                     (json_int_t)verbs->rkey);
}

json_t *op_alloc_mw(struct session *session, const json_t *request, struct fail *f) {
    struct object *pd = table_get(&session->table, request, "pd", KIND_PD, f);
    struct object *place = pd ? table_place(&session->table, f) : NULL;
    if (!place) {
        return NULL;
    }
    place->mw = ibv_alloc_mw(pd->pd, IBV_MW_TYPE_2);
    if (!place->mw) {
        fail_errno(f, errno, "alloc_mw");
        return NULL;
    }
    place->kind = KIND_MW;
    return json_pack("{s:i, s:I}", "mw", (int)table_handle(&session->table, place), "rkey",
                     (json_int_t)place->mw->rkey);
}

json_t *op_destroy(struct session *session, const json_t *request, struct fail *f) {
    uint64_t handle = 0;
    if (!arg_number(request, "handle", 1, TABLE_MAX_OBJECTS, &handle, f)) {
        return NULL;
    }
    struct object *object = &session->table.objects[handle - 1];
    if (object->kind == KIND_FREE) {
        fail_say(f, "handle %u is not in use", (unsigned)handle);
        return NULL;
    }
    return table_destroy(object, f) ? json_object() : NULL;
}
