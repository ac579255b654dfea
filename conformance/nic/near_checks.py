# SPDX-License-Identifier: BSD-2-Clause
"""What the tester's end of a NIC's link has and lacks: rights, and frames as on the wire."""

import ctypes
import fcntl
import socket
import struct
from collections.abc import Iterator
from contextlib import closing

from roceproof.conformance.nic.looking import Look
from roceproof.conformance.targets.interface import TargetError
from roceproof.conformance.targets.verbs.netdev import FLAG_RUNNING, flags_of, mtu_of
from roceproof.rxe_env.doctor import Check

WANTED_MTU = 9000
SIOCETHTOOL = 0x8946
GET_PAUSE, GET_FLAGS, GET_GRO = 0x12, 0x25, 0x2B  # linux/ethtool.h
LRO = 1 << 15
WORDS = 4  # as many as struct ethtool_pauseparam has, the longest that is asked for


def near_checks(look: Look, interface: str) -> Iterator[Check]:
    """All checks of this host and its interface on the link.

    The interface is asked after with calls, which know of no other network namespace than ours.
    """
    yield _right(interface)
    try:
        flags = flags_of(interface)
        mtu = mtu_of(interface)
    except TargetError as error:
        detail, _, mend = str(error).partition(": ")
        yield Check("interface", "fail", detail, mend)
        return
    if flags & FLAG_RUNNING:
        yield Check("interface", "ok", f"{interface} is up and has a carrier")
    else:
        yield Check("interface", "fail", f"{interface} has no carrier", "plug in the cable")
    if mtu >= WANTED_MTU:
        yield Check("near MTU", "ok", str(mtu))
    else:
        mend = f"ip link set dev {interface} mtu {WANTED_MTU}"
        yield Check("near MTU", "warn", f"{mtu}: some cases send frames of 9014 bytes", mend)
    yield _own_rdma(look, interface)
    yield from _offloads(interface)


def _right(interface: str) -> Check:
    try:
        with closing(socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)):
            return Check("packet socket", "ok", f"may be opened on {interface}")
    except PermissionError:
        mend = "run as root, or with setpriv and CAP_NET_RAW as docs/nic.md shows"
        return Check("packet socket", "fail", "needs CAP_NET_RAW", mend)


def _own_rdma(look: Look, interface: str) -> Check:
    devices = look(f"/sys/class/net/{interface}/device/infiniband").names
    name = "RoCE frames"
    if not devices:
        return Check(name, "ok", f"{interface} is plain Ethernet and hands them to the kernel")
    words = f"{devices[0]} on {interface} may keep UDP port 4791 to itself"
    return Check(name, "warn", words, "devlink dev param set ... enable_roce (docs/nic.md)")


def _offloads(interface: str) -> Iterator[Check]:
    merging = [
        name
        for name, is_on in (
            ("gro", _asked(interface, GET_GRO)[1]),
            ("lro", _asked(interface, GET_FLAGS)[1] & LRO),
        )
        if is_on
    ]
    if merging:
        mend = f"ethtool -K {interface} {' '.join(f'{name} off' for name in merging)}"
        yield Check("offloads", "warn", f"{', '.join(merging)} may merge frames", mend)
    else:
        yield Check("offloads", "ok", "frames are seen one by one")
    if _asked(interface, GET_PAUSE)[2]:
        mend = f"ethtool -A {interface} rx off tx off"
        yield Check("pause", "warn", "the device may pause this interface", mend)
    else:
        yield Check("pause", "ok", "nobody pauses this interface")


def _asked(interface: str, question: int) -> tuple[int, ...]:
    """The answer's words; zeros where the driver knows no such thing."""
    words = (ctypes.c_uint32 * WORDS)(question)
    request = struct.pack("=16sQ16x", interface.encode(), ctypes.addressof(words))
    with closing(socket.socket(socket.AF_INET, socket.SOCK_DGRAM)) as any_socket:
        try:
            fcntl.ioctl(any_socket, SIOCETHTOOL, request)
        except OSError:
            return (0,) * WORDS
    return tuple(words)
