# SPDX-License-Identifier: BSD-2-Clause
"""Faults that alter what the CRC sees without moving it: masks, field values, start and end.

Over GF(2) the effect of one is added to the ICRC whatever the others do, as
long as they touch different things. Rows of one id are variants of it, the
catalogue's own first.
"""

from collections.abc import Callable, Iterable
from typing import NamedTuple

from roceproof.conformance.diagnosis.icrc.parts.crc import ONES
from roceproof.conformance.diagnosis.icrc.parts.crc_input import MASKED, CrcInput
from roceproof.conformance.diagnosis.icrc.parts.engine import Engine
from roceproof.conformance.diagnosis.icrc.parts.masks import mask_pairs

Edit = Callable[[CrcInput, bytearray], None]
Start = Callable[[Engine], int]

_ICRC_BYTES = 4
_CONSTANT = 0xDEBB20E3
_IPV4_OFFSETS = frozenset({1, 8, 10, 11, 26, 27, 32})


class Change(NamedTuple):
    """One fault; what is not None is what it alters."""

    id: str
    """A signature, or two joined by "+" where they make one mask together."""
    note: str
    touches: frozenset[str]
    edit: Edit | None = None
    start: Start | None = None
    inverted: bool = False

    def head(self, packet: CrcInput) -> bytes:
        """The masked head as altered."""
        head = bytearray(packet.masked)
        if self.edit is not None:
            self.edit(packet, head)
        return bytes(head)


def unmask(*fields: str) -> Edit:
    """The fields are seen as they stand on the wire."""

    def edit(packet: CrcInput, head: bytearray) -> None:
        for field in fields:
            for at, bits in packet.spans(field):
                head[at] = head[at] & ~bits | packet.head[at] & bits

    return edit


def ones(*fields: str) -> Edit:
    """The fields are seen as ones."""

    def edit(packet: CrcInput, head: bytearray) -> None:
        for field in fields:
            for at, bits in packet.spans(field):
                head[at] |= bits

    return edit


def zeros(*fields: str) -> Edit:
    """The fields are seen as zeros."""

    def edit(packet: CrcInput, head: bytearray) -> None:
        for field in fields:
            for at, bits in packet.spans(field):
                head[at] &= ~bits

    return edit


def number(field: str, offset: int) -> Edit:
    """The field is seen as its value on the wire plus an offset."""

    def edit(packet: CrcInput, head: bytearray) -> None:
        spans = packet.spans(field)
        if spans:
            at, size = spans[0][0], len(spans)
            value = int.from_bytes(packet.head[at : at + size], "big") + offset
            head[at : at + size] = (value % (1 << 8 * size)).to_bytes(size, "big")

    return edit


def borrow(source: Callable[[CrcInput], CrcInput | None], *fields: str) -> Edit:
    """The fields are seen with the values that another packet has there, if there is one."""

    def edit(packet: CrcInput, head: bytearray) -> None:
        other = source(packet)
        if other is not None:
            for field in fields:
                for (at, bits), (there, _) in zip(
                    packet.spans(field), other.spans(field), strict=False
                ):
                    head[at] = head[at] & ~bits | other.head[there] & bits

    return edit


def each(*edits: Edit) -> Edit:
    """Several edits in one fault."""

    def edit(packet: CrcInput, head: bytearray) -> None:
        for step in edits:
            step(packet, head)

    return edit


def _ipv4_mask_on_ipv6(offsets: Iterable[int], *, ip_only: bool = False) -> Edit:
    places = frozenset(offsets)

    def edit(packet: CrcInput, head: bytearray) -> None:
        if packet.seen.version == 6 and not packet.seen.is_v1:
            last = packet.udp_at if ip_only else len(head)
            head[:last] = packet.head[:last]
            for at in places:
                head[at] = 0xFF

    return edit


def _ipv6_byte_8(packet: CrcInput, head: bytearray) -> None:
    if packet.seen.version == 6:
        head[7], head[8] = packet.head[7], 0xFF


def _over_ipv4(edit: Edit) -> Edit:
    def narrowed(packet: CrcInput, head: bytearray) -> None:
        if packet.seen.version == 4:
            edit(packet, head)

    return narrowed


def _before_congestion_mark(transport: int) -> Edit:
    """Unmask the TOS as it was before a switch marked it: the sender's ECN bits."""

    def edit(packet: CrcInput, head: bytearray) -> None:
        unmask("tos")(packet, head)
        at, bits = packet.spans("tos")[-1]
        low = 0x30 if bits == 0xF0 else 0x03
        if head[at] & low == low:
            head[at] = head[at] & ~low | transport * (low & -low)

    return edit


def _previous(packet: CrcInput) -> CrcInput | None:
    return packet.previous


def _original(packet: CrcInput) -> CrcInput | None:
    return packet.original


def _head(name: str, note: str, touches: Iterable[str], edit: Edit) -> Change:
    return Change(name, note, frozenset(touches), edit)


def _start(name: str, note: str, start: Start) -> Change:
    return Change(name, note, frozenset({"start"}), start=start)


_LENGTHS = ("ip length", "udp length")
_IP_MASK = ("ttl", "tos", "flow label", "ip checksum")

CHANGES: tuple[Change, ...] = (
    _head("S01", "", ["ttl"], unmask("ttl")),
    _head("S02", "", ["tos"], unmask("tos")),
    _head("S03", "", ["ip checksum"], unmask("ip checksum")),
    _head("S04", "", ["udp checksum"], unmask("udp checksum")),
    _head("S05", "", ["bth byte 4"], unmask("bth byte 4")),
    _head("S06", "", MASKED, unmask(*MASKED)),
    _head("S06+S09", "", [*MASKED, "bth byte 8"], each(unmask(*MASKED), ones("bth byte 8"))),
    _head("S06+S49", "", [*MASKED, "ipv6"], each(unmask(*MASKED), _ipv6_byte_8)),
    _head("S07", "", MASKED, zeros(*MASKED)),
    _head("S08", "", ["bth byte 4"], unmask("reserved bits")),
    _head("S09", "", ["bth byte 4", "bth byte 8"], each(unmask("bth byte 4"), ones("bth byte 8"))),
    _head("S10", "", ["flow label"], unmask("flow label")),
    _start("S11", "", lambda engine: ONES),
    _start("S12", "", lambda engine: engine.crc.run(bytes(8), ONES)),
    _start("S12+S22", "", lambda engine: engine.crc.run(bytes(8), engine.start)),
    _start("S13", "", lambda engine: engine.crc.run(b"\xff" * 4, ONES)),
    _start("S19", "", lambda engine: engine.crc.run(b"\xff" * 8, 0)),
    Change("S20", "", frozenset({"inversion"}), inverted=True),
    Change(
        "S21",
        "",
        frozenset({"start", "inversion"}),
        start=lambda engine: engine.crc.run(b"\xff" * 8, 0),
        inverted=True,
    ),
    _start("S22", "", lambda engine: engine.crc.run(b"\xff" * 16, ONES)),
    _start(
        "S22",
        "the constant is that of CRC-32, though the engine is another",
        lambda engine: engine.crc.run(b"\xff" * 8, _CONSTANT),
    ),
    _head("S32", "", ["length"], each(*(number(field, -_ICRC_BYTES) for field in _LENGTHS))),
    _head("S33", "", ["length"], zeros(*_LENGTHS)),
    _head("S34", "", ["id"], zeros("id")),
    _head("S35", "", ["fragment"], ones("fragment")),
    _head("S44", "", ["psn"], number("psn", 1)),
    _head("S48", "", [*MASKED, "ipv6"], _ipv4_mask_on_ipv6(_IPV4_OFFSETS)),
    _head("S49", "", ["ttl", "ipv6"], _ipv6_byte_8),
    _head("S50", "", ["pad count"], ones("pad count")),
    _head("S51", "", ["migreq"], ones("migreq")),
    _head("S52", "", ["source port"], ones("source port")),
    _head("S55", "AckReq is set behind the CRC", ["bth byte 8"], zeros("ackreq")),
    _head("S55", "the PSN is that of the step before", ["psn"], number("psn", -1)),
    _head("S55", "the ID is that of the step before", ["id"], number("id", -1)),
    _head("S55", "the P_Key is inserted behind the CRC", ["p_key"], zeros("p_key")),
    _head("S55", "the pad count is inserted behind the CRC", ["pad count"], zeros("pad count")),
    _head("S55", "MigReq is set behind the CRC", ["migreq"], zeros("migreq")),
    _head("S55", "the QPN is inserted behind the CRC", ["qpn"], zeros("qpn")),
    _head(
        "S55",
        "a repeated packet keeps the ICRC of its first sending",
        ["id", "psn", "bth byte 8"],
        borrow(_original, "id", "ackreq", "psn", "source port", "p_key", "migreq"),
    ),
    *(
        _head("S55", f"the {field} is that of the packet before", names, borrow(_previous, *fields))
        for field, names, fields in (
            ("PSN", ["psn"], ["psn"]),
            ("AckReq bit", ["bth byte 8"], ["ackreq"]),
            ("ID", ["id"], ["id"]),
            ("length", ["length"], [*_LENGTHS]),
            ("P_Key", ["p_key"], ["p_key"]),
            ("QPN", ["qpn"], ["qpn"]),
            ("source port", ["source port"], ["source port"]),
        )
    ),
    _head("S01", "it was one higher when the CRC saw it", ["ttl"], number("ttl", 1)),
    _head("S02", "before a switch marked it, ECT(0)", ["tos"], _before_congestion_mark(2)),
    _head("S02", "before a switch marked it, ECT(1)", ["tos"], _before_congestion_mark(1)),
    _head("S05", "FECN and BECN only", ["bth byte 4"], unmask("ecn bits")),
    *(
        _head(name, "over IPv4 only", [f"ipv4 {field}"], _over_ipv4(unmask(field)))
        for name, field in (
            ("S01", "ttl"),
            ("S02", "tos"),
            ("S04", "udp checksum"),
            ("S05", "bth byte 4"),
        )
    ),
    _head("S07", "in the IP header only", _IP_MASK, zeros(*_IP_MASK)),
    _head("S32", "the IP length only", ["length"], number("ip length", -_ICRC_BYTES)),
    _head("S32", "the UDP length only", ["length"], number("udp length", -_ICRC_BYTES)),
    _head("S33", "the IP length only", ["length"], zeros("ip length")),
    _head("S33", "the UDP length only", ["length"], zeros("udp length")),
    _head("S34", "it is one higher when the CRC sees it", ["id"], number("id", 1)),
    _head("S35", "seen as zeros", ["fragment"], zeros("fragment")),
    _head(
        "S48",
        "in the IP header only",
        [*_IP_MASK, "ipv6"],
        _ipv4_mask_on_ipv6((1, 8, 10, 11), ip_only=True),
    ),
    _head("S50", "seen as zeros", ["pad count"], zeros("pad count")),
    *(_head(name, "", [*MASKED, "ipv6"], mask.head) for name, mask in mask_pairs()),
)
