// SPDX-License-Identifier: BSD-2-Clause
#include "host/netdev.h"

#include "verbs/session.h"

enum { INDEXES_TO_TRY = 16 };

bool netdev_name(struct ibv_context *verbs, char name[IF_NAMESIZE]) {
    for (uint32_t index = 0; index < INDEXES_TO_TRY; index++) {
        struct ibv_gid_entry entry;
        if (ibv_query_gid_ex(verbs, DEVICE_PORT, index, &entry, 0) == 0) {
            return if_indextoname(entry.ndev_ifindex, name) != NULL;
        }
    }
    return false;
}
