# SPDX-License-Identifier: BSD-2-Clause
"""The last beat of a packet on a bus, and what one byte adds to a CRC."""

from __future__ import annotations

from zlib import crc32

from roceproof.conformance.faults.icrc.engine import Outgoing


def bus_tail(out: Outgoing, width: int) -> int:
    """Covered bytes in the last beat, 0 for a full one; beats begin with the MAC header."""
    return out.body_end % width


def contribution(byte: int, behind: int) -> int:
    """The part of a CRC that comes from one byte with `behind` bytes after it."""
    return crc32(bytes((byte,)) + bytes(behind)) ^ crc32(bytes(behind + 1))
