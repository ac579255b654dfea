// SPDX-License-Identifier: BSD-2-Clause
//
// The network interface that carries an RDMA port's packets.
#ifndef ROCEPROOF_AGENT_NETDEV_H
#define ROCEPROOF_AGENT_NETDEV_H

#include <infiniband/verbs.h>
#include <net/if.h>
#include <stdbool.h>

// False when the port has no GID yet, and so no interface.
bool netdev_name(struct ibv_context *verbs, char name[IF_NAMESIZE]);

#endif
