#!/bin/busybox sh
# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=dash
#
# PID 1 of a machine for stock tools: interface number N (from the kernel's
# command line, stock_host=N) as 10.77.0.N and fd77::N with an rxe device on it,
# and a shell on the first virtio port. Each line is a command; what it prints
# and then a line "exit CODE" come back.

say() { echo "roceproof-guest: $*" >/dev/console; }

fail() {
    say "FAILED: $*"
    poweroff -f
}

# The last command in the background listens on TCP port PORT, or has ended.
until_listening() {
    port=$(printf '%04X' "$1")
    while kill -0 $!; do
        cat /proc/net/tcp /proc/net/tcp6 | grep -q ":$port 0*:0000 0A" && return
    done
}

# The last command in the background listens on connection manager port PORT, or has ended.
until_cm_listening() {
    while kill -0 $!; do
        rdma resource show cm_id | grep -q "state LISTEN.*:$1 " && return
    done
}

/bin/busybox mkdir -p /proc /sys /dev /sbin /usr/bin /usr/sbin /tmp
/bin/busybox --install -s /bin
export PATH=/bin
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev || fail "cannot mount devtmpfs"

while read -r module; do
    insmod "/modules/$module" || fail "cannot load $module"
done </modules/order

read -r words </proc/cmdline
host=${words##*stock_host=}
host=${host%% *}

# No unasked-for packets: the wire carries what the tools asked for.
echo 0 >/proc/sys/net/ipv6/conf/eth0/accept_ra
echo 0 >/proc/sys/net/ipv6/conf/eth0/router_solicitations
echo 0 >/proc/sys/net/ipv6/conf/eth0/dad_transmits

hostname "stock-$host"
ip link set lo up
ip link set eth0 mtu 4200 up || fail "eth0 does not come up"
ip addr add "10.77.0.$host/24" dev eth0 || fail "eth0 takes no IPv4 address"
ip addr add "fd77::$host/64" dev eth0 || fail "eth0 takes no IPv6 address"
while ip addr show dev eth0 | grep -q tentative; do :; done
rdma link add rxe0 type rxe netdev eth0 || fail "rdma link add"

exec 3<>/dev/vport0p1
say "the shell is open"
echo ready >&3
while read -r command <&3; do
    (eval "$command") >&3 2>&1 </dev/null
    printf '\nexit %d\n' $? >&3
done
poweroff -f
