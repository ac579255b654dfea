# SPDX-License-Identifier: BSD-2-Clause
"""The requests of the last 1024 PSNs, to know their copies."""

from typing import NamedTuple
from zlib import crc32

from roceproof.conformance.observer.observed import IcrcVerdict, Observed
from roceproof.conformance.wire.framing import ICRC_BYTES

KEPT_PSNS = 1024


class Seen(NamedTuple):
    """What is kept of a packet."""

    psn: int
    opcode: int
    digest: int
    is_sure: bool


class History:
    """A ring of packets, each in the place that its PSN gives it."""

    def __init__(self) -> None:
        self._ring: dict[int, Seen] = {}

    def keep(self, packet: Seen) -> None:
        """Remember a packet that is no copy, in place of any other there."""
        self._ring[packet.psn % KEPT_PSNS] = packet

    def at(self, psn: int) -> Seen | None:
        """The last packet with that PSN."""
        found = self._ring.get(psn % KEPT_PSNS)
        return found if found and found.psn == psn else None


def seen(packet: Observed) -> Seen:
    """What is kept of a packet: its bytes from the end of the BTH to the ICRC, as a digest."""
    body = packet.frame[packet.body : packet.end - ICRC_BYTES]
    sure = packet.icrc is not IcrcVerdict.BAD and not packet.cut
    return Seen(packet.psn, packet.opcode, crc32(body), sure)


def may_be_copy(before: Seen, now: Seen) -> bool:
    """Whether two packets with one PSN may be the same, corruption and cuts allowed for."""
    if not (before.is_sure and now.is_sure):
        return True
    return (before.opcode, before.digest) == (now.opcode, now.digest)
