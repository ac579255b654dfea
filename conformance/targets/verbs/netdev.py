# SPDX-License-Identifier: BSD-2-Clause
"""What the kernel says of a network interface of this process's namespace."""

import fcntl
import socket
import struct

from roceproof.conformance.targets.interface import TargetError

GET_FLAGS, GET_MTU, GET_MAC = 0x8913, 0x8921, 0x8927  # linux/sockios.h
FLAG_UP, FLAG_RUNNING = 1, 1 << 6
NAME_BYTES, REQUEST_BYTES = 16, 40  # struct ifreq


def mtu_of(name: str) -> int:
    """Its MTU, if it is up."""
    if not flags_of(name) & FLAG_UP:
        raise TargetError(f"{name} is down: ip link set dev {name} up")
    return int(struct.unpack_from("=i", _asked(GET_MTU, name))[0])


def flags_of(name: str) -> int:
    """Its flags, FLAG_UP and FLAG_RUNNING among them."""
    return int(struct.unpack_from("=H", _asked(GET_FLAGS, name))[0])


def mac_of(name: str) -> bytes:
    return _asked(GET_MAC, name)[2:8]


def _asked(question: int, name: str) -> bytes:
    request = struct.pack(f"={NAME_BYTES}s{REQUEST_BYTES - NAME_BYTES}x", name.encode())
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        try:
            return fcntl.ioctl(any_socket, question, request)[NAME_BYTES:]
        except OSError:
            raise TargetError(f"there is no interface {name}: see `ip link`") from None
