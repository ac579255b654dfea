# SPDX-License-Identifier: BSD-2-Clause
"""What answers a READ or an atomic operation: whether it is right, and where its data go.

A READ may have been asked for more than once, each time for the rest from some response
on. A response may have its place in any of these answers (READ-07): it is FIRST or ONLY
where one begins, LAST where all of them end, MIDDLE between.
"""

from collections.abc import Set

from roceproof.conformance.model.codes import AethType
from roceproof.conformance.model.memory import Region
from roceproof.conformance.model.segment import Segment
from roceproof.conformance.model.segmentation import Message
from roceproof.conformance.wire.headers import Aeth, AtomicAckEth
from roceproof.conformance.wire.psn import packet_count

READ_FIRST, READ_MIDDLE, READ_LAST, READ_ONLY = 0x0D, 0x0E, 0x0F, 0x10
READ_RESPONSES = (READ_FIRST, READ_MIDDLE, READ_LAST, READ_ONLY)


class ReadAnswers:
    """The READs of one queue pair that are being answered."""

    def __init__(self) -> None:
        self._asked_from: dict[int, set[int]] = {}  # offsets, by the READ's first PSN

    def asked(self, message: Message, offset: int) -> None:
        """A request for the responses from that offset on leaves."""
        self._asked_from.setdefault(message.first_psn, set()).add(offset)

    def forget(self, message: Message) -> None:
        """It has all its responses."""
        self._asked_from.pop(message.first_psn, None)

    def is_right(self, message: Message, offset: int, response: Segment) -> bool:
        """Whether that response may stand at that offset of that READ."""
        starts = self._asked_from[message.first_psn]
        return fits_read(response, offset, starts, message.work.size, message.spec.path_mtu)


def fits_read(response: Segment, offset: int, starts: Set[int], length: int, path_mtu: int) -> bool:
    """Whether a response fits its offset in a READ that was asked for from all these offsets."""
    ends = offset == packet_count(length, path_mtu) - 1
    opcodes = set()
    if offset in starts:
        opcodes.add(READ_ONLY if ends else READ_FIRST)
    if min(starts) < offset:
        opcodes.add(READ_LAST if ends else READ_MIDDLE)
    aeth = response.extension(Aeth)
    return (
        response.bth.opcode in opcodes
        and len(response.payload) == min(length - offset * path_mtu, path_mtu)
        and (aeth is None or aeth.syndrome >> 5 == AethType.ACK)
    )


def place_response(message: Message, offset: int, response: Segment) -> bool:
    """Write a READ response's data where they belong, by its PSN (READ-10), if that may be."""
    return _write(message, offset * message.spec.path_mtu, response.payload)


def place_original(message: Message, answer: AtomicAckEth) -> bool:
    """Write what an atomic operation found, as a number of a little-endian host, if that may be."""
    return _write(message, 0, answer.original.to_bytes(answer.SIZE, "little"))


def _write(message: Message, offset: int, data: bytes) -> bool:
    region, start = message.work.into, message.work.into_offset + offset
    if not data or not isinstance(region, Region):
        return True
    is_permitted = region.valid and "local_write" in region.access
    is_permitted &= region.domain == message.spec.domain
    is_permitted &= region.holds(region.addr + start, len(data))
    if is_permitted:
        region.write(start, data)
    return is_permitted
