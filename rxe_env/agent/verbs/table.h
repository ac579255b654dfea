// SPDX-License-Identifier: BSD-2-Clause
//
// The verbs objects of a session behind small integer handles. A handle is
// used again only after its object has been destroyed.
#ifndef ROCEPROOF_AGENT_TABLE_H
#define ROCEPROOF_AGENT_TABLE_H

#include <infiniband/verbs.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "protocol/fail.h"
#include "verbs/cm.h"

enum { TABLE_MAX_OBJECTS = 16384 };

// In the order in which objects can be destroyed: users before the used.
enum kind { KIND_FREE, KIND_CM, KIND_QP, KIND_AH, KIND_SRQ, KIND_CQ, KIND_MW, KIND_MR, KIND_PD };

struct mr {
    struct ibv_mr *verbs;
    uint8_t *bytes;
    size_t size;
};

struct cq {
    struct ibv_cq *verbs;
    struct ibv_comp_channel *channel;
};

struct object {
    enum kind kind;
    union {
        struct cm cm;
        struct ibv_pd *pd;
        struct mr mr;
        struct ibv_mw *mw;
        struct cq cq;
        struct ibv_srq *srq;
        struct ibv_qp *qp;
        struct ibv_ah *ah;
    };
};

struct table {
    struct object objects[TABLE_MAX_OBJECTS];
};

// A free place, or NULL when all are taken. It is the caller's to fill.
struct object *table_place(struct table *table, struct fail *f);
uint32_t table_handle(const struct table *table, const struct object *object);

// The object whose handle is in field `name`, which must be of `kind`.
struct object *table_get(struct table *table, const json_t *object, const char *name,
                         enum kind kind, struct fail *f);

// Destroys one object and frees its place; on failure it stays as it was.
bool table_destroy(struct object *object, struct fail *f);
void table_destroy_all(struct table *table);

const char *kind_name(enum kind kind);

#endif
