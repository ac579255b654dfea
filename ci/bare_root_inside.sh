#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# The part of ci/bare_root.sh that is PID 1 of its own namespaces: mounts what a machine has, enters the
# root for good (a plain chroot would forbid user namespaces), and runs each command as its user.
# All mounts and processes end with it. Usage: ci/bare_root_inside.sh ROOT COMMAND...
set -euo pipefail

root=$1
shift
mount --bind "$root" "$root"
cd "$root"
mount -t proc proc proc
mount -t sysfs -o ro sysfs sys
mount -t tmpfs -o mode=1777 tmp tmp
mount -t tmpfs -o mode=755 run run
mount -t tmpfs -o mode=755 dev dev
mkdir dev/net dev/pts dev/shm
# Nodes of our own, since those outside may have other modes than a machine's.
while read -r node major minor; do
    [ ! -e "/dev/$node" ] || mknod -m 666 "dev/$node" c "$major" "$minor"
done <<'END'
null 1 3
zero 1 5
full 1 7
random 1 8
urandom 1 9
tty 5 0
net/tun 10 200
kvm 10 232
END
mount -t devpts -o newinstance,ptmxmode=666,mode=620 devpts dev/pts
mount -t tmpfs -o mode=1777 shm dev/shm
ln -s pts/ptmx dev/ptmx
ln -s /proc/self/fd dev/fd
ln -s fd/0 dev/stdin
ln -s fd/1 dev/stdout
ln -s fd/2 dev/stderr
mkdir -p .outside
pivot_root . .outside
cd /
umount -l .outside
rmdir .outside

as_user() {
    runuser -u user -- env HOME=/home/user USER=user LOGNAME=user bash -c "cd; $1"
}
load() { cut -d ' ' -f 1 /proc/loadavg; }

as_user 'if [ -d roceproof ]; then
    cd roceproof && git fetch -q ../head.bundle HEAD && git checkout -q FETCH_HEAD
else git -c advice.detachedHead=false -c init.defaultBranch=main clone -q head.bundle roceproof; fi'

TIMEFORMAT='%R %U %S'
failed=0
for command in "$@"; do
    echo "== $command"
    before=$(load)
    status=0
    { time as_user "cd roceproof && $command" 2>&4 || status=$?; } 4>&2 2>/run/cost
    read -r wall user system < <(tail -n 1 /run/cost)
    awk -v what="$command: status $status" -v wall="$wall" -v user="$user" -v sys="$system" \
        -v loads="load $before before, $(load) after" \
        'BEGIN { printf "== %s, %.1f s wall, %.1f s of processor, %s\n", what, wall, user + sys, loads }'
    [ "$status" -eq 0 ] || failed=1
done
exit "$failed"
