#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Style and static checks of every language in the tree. Run as: make lint
set -uo pipefail
cd "$(dirname "$0")/.." || exit
bin=.venv/bin
failed=()

check() { # check NAME COMMAND...
    local name=$1
    shift
    if output=$("$@" 2>&1); then
        printf 'ok    %s\n' "$name"
    else
        printf 'FAIL  %s\n%s\n' "$name" "$output"
        failed+=("$name")
    fi
}

spdx() {
    local file bad=0
    while read -r file; do
        head -n 3 "$file" | grep -q 'SPDX-License-Identifier: BSD-2-Clause' || {
            echo "$file: no SPDX line"
            bad=1
        }
    done < <(git ls-files --cached --others --exclude-standard -- \
        '*.py' '*.v' '*.sv' '*.svh' '*.vhd' '*.vlt' '*.c' '*.h' '*.cpp' '*.sh' '*.toml' '*.yml' '*.mk' Makefile '*/Makefile' '*Containerfile' .dockerignore .ci/run .clang-format)
    return $bad
}

imports() { # without site, so that only the links of roceproof/ lead to the rooms
    local packages
    packages=$($bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
    PYTHONPATH=$PWD:$packages $bin/python -S $bin/lint-imports --no-cache
}

mapfile -t c_files < <(git ls-files --cached --others --exclude-standard -- '*.c' '*.h' '*.cpp')
mapfile -t sh_files < <(git grep -lE '^(#!.*(/bin/sh|busybox sh|bash)|# shellcheck shell=)' -- ':!*.py' ':!*.md')

check "SPDX headers" spdx
check "ruff check" $bin/ruff check -q .
check "docstrings of what is public" ci/lint_docstrings.sh $bin/ruff
check "ruff format" $bin/ruff format -q --check .
check "mypy" $bin/mypy
check "imports (import-linter)" imports
check "rooms" $bin/python ci/lint_rooms.py
check "clang-format" $bin/clang-format --dry-run -Werror "${c_files[@]}"
check "shellcheck" shellcheck "${sh_files[@]}"
check "hadolint" $bin/hadolint ci/Containerfile
check "GitHub workflow" $bin/check-jsonschema -q --builtin-schema vendor.github-workflows .github/workflows/*.yml
check "GitLab include" $bin/check-jsonschema -q --builtin-schema vendor.gitlab-ci --data-transform gitlab-ci ci/templates/*.gitlab-ci.yml
check "SystemVerilog (verilator, slang)" $bin/python ci/lint_sv.py

if ((${#failed[@]})); then
    printf 'lint: %d failed (%s); run: make lint\n' "${#failed[@]}" "${failed[*]}"
    exit 1
fi
