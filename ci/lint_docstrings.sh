#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# The files that docs/api.md declares public owe everybody docstrings; all others only sense.
# Run by lint.sh at the root of the tree, with the path of ruff.
set -euo pipefail

mapfile -t files < <(
    grep -oE 'roceproof(\.[a-z_]+)+' docs/api.md | sort -u | while read -r name; do
        path=$(tr . / <<< "${name#*.}")
        until [[ -e $path.py || -d $path || $path != */* ]]; do path=${path%/*}; done
        if [[ -e $path.py ]]; then echo "$path.py"; else echo "$path"; fi
    done
)
"$1" check -q --isolated --select D1 --ignore D105,D107 "${files[@]}"
