# SPDX-License-Identifier: BSD-2-Clause
"""Messages cut into the packets that carry them."""

from collections.abc import Iterator
from dataclasses import dataclass
from struct import pack
from typing import NamedTuple

from roceproof.conformance.calibration.plan import End, Message, Pair

_UC = 0x20


class Part(NamedTuple):
    """One packet of a message: what a requester has to send at its turn."""

    opcode: int
    extension: bytes
    payload: bytes
    flags: int
    ask: bool
    at_ns: int
    span: int
    """PSNs that it takes: one, or those of a READ's responses."""
    message: int
    opens: bool
    closes: bool
    length: int
    """Bytes of the whole message."""
    address: int = 0
    """Where a READ reads."""


@dataclass(slots=True, eq=False)
class Sent:
    """A packet that waits for its acknowledgement; `word` is what its PSN field holds."""

    part: Part
    psn: int
    span: int
    word: int


def parts_of(end: End, pair: Pair) -> Iterator[Part]:
    """The packets of all messages, in order."""
    for number, message in enumerate(end.messages):
        yield from _parts(end, pair, message, number)


def _parts(end: End, pair: Pair, message: Message, number: int) -> Iterator[Part]:
    work, data, mtu = message.work, message.data, pair.mtu
    service = 0 if pair.reliable else _UC
    reth = pack(">QII", message.address, end.key, len(data))
    immediate = pack(">I", number * 0x01010101 & 0xFFFFFFFF) if work.immediate else b""
    at, length = message.at_ns, len(data)
    ask = message.ask and pair.reliable
    if work.reads:
        span = max(1, -(-length // mtu))
        yield Part(12, reth, b"", 0, True, at, span, number, True, True, length, message.address)
        return
    pieces = [data[cut : cut + mtu] for cut in range(0, length, mtu)] or [b""]
    for place, piece in enumerate(pieces):
        opens, closes = place == 0, place == len(pieces) - 1
        kind = 3 if opens and closes else 0 if opens else 2 if closes else 1
        extension = (reth if opens and work.writes else b"") + (immediate if closes else b"")
        opcode = service | work.opcodes[kind]
        yield Part(
            opcode, extension, piece, 0, ask and closes, at, 1, number, opens, closes, length
        )
