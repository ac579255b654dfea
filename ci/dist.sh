#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Build what is handed out, in build/dist: the source distribution, and from that the wheel, with the
# tag of the oldest C library that it runs on. Run as: make dist
set -euo pipefail
cd "$(dirname "$0")/.."
bin=$PWD/.venv/bin
out=build/dist
log=build/dist.log

explain() {
    tail -n 20 "$log" >&2
    echo "ci/dist.sh: no wheel was built; see $log" >&2
}
trap explain ERR

rm -rf "$out"
mkdir -p "$out/plain"
"$bin/python" -P -m build --no-isolation --outdir "$out/plain" >"$log" 2>&1
PATH=$bin:$PATH "$bin/auditwheel" repair --wheel-dir "$out" "$out"/plain/*.whl >>"$log" 2>&1
mv "$out"/plain/*.tar.gz "$out"
rm -r "$out/plain"
printf '%s\n' "$out"/*
