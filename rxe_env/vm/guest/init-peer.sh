#!/bin/busybox sh
# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=dash
#
# PID 1 of a Soft-RoCE peer: brings up one interface with an rxe device on it
# and runs the verbs agent on the first virtio port. When the agent ends, so
# does the machine.

# shellcheck source=rxe_env/vm/guest/boot.sh
. /boot.sh

hostname rxe-peer
bring_up_rxe
say "rxe0 is up"
roceproof-agent --device rxe0 /dev/vport0p1 >/dev/console 2>&1
say "the agent ended with status $?"
poweroff -f
