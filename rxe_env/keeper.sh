#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# keeper.sh DIRECTORY COMMAND...
#
# Runs COMMAND until standard input ends, then kills it and removes DIRECTORY.
# The caller holds the other end of the pipe: however it goes, nothing is left.
# COMMAND dies with the keeper too.
set -u
directory=$1
shift

setpriv --pdeathsig KILL -- "$@" </dev/null &
command=$!
read -r _
kill -KILL "$command"
wait "$command"
rm -rf -- "$directory"
