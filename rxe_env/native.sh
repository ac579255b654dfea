#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# native.sh NETNS TAP RXE IPV4 AGENT
#
# Makes a TAP device with an rxe device on it, in a new network namespace called
# NETNS ("-" for the caller's), and runs AGENT there on standard input and
# output. When the agent ends, as it does when its input does, exactly what was
# made is removed. Exit code 3: rxe does not receive in this namespace.
set -eu
netns=$1
tap=$2
rxe=$3
ipv4=$4
agent=$5
made=

in_netns() {
    if [ "$netns" = - ]; then "$@"; else ip netns exec "$netns" "$@"; fi
}

remove() {
    for thing in $made; do
        case $thing in
        rxe) rdma link delete "$rxe" ;;
        tap) in_netns ip link delete "$tap" ;;
        netns) ip netns delete "$netns" ;;
        esac || true
    done
}
trap remove EXIT
trap 'exit 130' INT TERM HUP

if [ "$netns" != - ]; then
    ip netns add "$netns"
    made="netns"
    in_netns ip link set lo up
fi
in_netns ip tuntap add dev "$tap" mode tap
made="tap $made"
# No unasked-for IPv6 packets on the wire; a kernel without IPv6 sends none.
in_netns ip link set "$tap" addrgenmode none 2>/dev/null || :
in_netns ip link set "$tap" mtu 4200 up
in_netns ip addr add "$ipv4/24" dev "$tap"
in_netns rdma link add "$rxe" type rxe netdev "$tap"
made="rxe $made"

# Port 4791 is 12B7 here. Kernels before 6.19 bind it in the first namespace only.
in_netns grep -q ':12B7 ' /proc/net/udp || exit 3

in_netns "$agent" --device "$rxe"
