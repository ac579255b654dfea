// SPDX-License-Identifier: BSD-2-Clause
#include "verbs/address.h"

#include <arpa/inet.h>
#include <string.h>

#include "protocol/args.h"
#include "verbs/session.h"

bool address_from(const json_t *request, struct ibv_ah_attr *address, struct fail *f) {
    const char *gid = NULL;
    memset(address, 0, sizeof(*address));
    address->is_global = 1;
    address->port_num = DEVICE_PORT;
    address->grh.hop_limit = 64;
    if (!arg_string(request, "dgid", &gid, f)) {
        return false;
    }
    if (inet_pton(AF_INET6, gid, address->grh.dgid.raw) != 1) {
        return fail_say(f, "'dgid' must be an IPv6 address such as ::ffff:10.77.0.1");
    }
    return arg_optional_u8(request, "sgid_index", 0, UINT8_MAX, &address->grh.sgid_index, f) &&
           arg_optional_u8(request, "hop_limit", 0, UINT8_MAX, &address->grh.hop_limit, f) &&
           arg_optional_u8(request, "traffic_class", 0, UINT8_MAX, &address->grh.traffic_class,
                           f) &&
           arg_optional_u32(request, "flow_label", 0, 0xfffff, &address->grh.flow_label, f) &&
           arg_optional_u8(request, "sl", 0, 15, &address->sl, f);
}
