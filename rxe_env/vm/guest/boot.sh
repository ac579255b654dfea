# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=dash
#
# How every guest begins: behind this its programs, devices and modules are there.

say() { echo "roceproof-guest: $*" >/dev/console; }

fail() {
    say "FAILED: $*"
    poweroff -f
}

# An rxe device on one interface. Host N (from the kernel's command line, ..._host=N) has
# 10.77.0.N and fd77::N, and 10.78.0.N on VLAN 7 with priority 3.
bring_up_rxe() {
    read -r words </proc/cmdline
    host=${words##*_host=}
    host=${host%% *}

    # No unasked-for packets: the wire carries what was asked for.
    for name in eth0 default; do
        echo 0 >/proc/sys/net/ipv6/conf/$name/accept_ra
        echo 0 >/proc/sys/net/ipv6/conf/$name/router_solicitations
        echo 0 >/proc/sys/net/ipv6/conf/$name/dad_transmits
    done

    ip link set lo up
    ip link set eth0 mtu 4200 up || fail "eth0 does not come up"
    ip addr add "10.77.0.$host/24" dev eth0 || fail "eth0 takes no IPv4 address"
    ip addr add "fd77::$host/64" dev eth0 || fail "eth0 takes no IPv6 address"
    ip link add link eth0 name eth0.7 type vlan id 7 || fail "no VLAN 7"
    vconfig set_egress_map eth0.7 0 3 >/dev/null
    ip link set eth0.7 up
    ip addr add "10.78.0.$host/24" dev eth0.7 || fail "eth0.7 takes no address"
    while ip addr show | grep -q tentative; do :; done
    rdma link add rxe0 type rxe netdev eth0 || fail "rdma link add"
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
