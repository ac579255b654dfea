# SPDX-License-Identifier: BSD-2-Clause
"""MAC control frames: the pauses that a switch asks a port for."""

from __future__ import annotations

from collections.abc import Mapping

from roceproof.conformance.wire.framing import ETHERNET_MINIMUM

LONGEST = 0xFFFF
_TO_THE_LINK = bytes.fromhex("0180c2000001")
_MAC_CONTROL = b"\x88\x08"
_GLOBAL, _PRIORITY = b"\0\1", b"\1\1"
_CLASSES = 8


def priority_pause(quanta: Mapping[int, int], *, src_mac: bytes) -> bytes:
    """A pause (802.1Qbb) of these classes for so many times 512 bits; 0 lifts it."""
    vector = sum(1 << priority for priority in quanta).to_bytes(2, "big")
    times = (quanta.get(priority, 0).to_bytes(2, "big") for priority in range(_CLASSES))
    return _frame(_PRIORITY + vector + b"".join(times), src_mac)


def global_pause(quanta: int, *, src_mac: bytes) -> bytes:
    """A pause (802.3 annex 31B) of the whole link."""
    return _frame(_GLOBAL + quanta.to_bytes(2, "big"), src_mac)


def _frame(body: bytes, src_mac: bytes) -> bytes:
    return (_TO_THE_LINK + src_mac + _MAC_CONTROL + body).ljust(ETHERNET_MINIMUM, b"\0")
