# SPDX-License-Identifier: BSD-2-Clause
"""Faults that move the CRC's input: what stands in front, what is left out, where it ends.

Options that touch different parts of the input combine to a coverage. Those of
one id are variants of it, the catalogue's own first.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from roceproof.conformance.diagnosis.icrc.parts.crc import ONES
from roceproof.conformance.diagnosis.icrc.parts.crc_input import CrcInput
from roceproof.conformance.wire.headers import Aeth, Extension, ImmDt, Reth
from roceproof.conformance.wire.opcodes import OPCODES, Family

_TAG_BYTES = 4
_LONGEST_HEADERS = max(sum(header.SIZE for header in row.headers) for row in OPCODES.values())


@dataclass(slots=True)
class Feed:
    """The input of one packet's CRC behind the dummy bytes, in order."""

    extension: bytes
    payload: bytes
    pad: bytes
    front: bytes = b""
    skip: int = 0
    """Bytes of the head that are left out."""
    trailer: bytes = b""
    cut: int = 0
    """Bytes left out behind the trailer."""
    filler: bytes = b""
    place: bytes = b""
    """What is fed for the ICRC itself, last of all."""
    start: int | None = None
    """The register in front of all this, if not that behind the dummy bytes."""

    @property
    def rest(self) -> bytes:
        """What follows the head, before the cut."""
        return self.extension + self.payload + self.pad + self.trailer

    @property
    def rest_size(self) -> int:
        return len(self.extension) + len(self.payload) + len(self.pad) + len(self.trailer)

    @property
    def added(self) -> bytes:
        """What follows behind the cut."""
        return self.filler + self.place

    def over(self, head: bytes) -> Sequence[bytes]:
        """All that is fed behind the dummy bytes, the payload, long and often the same, by itself.

        `head` is that of the packet, masked as its device masks it.
        """
        front = self.front + head[self.skip :] + self.extension
        behind = self.pad + self.trailer
        if not self.cut:
            return front, self.payload, behind + self.added
        if self.cut <= len(behind):
            return front, self.payload, behind[: -self.cut] + self.added
        return ((front + self.payload + behind)[: -self.cut] + self.added,)


class Option(NamedTuple):
    id: str
    note: str
    parts: frozenset[str]
    edit: Callable[[CrcInput, Feed], None]


class Coverage(NamedTuple):
    """A combination of options; none is the right coverage."""

    options: tuple[Option, ...] = ()

    def feed(self, packet: CrcInput) -> Feed:
        """The input for one packet."""
        feed = Feed(packet.extension, packet.payload, packet.pad)
        for option in self.options:
            option.edit(packet, feed)
        return feed


def _ethernet_instead(packet: CrcInput, feed: Feed) -> None:
    feed.front, feed.start = packet.seen.ethernet, ONES


def _ethernet_from_zeros(packet: CrcInput, feed: Feed) -> None:
    feed.front, feed.start = packet.seen.ethernet, 0


def _untagged_instead(packet: CrcInput, feed: Feed) -> None:
    feed.front, feed.start = _untagged(packet), ONES


def _ethernet_behind(packet: CrcInput, feed: Feed) -> None:
    feed.front = packet.seen.ethernet


def _untagged_behind(packet: CrcInput, feed: Feed) -> None:
    feed.front = _untagged(packet)


def _untagged(packet: CrcInput) -> bytes:
    frame = packet.seen.ethernet
    return frame[:12] + frame[-2:]


def _tags(packet: CrcInput, feed: Feed) -> None:
    feed.front = packet.tags


def _inner_tag(packet: CrcInput, feed: Feed) -> None:
    feed.front = packet.tags[-_TAG_BYTES:]


def _tag_and_type(packet: CrcInput, feed: Feed) -> None:
    feed.front = packet.tags and packet.seen.ethernet[-_TAG_BYTES:]


def _from_udp(packet: CrcInput, feed: Feed) -> None:
    feed.skip = packet.udp_at


def _from_bth(packet: CrcInput, feed: Feed) -> None:
    feed.skip = packet.bth_at


def _from_byte(number: int) -> Callable[[CrcInput, Feed], None]:
    def edit(packet: CrcInput, feed: Feed) -> None:
        feed.skip = number

    return edit


def _from_in_front(number: int) -> Callable[[CrcInput, Feed], None]:
    def edit(packet: CrcInput, feed: Feed) -> None:
        feed.front = packet.seen.ethernet[-number:]

    return edit


def _no_extension(packet: CrcInput, feed: Feed) -> None:
    feed.extension = b""


def _no_extension_but_of_notifications(packet: CrcInput, feed: Feed) -> None:
    row = OPCODES.get(packet.seen.bth.opcode)
    if row is None or row.family is not Family.CONGESTION:
        feed.extension = b""


def _without(kind: type[Extension]) -> Callable[[CrcInput, Feed], None]:
    def edit(packet: CrcInput, feed: Feed) -> None:
        row = OPCODES.get(packet.seen.bth.opcode)
        if row is not None and kind in row.headers:
            at = sum(each.SIZE for each in row.headers[: row.headers.index(kind)])
            feed.extension = feed.extension[:at] + feed.extension[at + kind.SIZE :]

    return edit


def _zeroed(kind: type[Extension], field: slice) -> Callable[[CrcInput, Feed], None]:
    def edit(packet: CrcInput, feed: Feed) -> None:
        row = OPCODES.get(packet.seen.bth.opcode)
        if row is not None and row.headers[:1] == (kind,):
            seen = bytearray(feed.extension)
            seen[field] = bytes(len(seen[field]))
            feed.extension = bytes(seen)

    return edit


def _no_payload(packet: CrcInput, feed: Feed) -> None:
    feed.payload = b""


def _no_payload_nor_pad(packet: CrcInput, feed: Feed) -> None:
    feed.payload = feed.pad = b""


def _no_payload_behind(size: int) -> Callable[[CrcInput, Feed], None]:
    """Where the opcode is reserved, its device alone knows how long the headers are."""

    def edit(packet: CrcInput, feed: Feed) -> None:
        if packet.seen.bth.opcode not in OPCODES:
            feed.extension = (feed.payload + feed.pad)[:size]
        feed.payload = feed.pad = b""

    return edit


def _no_pad(packet: CrcInput, feed: Feed) -> None:
    feed.pad = b""


def _trailer(packet: CrcInput, feed: Feed) -> None:
    feed.trailer = packet.seen.trailer


def _place_as_zeros(packet: CrcInput, feed: Feed) -> None:
    feed.place = bytes(4)


def _place_as_ones(packet: CrcInput, feed: Feed) -> None:
    feed.place = b"\xff" * 4


_ORIGINS: dict[str, Callable[[CrcInput], int]] = {
    "": lambda packet: packet.covered_end,
    ", counted from the IP header": lambda packet: packet.covered_end - packet.seen.ip,
    ", counted from the dummy bytes": lambda packet: packet.covered_end - packet.seen.ip + 8,
}
"""Where the beats are counted from, and how long the packet is from there."""


def _filled(width: int, length: Callable[[CrcInput], int]) -> Callable[[CrcInput, Feed], None]:
    def edit(packet: CrcInput, feed: Feed) -> None:
        feed.filler = bytes(-length(packet) % width)

    return edit


def _dropped(width: int, length: Callable[[CrcInput], int]) -> Callable[[CrcInput, Feed], None]:
    def edit(packet: CrcInput, feed: Feed) -> None:
        feed.cut = length(packet) % width

    return edit


def _beats() -> list[Option]:
    rows = []
    for origin, length in _ORIGINS.items():
        for width in (8, 16, 32, 64):
            name = "S39" if width == 64 else "S38"
            note = f"{width}-byte beats{origin}" if origin or width in (16, 32) else ""
            rows.append(Option(name, note, frozenset({"beat"}), _filled(width, length)))
            note = f"{width}-byte beats{origin}" if origin or width != 8 else ""
            rows.append(Option("S40", note, frozenset({"beat"}), _dropped(width, length)))
    return rows


def _option(name: str, part: str, edit: Callable[[CrcInput, Feed], None], note: str = "") -> Option:
    return Option(name, note, frozenset(part.split()), edit)


_FEW = {1: "byte"} | {number: f"{number} bytes" for number in (2, 3, 4, 8)}
"""So many bytes too late, or too early, a CRC begins whose first byte was counted wrongly."""

OPTIONS: tuple[Option, ...] = (
    _option("S14", "front start", _ethernet_instead),
    _option("S14+S19", "front start", _ethernet_from_zeros),
    _option("S15", "front", _ethernet_behind),
    _option("S16", "front", _tags),
    _option("S17", "ip", _from_udp),
    _option("S18", "ip udp", _from_bth),
    _option("S30", "trailer", _trailer),
    _option("S31", "pad", _no_pad),
    _option("S36", "place", _place_as_zeros),
    _option("S37", "place", _place_as_ones),
    _option("S41", "extension", _no_extension),
    _option("S42", "payload", _no_payload),
    _option("S14", "front start", _untagged_instead, "without the VLAN tag"),
    _option("S15", "front", _untagged_behind, "without the VLAN tag"),
    _option("S16", "front", _inner_tag, "the innermost only"),
    _option(
        "S41", "extension", _no_extension_but_of_notifications, "the 16 bytes of a CNP are covered"
    ),
    _option("S42", "payload pad", _no_payload_nor_pad, "nor is the pad"),
    *_beats(),
)

ALONE: tuple[Option, ...] = (
    _option("S16", "front", _tag_and_type, "from behind its first EtherType on"),
    _option("S55", "extension", _zeroed(Reth, slice(12, 16)), "DMALen is inserted behind the CRC"),
    _option("S55", "extension", _zeroed(Aeth, slice(1, 4)), "MSN is inserted behind the CRC"),
    _option("S41", "extension", _without(ImmDt), "the immediate data only"),
    _option("S41", "extension", _without(Reth), "the RETH only"),
    _option("S41", "extension", _without(Aeth), "the AETH only"),
    *(_option("S17", "ip", _from_byte(n), f"only its first {some}") for n, some in _FEW.items()),
    *(
        _option("S15", "front", _from_in_front(n), f"only its last {some}")
        for n, some in _FEW.items()
    ),
)
"""Those that are looked for only by themselves."""

OF_RESERVED: tuple[Option, ...] = tuple(
    _option("S42", "payload pad", _no_payload_behind(size), f"headers are {size} bytes")
    for size in range(4, _LONGEST_HEADERS + 1, 4)
)
"""Those of packets with reserved opcodes, by themselves, too."""
