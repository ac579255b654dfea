// SPDX-License-Identifier: BSD-2-Clause
#include "verbs/table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/args.h"

struct object *table_place(struct table *table, struct fail *f) {
    for (size_t i = 0; i < TABLE_MAX_OBJECTS; i++) {
        if (table->objects[i].kind == KIND_FREE) {
            return &table->objects[i];
        }
    }
    fail_say(f, "all %d handles are in use", TABLE_MAX_OBJECTS);
    return NULL;
}

uint32_t table_handle(const struct table *table, const struct object *object) {
    return (uint32_t)(object - table->objects) + 1;
}

const char *kind_name(enum kind kind) {
    static const char *const names[] = {"free handle", "cm", "qp", "ah", "srq",
                                        "cq",          "mw", "mr", "pd"};
    return names[kind];
}

struct object *table_get(struct table *table, const json_t *object, const char *name,
                         enum kind kind, struct fail *f) {
    uint64_t handle = 0;
    if (!arg_number(object, name, 1, TABLE_MAX_OBJECTS, &handle, f)) {
        return NULL;
    }
    struct object *found = &table->objects[handle - 1];
    if (found->kind != kind) {
        fail_say(f, "'%s': handle %u is a %s, not a %s", name, (unsigned)handle,
                 kind_name(found->kind), kind_name(kind));
        return NULL;
    }
    return found;
}

static int destroy_cm(struct cm *cm) { // its queue pair lives on
    int err = rdma_destroy_id(cm->id) ? errno : 0;
    if (err == 0) {
        json_decref(cm->queue_pair);
    }
    return err;
}

static int destroy_mr(struct mr *mr) {
    int err = ibv_dereg_mr(mr->verbs);
    if (err == 0) {
        free(mr->bytes);
    }
    return err;
}

static int destroy_cq(struct cq *cq) {
    int err = ibv_destroy_cq(cq->verbs);
    if (err == 0) {
        ibv_destroy_comp_channel(cq->channel);
    }
    return err;
}

static int destroy_verbs(struct object *object) {
    switch (object->kind) {
    case KIND_CM:
        return destroy_cm(&object->cm);
    case KIND_QP:
        return ibv_destroy_qp(object->qp);
    case KIND_AH:
        return ibv_destroy_ah(object->ah);
    case KIND_SRQ:
        return ibv_destroy_srq(object->srq);
    case KIND_CQ:
        return destroy_cq(&object->cq);
    case KIND_MW:
        return ibv_dealloc_mw(object->mw);
    case KIND_MR:
        return destroy_mr(&object->mr);
    case KIND_PD:
        return ibv_dealloc_pd(object->pd);
    case KIND_FREE:
        break;
    }
    return 0;
}

bool table_destroy(struct object *object, struct fail *f) {
    int err = destroy_verbs(object);
    if (err) {
        return fail_errno(f, err, "destroy");
    }
    memset(object, 0, sizeof(*object));
    return true;
}

void table_destroy_all(struct table *table) {
    struct fail ignored = {0};
    for (int kind = KIND_CM; kind <= KIND_PD; kind++) {
        for (size_t i = 0; i < TABLE_MAX_OBJECTS; i++) {
            if (table->objects[i].kind == (enum kind)kind) {
                table_destroy(&table->objects[i], &ignored);
            }
        }
    }
}
