# SPDX-License-Identifier: BSD-2-Clause
"""What fits as well where all packets end alike: so many zeros more, or so many bytes less.

Whether a beat is filled up, the ICRC's own place is fed, or a trailer, shows only where packets
end at different places of a beat.
"""

from collections.abc import Iterator, Sequence

from roceproof.conformance.diagnosis.icrc.hypothesis import Hypothesis, Recipe
from roceproof.conformance.diagnosis.icrc.parts.coverage import Feed
from roceproof.conformance.diagnosis.icrc.parts.crc_input import CrcInput

_OF_THE_END = frozenset({"beat", "place", "trailer", "pad", "payload"})
_PLACE_BYTES = 4
_BEATS = (8, 16, 32, _WIDEST := 64)


def ending_alike(hypothesis: Hypothesis, packets: Sequence[CrcInput]) -> Iterator[str]:
    """The names of what would have made the same of these packets."""
    if not isinstance(hypothesis, Recipe):
        return
    options = [each for each in hypothesis.coverage.options if each.parts & _OF_THE_END]
    if len(options) != 1:
        return
    feeds = [hypothesis.coverage.feed(packet) for packet in packets]
    (more, *others) = {_zeros_more(*pair) for pair in zip(packets, feeds, strict=True)}
    if others or not more:
        return
    for id_ in _made_by(more, _beats_of_one_end(packets, feeds)):
        yield "+".join(sorted(id_ if each == options[0].id else each for each in hypothesis.ids))


def _zeros_more(packet: CrcInput, feed: Feed) -> int | None:
    """How many zeros are fed behind the packet's end; below zero, how many bytes are left out."""
    own = packet.head + feed.extension + packet.payload + packet.pad
    fed = packet.head + feed.rest
    fed = fed[: len(fed) - feed.cut] + feed.added
    shorter, longer = sorted((own, fed), key=len)
    alike = longer.startswith(shorter) and (fed is shorter or not any(longer[len(shorter) :]))
    return len(fed) - len(own) if alike else None


def _beats_of_one_end(packets: Sequence[CrcInput], feeds: Sequence[Feed]) -> list[int]:
    """The widths of beats in which all packets end at one place, as sent or as fed."""
    sent = [packet.size for packet in packets]
    fed = [packet.size - feed.skip for packet, feed in zip(packets, feeds, strict=True)]
    return [width for width in _BEATS for at in (sent, fed) if len({n % width for n in at}) == 1]


def _made_by(more: int, beats: Sequence[int]) -> Iterator[str]:
    """What feeds so many zeros more, or bytes less."""
    if more == _PLACE_BYTES:
        yield "S36"
    wide = [width for width in beats if abs(more) < width]
    if wide and more < 0:
        yield "S40"
    elif wide:
        yield from ("S38", "S39") if _WIDEST in wide else ("S38",)
