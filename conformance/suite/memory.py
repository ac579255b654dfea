# SPDX-License-Identifier: BSD-2-Clause
"""How a request names memory of the device, and how that differs from what was written."""

from collections.abc import Iterable, Iterator

from roceproof.conformance.model.segment import Segment
from roceproof.conformance.suite.reporting.failure import AS_CONTRACTED, CaseFailed
from roceproof.conformance.targets.interface import DeviceDied, Target
from roceproof.conformance.wire.codec import parse
from roceproof.conformance.wire.headers import AtomicEth, Reth
from roceproof.conformance.wire.notation import first_difference
from roceproof.conformance.wire.opcodes import Family
from roceproof.verbs.work import Region

_FARTHEST, _ENOUGH, _SHOWN = 64, 3, 8
LATE = (
    "a request was answered, or its receive completed, before its bytes were in memory: "
    "they came there later"
)
_ACKNOWLEDGED = "ACK-05"
_WORD, _ADDRESSES = 8, 1 << 64


def at(region: Region, offset: int = 0) -> dict[str, int]:
    """The address and key of a place in a region: `WRITE_ONLY(psn=0, **at(region, 8))`."""
    return {"va": (region.addr + offset) % _ADDRESSES, "rkey": region.rkey}


def to_a_word(region: Region) -> int:
    """The offset of the first word in a region, which atomics may change."""
    return -region.addr % _WORD


def families_at(frames: Iterable[bytes], address: int, rkey: int) -> Iterator[Family]:
    """Of which families the requests are that name that byte of the device's memory."""
    for packet in map(parse, frames):
        if packet is None:
            continue
        request = Segment(packet.bth, packet.extensions, packet.payload)
        named = request.extension(Reth) or request.extension(AtomicEth)
        if named is None or named.rkey != rkey or request.row is None:
            continue
        length = max(named.length, len(packet.payload)) if isinstance(named, Reth) else _WORD
        if (address - named.address) % _ADDRESSES < length:
            yield request.row.family


def otherwise(want: bytes, got: bytes, before: bytes) -> str | None:
    """How memory differs from what was written; None if it is what it was before."""
    if got == before:
        return None
    first = first_difference(want, got)
    shown = slice(first, first + _SHOWN)
    text = f"other bytes than are due: want {want[shown].hex()}, got {got[shown].hex()}"
    return f"{text} from {first} on{_moved(want, got)}"


def unless_late(target: Target, failure: CaseFailed) -> CaseFailed:
    """The failure; another one where the bytes that it has just read are there later."""
    if failure.stop is not None:
        return failure
    try:
        is_late = target.memory_is_late()
    except DeviceDied:
        return failure
    if not is_late:
        return failure
    first, newline, _ = str(failure).partition("\n")
    place = f"{first}{newline}" if newline else ""
    said = [rule for rule in failure.rules if rule == _ACKNOWLEDGED] or [AS_CONTRACTED]
    return CaseFailed(f"{place}{LATE}", rules=said, entries=failure.entries)


def _moved(want: bytes, got: bytes) -> str:
    """By how much, if they are the same in another place."""
    for by in range(1, min(_FARTHEST, len(want) - _ENOUGH)):
        if got[by:] == want[:-by] or got[:-by] == want[by:]:
            way = "late" if got[by:] == want[:-by] else "early"
            return f", {by} byte{'' if by == 1 else 's'} too {way}"
    return ""
