# SPDX-License-Identifier: BSD-2-Clause
"""What is looked at of a capture: all of a short one, of a long one what `roce-check` chose.

What it writes for a long one (pcap/excerpt/excerpt.h) is a line of JSON, then the frames.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from struct import Struct
from typing import IO, Any

from roceproof.conformance.capture.record import LINK_ETHERNET, Flow, Record
from roceproof.conformance.diagnosis.observation import InExcerpt, Observation, observe

_FRAME = Struct("=QQIIIBBBB")
_CHOSEN = 1
_NO_LINK = -1


@dataclass(frozen=True, slots=True)
class Stretch:
    """Packets that stood one behind the other in the capture, for what only their order shows."""

    seen: list[Observation]
    from_start: bool = True
    """Whether nothing was left out in front of them."""


@dataclass(frozen=True, slots=True)
class Excerpt:
    """The packets for the ICRC half, and for the PSN half."""

    chosen: list[Observation]
    stretches: list[Stretch]
    damage: str | None = None
    """Where the capture could not be read on, in words."""
    notes: list[str] = field(default_factory=list)
    """What was not looked at, in words."""
    wrong_left_out: int = 0

    @classmethod
    def whole(cls, records: Iterable[Record]) -> Excerpt:
        seen = list(observe(records))
        return cls(seen, [Stretch(seen)])

    def all_seen(self) -> list[Observation]:
        """Every packet that is to be judged, once."""
        lists = (self.chosen, *(stretch.seen for stretch in self.stretches))
        if all(seen is self.chosen for seen in lists):
            return self.chosen
        found = {each.number: each for seen in lists for each in seen if not each.is_beside}
        return [found[number] for number in sorted(found)]

    @property
    def bytes(self) -> int:
        """How much there is to search in."""
        return sum(len(seen.frame) for seen in self.chosen)


def read_excerpt(stream: IO[bytes]) -> Excerpt | None:
    """What `roce-check --excerpt` writes; None if that is nothing, since it cannot read it."""
    first = stream.readline()
    if not first:
        return None
    heading = json.loads(first)
    chosen: list[Observation] = []
    stretches: list[list[Observation]] = [[] for _ in heading["stretches"]]
    for record, marks, stretch in _frames(stream):
        for seen in observe((record,), InExcerpt(marks & ~_CHOSEN)):
            if marks & _CHOSEN:
                chosen.append(seen)
            if stretch:
                stretches[stretch - 1].append(replace(seen, in_excerpt=InExcerpt(0)))
    starts = (first == 1 for first, _ in heading["stretches"])
    return Excerpt(
        chosen,
        [Stretch(seen, start) for seen, start in zip(stretches, starts, strict=True)],
        heading["error"],
        _notes(heading),
        heading["wrong"] - heading["judged_wrong"],
    )


def _frames(stream: IO[bytes]) -> Iterator[tuple[Record, int, int]]:
    while len(head := stream.read(_FRAME.size)) == _FRAME.size:
        number, time_ns, size, full, interface, fcs, ethernet, marks, stretch = _FRAME.unpack(head)
        record = Record(
            "",
            time_ns,
            Flow.UNKNOWN,
            stream.read(size),
            bytes_cut=full - size,
            number=number,
            interface_index=interface,
            fcs_bytes=fcs,
            link_type=LINK_ETHERNET if ethernet else _NO_LINK,
        )
        yield record, marks, stretch


def _notes(heading: dict[str, Any]) -> list[str]:
    """What the excerpt leaves out."""
    notes = [f"only the first {heading['frames']} frames were read"] if heading["cut"] else []
    if heading["judged"] == heading["frames"]:
        return notes
    stretches = " and ".join(f"{first} to {last}" for first, last in heading["stretches"])
    wrong = f"{heading['judged_wrong']} of {heading['wrong']} wrong ones among them"
    notes.append(
        f"ICRCs were explained from {heading['judged']} of {heading['frames']} frames"
        f" ({wrong}), PSNs from frames {stretches}"
    )
    return notes
