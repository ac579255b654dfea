#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Install the packages of the named groups of ci/packages.txt that are missing.
# Needs no network and no privilege when nothing is missing.
# Usage: ci/install.sh GROUP...
set -eu

list="$(dirname "$0")/packages.txt"
missing=""
for group in "$@"; do
    packages=$(awk -v g="$group" '!/^#/ && $2 == g { print $1 }' "$list")
    for package in $packages; do
        dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null | grep -qx installed ||
            missing="$missing $package"
    done
done
[ -n "$missing" ] || exit 0

if [ "$(id -u)" -eq 0 ]; then
    root=""
elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
    root="sudo"
else
    echo "ci/install.sh: packages are missing and this user cannot install them; run: sudo apt-get install -y --no-install-recommends$missing" >&2
    exit 2
fi

log=$(mktemp)
trap 'rm -f "$log"' EXIT
echo "installing:$missing" >&2
run_apt() {
    # shellcheck disable=SC2086 # an empty $root must vanish
    $root env DEBIAN_FRONTEND=noninteractive apt-get -qq -o Dpkg::Use-Pty=0 "$@" >>"$log" 2>&1
}
# A stale list is good enough if the packages are in it, so only the install decides.
run_apt update || true
# shellcheck disable=SC2086 # a list of words
if ! run_apt install -y --no-install-recommends $missing; then
    tail -n 20 "$log" >&2
    echo "ci/install.sh: apt could not install$missing; check the network and 'apt-get update', then run make again" >&2
    exit 2
fi
