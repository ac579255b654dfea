#!/bin/busybox sh
# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=dash
#
# PID 1 of a machine that runs one command of the host's file system, read-only,
# on a kernel with rdma_rxe. /command holds the command; its output and then a
# line with its exit code go to the first virtio port. /tmp and /run are fresh
# but for the directories that /keep lists.

# shellcheck source=rxe_env/vm/guest/boot.sh
. /boot.sh

mkdir /host /below
mount -t 9p -o trans=virtio,version=9p2000.L,ro,cache=loose,msize=512000 host /host ||
    fail "cannot mount the host's root"
mount --bind /host /below
mount -t proc proc /host/proc
mount -t sysfs sys /host/sys
mount -t devtmpfs dev /host/dev
for directory in tmp run; do
    mount -t tmpfs tmpfs "/host/$directory" || fail "no tmpfs on /$directory"
done
while read -r directory; do
    mkdir -p "/host$directory"
    mount --bind "/below$directory" "/host$directory" || fail "cannot keep $directory"
done </keep
hostname rxe-inside
ip link set lo up

cp /command /host/run/command
chroot /host /bin/sh /run/command >/dev/vport0p1 2>&1
printf '\nexit %d\n' $? >/dev/vport0p1
poweroff -f
