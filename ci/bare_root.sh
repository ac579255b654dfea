#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Proof that the README holds on a bare machine: debootstrap makes a root of a distribution with git,
# make and certificates in it, HEAD is cloned there, and commands run in it as an ordinary user who
# may use sudo. Prints what each command cost. Needs root (for debootstrap) and the host's network.
set -euo pipefail

usage="usage: [ROOTS=FOLDER] [MIRROR=URI] ci/bare_root.sh [--fresh | --remove] debian12|debian13|ubuntu24.04 [COMMAND...]

Each COMMAND is one word for the shell: 'make demo' 'make test' are run when none is named.
A root that is there is used again, with HEAD; --fresh makes it anew, --remove only removes it.
Roots lie in build/roots, or in ROOTS. Packages come from where apt here has them when it is the
same distribution, else from debootstrap's default or MIRROR; proxies, certificates and PIP_* are
carried over."
die() {
    echo "ci/bare_root.sh: $*" >&2
    exit 2
}

mode=use
case ${1-} in
-h | --help) echo "$usage" && exit 0 ;;
--fresh | --remove) mode=${1#--} && shift ;;
esac
[ $# -gt 0 ] || die "$usage"
name=$1
shift
case $name in
debian12) family=debian suite=bookworm components=main ;;
debian13) family=debian suite=trixie components=main ;;
ubuntu24.04) family=ubuntu suite=noble components=main,universe ;;
*) die "$usage" ;;
esac
[ $# -gt 0 ] || set -- "make demo" "make test"
[ "$(id -u)" -eq 0 ] || die "debootstrap needs root; run: sudo ci/bare_root.sh $name"

here=$(cd "$(dirname "$0")/.." && pwd)
root=${ROOTS:-$here/build/roots}/$name
carried=(http_proxy https_proxy no_proxy HTTP_PROXY HTTPS_PROXY NO_PROXY PIP_INDEX_URL PIP_EXTRA_INDEX_URL
    PIP_CERT PIP_DEFAULT_TIMEOUT SSL_CERT_FILE)

# Lines "URI RELEASE" of this distribution's archives as apt here knows them, for the wanted release.
host_archives() {
    local ID VERSION_CODENAME
    # shellcheck source=/dev/null
    . /etc/os-release
    [ "$ID" = $family ] || return 0
    # shellcheck disable=SC2016 # apt's variables
    apt-get indextargets --format '$(REPO_URI) $(CODENAME) $(ORIGIN)' 'Created-By: Packages' |
        awk -v from="$VERSION_CODENAME" -v to=$suite -v family=$family '
            tolower($3) == family && index($2, from) == 1 { sub(from, to, $2); print $1, $2 }' | sort -u
}

make_root() {
    local archives mirror
    command -v debootstrap >/dev/null || die "debootstrap is missing; run: apt-get install debootstrap"
    archives=$(host_archives)
    mirror=${MIRROR:-$(awk -v suite=$suite '$2 == suite { print $1; exit }' <<<"$archives")}
    rm -rf "$root" && mkdir -p "$root"
    echo "making $root from ${mirror:-the default mirror}" >&2
    debootstrap --variant=minbase --components=$components --include=git,make,ca-certificates,sudo \
        "$suite" "$root" ${mirror:+"$mirror"} >"$root.log" 2>&1 ||
        { tail -n 3 "$root.log" >&2 && die "debootstrap failed; see $root.log"; }

    if [ -z "${MIRROR-}" ] && [ -n "$archives" ]; then
        sed "s/^/deb /; s/\$/ ${components//,/ }/" <<<"$archives" >"$root/etc/apt/sources.list"
    fi
    apt-config dump Acquire | grep -E '^Acquire::(https?|ftp|Retries|ForceIPv|Check-|Languages)' \
        >"$root/etc/apt/apt.conf.d/00host" || true
    cp -a /etc/apt/auth.conf.d/. "$root/etc/apt/auth.conf.d/" 2>/dev/null || true
    cp -L /etc/resolv.conf /etc/hosts "$root/etc/"
    ! [ -e /etc/pip.conf ] || cp /etc/pip.conf "$root/etc/"
    cp -a /usr/local/share/ca-certificates/. "$root/usr/local/share/ca-certificates/" 2>/dev/null || true
    chroot "$root" update-ca-certificates >/dev/null 2>&1
    chroot "$root" useradd --create-home --shell /bin/bash user
    printf 'user ALL=(ALL) NOPASSWD: ALL\nDefaults env_keep += "%s"\n' "${carried[*]}" >"$root/etc/sudoers.d/user"
    touch "$root/.made"
}

if [ "$mode" = remove ]; then
    rm -rf "$root" "$root.log"
    exit 0
fi
if [ "$mode" = fresh ] || ! [ -e "$root/.made" ]; then
    make_root
fi
git -C "$here" bundle create -q "$root/home/user/head.bundle" HEAD
chmod 644 "$root/home/user/head.bundle"

environment=(PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 TERM="${TERM-dumb}")
for variable in "${carried[@]}"; do
    [ -z "${!variable-}" ] || environment+=("$variable=${!variable}")
done
# In the background, so that a signal here is acted on at once; the kernel then ends all that is inside.
setsid env -i --default-signal=INT,QUIT "${environment[@]}" \
    unshare --mount --pid --ipc --uts --fork --kill-child --propagation private \
    "$here/ci/bare_root_inside.sh" "$root" "$@" &
trap 'kill -KILL $!; exit 130' INT TERM HUP
wait $!
