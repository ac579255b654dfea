#!/bin/busybox sh
# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=dash
#
# PID 1 of a machine for stock tools, with an rxe device. The first virtio port is
# a shell: each line is a command; what it prints and then a line "exit CODE" come
# back.

# shellcheck source=rxe_env/vm/guest/boot.sh
. /boot.sh

# The last command in the background listens on TCP port PORT, or has ended.
until_listening() {
    port=$(printf '%04X' "$1")
    while kill -0 $! 2>/dev/null; do
        cat /proc/net/tcp /proc/net/tcp6 | grep -q ":$port 0*:0000 0A" && return
    done
}

# The last command in the background listens on connection manager port PORT, or has ended. The
# state says LISTEN a moment before requests are taken; by the time that the tool waits for an
# event, they are. rsockets wait in a thread that polls.
until_cm_listening() {
    while kill -0 $! 2>/dev/null; do
        rdma resource show cm_id | grep -q "state LISTEN.*:$1 " && awaits_event $! && return
    done
}

awaits_event() {
    grep -q 'ucma_get_event\|futex_wait' "/proc/$1/wchan" ||
        cat "/proc/$1/task/"*/wchan | grep -q poll
}

# The interface takes multicast frames to MAC for the last command in the background, or it ended.
until_joined() {
    while kill -0 $! 2>/dev/null; do
        grep -q "$1" /proc/net/dev_mcast && return
    done
}

# End the last command in the background when the client's machine tells that its tool has ended.
end_when_told() {
    nc -l -p 9 </dev/null
    kill $!
}

tell_end() {
    code=$?
    until nc 10.77.0.1 9 </dev/null 2>/dev/null; do :; done
    return $code
}

# The next command has process number $1, and the clock says $2. Tools that draw their start
# PSN from these two then always draw the same one.
fix_seed() {
    date -s "@$2" >/dev/null
    echo $(($1 - 1)) >/proc/sys/kernel/ns_last_pid
}

bring_up_rxe
hostname "stock-$host"

exec 3<>/dev/vport0p1
say "the shell is open"
echo ready >&3
while read -r command <&3; do
    (eval "$command") >&3 2>&1 </dev/null
    printf '\nexit %d\n' $? >&3
done
poweroff -f
