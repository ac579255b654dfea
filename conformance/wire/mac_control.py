# SPDX-License-Identifier: BSD-2-Clause
"""MAC control: the pauses that one end of a link asks the other for (802.3 annex 31B, 802.1Qbb)."""

from collections.abc import Collection, Mapping

from roceproof.conformance.wire.framing import ETHERNET_BYTES, ETHERNET_MINIMUM

ETHER_MAC_CONTROL = 0x8808
CLASSES = 8
LONGEST = 0xFFFF  # quanta
TO_THE_LINK = bytes.fromhex("0180c2000001")
_MAC_CONTROL = ETHER_MAC_CONTROL.to_bytes(2, "big")
_GLOBAL, _PRIORITY = b"\0\1", b"\1\1"
_BODY_BYTES = {_GLOBAL: 4, _PRIORITY: 4 + 2 * CLASSES}


def priority_pause(
    quanta: Mapping[int, int], *, src_mac: bytes, named: Collection[int] | None = None
) -> bytes:
    """A pause (802.1Qbb) of these classes for so many times 512 bits; 0 lifts it.

    It is of none but those `named`, if that is said: the times of others say nothing.
    """
    vector = sum(1 << priority for priority in (quanta if named is None else named))
    times = (quanta.get(priority, 0).to_bytes(2, "big") for priority in range(CLASSES))
    return _frame(_PRIORITY + vector.to_bytes(2, "big") + b"".join(times), src_mac)


def global_pause(quanta: int, *, src_mac: bytes) -> bytes:
    """A pause (802.3 annex 31B) of the whole link."""
    return _frame(_GLOBAL + quanta.to_bytes(2, "big"), src_mac)


def is_pause_of(src_mac: bytes, frame: bytes) -> bool:
    """Whether it is a pause as that station may send it: its form is right to the last byte."""
    size = _BODY_BYTES.get(frame[ETHERNET_BYTES : ETHERNET_BYTES + 2])
    return size is not None and frame == _frame(
        frame[ETHERNET_BYTES : ETHERNET_BYTES + size], src_mac
    )


def _frame(body: bytes, src_mac: bytes) -> bytes:
    return (TO_THE_LINK + src_mac + _MAC_CONTROL + body).ljust(ETHERNET_MINIMUM, b"\0")
