#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# keeper.sh DIRECTORY "FD..." COMMAND...
#
# Runs COMMAND until standard input ends, then kills it and removes DIRECTORY.
# The caller holds the other end of the pipe: however it goes, nothing is left.
# COMMAND dies with the keeper too. The sockets FD are COMMAND's alone: when it
# ends, whoever is connected to them notices.
set -u
directory=$1
sockets=$2
shift 2

setpriv --pdeathsig KILL -- "$@" </dev/null &
command=$!
for socket in $sockets; do
    exec {socket}>&-
done
read -r _
kill -KILL "$command"
wait "$command"
rm -rf -- "$directory"
