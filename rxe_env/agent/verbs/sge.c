// SPDX-License-Identifier: BSD-2-Clause
#include "verbs/sge.h"

#include <inttypes.h>

#include "protocol/args.h"

static bool one(struct table *table, const json_t *entry, struct ibv_sge *sge, struct fail *f) {
    uint64_t offset = 0;
    uint64_t length = 0;
    struct object *object = NULL;
    if (!arg_only(entry, "mr offset length", f) ||
        !(object = table_get(table, entry, "mr", KIND_MR, f)) ||
        !arg_optional_number(entry, "offset", 0, object->mr.size, &offset, f) ||
        !arg_number(entry, "length", 0, UINT32_MAX, &length, f)) {
        return false;
    }
    if (length > object->mr.size - offset) {
        return fail_say(f, "sge: offset %" PRIu64 " + length %" PRIu64 " exceeds %zu bytes", offset,
                        length, object->mr.size);
    }
    sge->addr = (uintptr_t)object->mr.verbs->addr + offset;
    sge->length = (uint32_t)length;
    sge->lkey = object->mr.verbs->lkey;
    return true;
}

bool sge_from(struct table *table, const json_t *request, struct ibv_sge sge[SGE_MAX], int *count,
              struct fail *f) {
    const json_t *list = NULL;
    *count = 0;
    if (!json_object_get(request, "sge")) {
        return true;
    }
    if (!arg_objects(request, "sge", SGE_MAX, &list, f)) {
        return false;
    }
    for (size_t i = 0; i < json_array_size(list); i++) {
        if (!one(table, json_array_get(list, i), &sge[i], f)) {
            return false;
        }
    }
    *count = (int)json_array_size(list);
    return true;
}
