# SPDX-License-Identifier: BSD-2-Clause
"""Which Debian and Ubuntu package brings a tool or a header, to mend its lack in one line."""

import re
import shutil
from collections.abc import Iterable

TOOLS = {
    "awk": "gawk",
    "busybox": "busybox-static",
    "cc": "gcc",
    "dpkg-deb": "dpkg",
    "ib_atomic_bw": "perftest",
    "ib_atomic_lat": "perftest",
    "ib_read_bw": "perftest",
    "ib_read_lat": "perftest",
    "ib_send_bw": "perftest",
    "ib_send_lat": "perftest",
    "ib_write_bw": "perftest",
    "ib_write_lat": "perftest",
    "ibv_rc_pingpong": "ibverbs-utils",
    "ibv_srq_pingpong": "ibverbs-utils",
    "ibv_uc_pingpong": "ibverbs-utils",
    "ibv_ud_pingpong": "ibverbs-utils",
    "ip": "iproute2",
    "mckey": "rdmacm-utils",
    "ping": "iputils-ping",
    "pkg-config": "pkgconf",
    "qemu-system-x86_64": "qemu-system-x86",
    "rdma": "iproute2",
    "rping": "rdmacm-utils",
    "rstream": "rdmacm-utils",
    "setpriv": "util-linux",
    "ucmatose": "rdmacm-utils",
    "udaddy": "rdmacm-utils",
    "unshare": "util-linux",
}
"""Those that are not called like their package."""
HEADERS = {
    "infiniband/verbs.h": "libibverbs-dev",
    "jansson.h": "libjansson-dev",
    "libdeflate.h": "libdeflate-dev",
    "lz4.h": "liblz4-dev",
    "pcap/pcap.h": "libpcap-dev",
    "rdma/rdma_cma.h": "librdmacm-dev",
    "sha2.h": "libmd-dev",
    "zlib.h": "zlib1g-dev",
}
_MISSING_HEADER = re.compile(r"fatal error: '?([\w./-]+)'?(?:: No such file| file not found)")


def find_tool(name: str) -> str | None:
    """The path of a tool, the sbin directories included."""
    return shutil.which(name) or shutil.which(name, path="/usr/local/sbin:/usr/sbin:/sbin")


def missing_tools(names: Iterable[str]) -> str | None:
    """What to do about those of the tools that this machine lacks; None if they are all there."""
    missing = [name for name in names if not find_tool(name)]
    if not missing:
        return None
    packages = dict.fromkeys(TOOLS.get(name, name) for name in missing)
    verb = "is" if len(missing) == 1 else "are"
    return f"{', '.join(missing)} {verb} not installed: apt-get install {' '.join(packages)}"


def missing_header(compiler_output: str) -> str | None:
    """What to do when a compilation failed for the lack of a header; None if it did not."""
    for name in _MISSING_HEADER.findall(compiler_output):
        if name in HEADERS:
            return f"{name} is missing: apt-get install {HEADERS[name]}"
    return None
