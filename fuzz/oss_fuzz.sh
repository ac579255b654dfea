#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Builds the targets as OSS-Fuzz and ClusterFuzzLite ask for them: with CC, CXX, CFLAGS, CXXFLAGS and
# LIB_FUZZING_ENGINE, into OUT, each with its seeds beside it as NAME_seed_corpus.zip, and what their
# base image lacks of libraries in OUT/lib. Needs the packages of ci/packages.txt (run, fuzz) and PYTHON,
# which has roceproof.
set -euo pipefail
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# shellcheck disable=SC2016 # the dynamic linker reads $ORIGIN
make -s targets BUILD="$work" PYTHON="$(realpath -s "${PYTHON:-../.venv/bin/python}")" \
    FUZZ_CC="$CC" FUZZ_CXX="$CXX" FUZZ_FLAGS="$CFLAGS" \
    ENGINE="$LIB_FUZZING_ENGINE ${CXXFLAGS:-} -Wl,-rpath,"\''$$ORIGIN/lib'\'

mkdir -p "$OUT/lib"
for seeds in "$work"/corpus/*/; do
    name=$(basename "$seeds")
    install "$work/fuzz-$name" "$OUT/$name"
    python3 -m zipfile -c "$OUT/${name}_seed_corpus.zip" "$seeds".
done
ldd "$work"/fuzz-* | awk '$3 ~ /^\// && $1 !~ /^lib(c|m|dl|rt|pthread|gcc_s)\./ { print $3 }' \
    | sort -u | xargs cp -t "$OUT/lib"
