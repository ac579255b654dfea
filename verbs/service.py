# SPDX-License-Identifier: BSD-2-Clause
"""Transport services and path MTUs, in the codes of the InfiniBand Architecture."""

from __future__ import annotations

from enum import IntEnum

from roceproof.common.errors import RoceproofError


class PathMtuError(RoceproofError, ValueError):
    """A size is none of the five path MTUs."""


class Service(IntEnum):
    """Transport service: bits 7:5 of the opcode."""

    RC = 0
    UC = 1
    UD = 3


class PathMtu(IntEnum):
    """Path MTU in the encoding of the InfiniBand Architecture."""

    MTU_256 = 1
    MTU_512 = 2
    MTU_1024 = 3
    MTU_2048 = 4
    MTU_4096 = 5

    @property
    def size(self) -> int:
        """The path MTU in bytes."""
        return 128 << self.value

    @classmethod
    def from_size(cls, size: int) -> PathMtu:
        """The code of a path MTU in bytes."""
        for mtu in cls:
            if mtu.size == size:
                return mtu
        raise PathMtuError(f"path MTU {size}: expected one of {[mtu.size for mtu in cls]}")
