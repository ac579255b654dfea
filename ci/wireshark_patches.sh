#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Try the patches for Wireshark on Debian's source: they apply, tshark builds, and their tests fail
# without them and pass with them, as do all others of suite_dissection.
set -euo pipefail
cd "$(dirname "$0")/.."
version=${1:-4.0.17-0+deb12u3}
patches=$PWD/docs/upstream/other/wireshark
work=$PWD/build/wireshark
suite=bookworm
export GIT_CEILING_DIRECTORIES=$work # what is patched is no part of this repository

lacking=() # packages that the build wants
for name in flex libglib2.0-dev libgcrypt20-dev libc-ares-dev libpcre2-dev libspeexdsp-dev libpcap-dev \
    cmake ninja-build dpkg-dev; do
    [[ $(dpkg-query -W -f '${Status}' "$name" 2>&1) == 'install ok installed' ]] || lacking+=("$name")
done
((${#lacking[@]} == 0)) || {
    echo "ci/wireshark_patches.sh: apt-get install ${lacking[*]}" >&2
    exit 2
}

mkdir -p "$work/lists/partial"
cd "$work"
if [[ ! -d source ]]; then
    cat >sources.list <<END
deb-src http://deb.debian.org/debian $suite main
deb-src http://deb.debian.org/debian-security $suite-security main
END
    apt=(apt-get -q -o "Dir::Etc::sourcelist=$work/sources.list" -o Dir::Etc::sourceparts=- -o "Dir::State::lists=$work/lists")
    "${apt[@]}" update
    "${apt[@]}" source --download-only "wireshark=$version"
    dpkg-source -x wireshark_*.dsc source
fi

# What no test of ours asks for is left out; its own tests of it are skipped.
options=(-DCMAKE_BUILD_TYPE=None "-DCMAKE_C_FLAGS=-O0 -w" "-DCMAKE_CXX_FLAGS=-O0 -w" -DENABLE_PLUGINS=OFF)
for part in wireshark logray tfshark rawshark randpkt text2pcap mergecap reordercap editcap capinfos captype \
    dftest dcerpcidl2wrs androiddump sshdump ciscodump dpauxmon randpktdump udpdump wifidump sdjournal \
    mmdbresolve sharkd; do
    options+=("-DBUILD_$part=OFF")
done
for part in ZSTD LZ4 LUA SMI GNUTLS KERBEROS NGHTTP2 BROTLI SNAPPY LIBXML2 MINIZIP BCG729 ILBC SBC SPANDSP OPUS \
    NETLINK CAP SINSP; do
    options+=("-DENABLE_$part=OFF")
done
[[ -e build/build.ninja ]] || cmake -G Ninja -S source -B build "${options[@]}" >cmake.log

suite() { (cd build && python3 ../source/test/test.py --program-path run "$1" 2>&1 | tee ../suite.log | tail -n 4); }

cd source
for patch in $(printf '%s\n' "$patches"/*.patch | sort -r); do # from a run before
    git apply --check -R "$patch" 2>/dev/null && git apply -R "$patch"
done
for patch in "$patches"/*.patch; do # the tests first
    git apply --include='test/*' "$patch"
done
cd ..
nice ninja -C build -j "$(nproc)" tshark >ninja.log
echo "without the patches:"
! suite suite_dissection.case_dissect_infiniband || exit 1
cd source
for patch in "$patches"/*.patch; do
    git apply --exclude='test/*' "$patch"
done
cd ..
nice ninja -C build -j "$(nproc)" tshark >>ninja.log
echo "with the patches:"
suite suite_dissection
