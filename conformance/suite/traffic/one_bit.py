# SPDX-License-Identifier: BSD-2-Clause
"""Packets that are good but for one bit of a number that a device compares: each is an alias."""

from collections.abc import Callable, Iterable, Sequence

from roceproof.conformance.suite.pattern import Edit, Pattern
from roceproof.conformance.wire.frame_edits import flip_ip, flip_protocol, flip_udp

_PORT, _QPN, _P_KEY = (2, 3), (13, 14, 15), (10, 11)  # counted from the UDP header
_SOURCE, _DESTINATION = range(12, 16), range(16, 20)  # counted from the IP header
_FULL_MEMBER = 15


def _flipped(
    packets: Sequence[Pattern],
    flip: Callable[[int, int], Edit],
    offsets: Iterable[int],
    *,
    spared: int | None = None,
) -> dict[str, Pattern]:
    bits = [(at, bit) for at in reversed([*offsets]) for bit in range(8)]
    return {
        f"bit {number} flipped": packets[number % len(packets)].resealed(flip(at, 1 << bit))
        for number, (at, bit) in enumerate(bits)
        if number != spared
    }


def _of_link(packets: Sequence[Pattern], offsets: Iterable[int]) -> dict[str, Pattern]:
    bits = [(at, bit) for at in offsets for bit in range(8)]
    return {
        f"byte {at} bit {bit} flipped": packets[0].corrupted(_of_frame(at, 1 << bit))
        for at, bit in bits
    }


def _of_frame(at: int, mask: int) -> Edit:
    def edit(frame: bytearray) -> None:
        frame[at] ^= mask

    return edit


def strangers_address(*packets: Pattern) -> dict[str, Pattern]:
    return _flipped(packets, flip_ip, _SOURCE)


def stations_address(*packets: Pattern) -> dict[str, Pattern]:
    return _flipped(packets, flip_ip, _DESTINATION)


def queue_pair(*packets: Pattern) -> dict[str, Pattern]:
    return _flipped(packets, flip_udp, _QPN)


def partition(*packets: Pattern) -> dict[str, Pattern]:
    """Of nearly the default one."""
    return _flipped(packets, flip_udp, _P_KEY, spared=_FULL_MEMBER)


def port(*packets: Pattern) -> dict[str, Pattern]:
    """To nearly that of RoCE."""
    return _flipped(packets, flip_udp, _PORT)


def protocol(*packets: Pattern) -> dict[str, Pattern]:
    """Nearly UDP."""
    return {
        f"bit {bit} flipped": packets[bit % len(packets)].corrupted(flip_protocol(1 << bit))
        for bit in range(8)
    }


def ethertype(*packets: Pattern) -> dict[str, Pattern]:
    """Nearly IPv4."""
    return _of_link(packets, (12, 13))


def stations_mac(*packets: Pattern) -> dict[str, Pattern]:
    return _of_link(packets, range(6))
