# SPDX-License-Identifier: BSD-2-Clause
"""What frames that a device was sent have in their headers, and what some have and no other has.

A fact is a number or a word. It is told if nearly all frames that went wrong have the same, or have
one of its bits alike, and none of the others has.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple

from roceproof.conformance.wire.codec import Packet
from roceproof.conformance.wire.ip import Ipv4
from roceproof.conformance.wire.opcodes import OPCODES, Family, Position

Row = list[int | str | None]
"""The facts of a frame, in their order; None where it has no such header."""
AROUND = ("ETH-", "IP-", "UDP-", "VLAN-", "GID-", "BTH-", "CNP-", "CM-", "PSN-19")
"""Rules of what is around a message: nothing else follows from them, nor they from anything."""
_IP_AT, _IP_BYTES, _PAGE = 14, 20, 4096
_NEARLY_ALL = 0.8


RNR, GAP, REPEATED = "an RNR NAK", "a sequence NAK", "a duplicate"


class InFront(NamedTuple):
    """What a request has in front of it on its queue pair."""

    packet: Packet | None = None
    """The one before it in sequence."""
    event: str | None = None
    """What came last of what takes no PSN, and came behind that packet."""
    path_mtu: int = 0
    """That of the queue pair; 0 where nobody knows."""


NOTHING = InFront()


class _Fact(NamedTuple):
    """Something that a frame has, in words that stand behind "have", and the rule about it."""

    of: Callable[[bytes, Packet, InFront], int | str | None]
    words: str
    rule: str = ""
    name: str = ""
    """What it is called if its bits are looked at, so many of them."""
    bits: int = 0
    may_be_alone: bool = False
    """Whether a device may heed nothing but one value of it."""


def _header(frame: bytes, packet: Packet) -> bytes:
    at = _IP_AT + len(packet.vlans)
    return frame[at : at + _IP_BYTES] if isinstance(packet.ip, Ipv4) else b""


def _carries(frame: bytes, packet: Packet, _: InFront) -> int | None:
    header = _header(frame, packet)
    if not header:
        return None
    return sum(int.from_bytes(header[at : at + 2], "big") for at in range(0, _IP_BYTES, 2)) >> 16


def _traffic_class(packet: Packet) -> int:
    return packet.ip.tos if isinstance(packet.ip, Ipv4) else packet.ip.traffic_class


def _hops(packet: Packet) -> int:
    return packet.ip.ttl if isinstance(packet.ip, Ipv4) else packet.ip.hop_limit


def _crosses(_: bytes, packet: Packet, __: InFront) -> str | None:
    reth = packet.reth
    if reth is None or not reth.length:
        return None
    ends = reth.address % _PAGE + reth.length
    return "crosses" if ends > _PAGE else "stays within"


def _asks(_: bytes, packet: Packet, __: InFront) -> str:
    place = "at the end of" if Position.LAST in OPCODES[packet.bth.opcode].position else "amid"
    return f"{int(packet.bth.ack_req)} {place} a message"


def _in_front(_: bytes, packet: Packet, before: InFront) -> str | None:
    other = before.packet
    if other is None or other.bth.psn == packet.bth.psn:
        return None
    part = "the end" if Position.LAST in OPCODES[other.bth.opcode].position else "a part"
    return f"{part} of a message that asks for {'an' if other.bth.ack_req else 'no'} answer"


def _read_in_front(_: bytes, __: Packet, before: InFront) -> str | None:
    """How much the READ right in front asks for, which says how many PSNs it takes."""
    other = before.packet
    if other is None or OPCODES[other.bth.opcode].family is not Family.READ:
        return None
    if not before.path_mtu or other.reth is None:
        return None
    if not other.reth.length:
        return "no bytes"
    return "part of a path MTU" if other.reth.length % before.path_mtu else "whole path MTUs"


def _carry(_: bytes, packet: Packet, before: InFront) -> int | None:
    """The highest bit of a PSN that is not as in the one before it."""
    if before.packet is None or before.packet.bth.psn == packet.bth.psn:
        return None
    return (before.packet.bth.psn ^ packet.bth.psn).bit_length() - 1


def _fills(_: bytes, packet: Packet, before: InFront) -> str | None:
    """Of a packet that ends a message: how its payload compares with the path MTU."""
    if not before.path_mtu or Position.LAST not in OPCODES[packet.bth.opcode].position:
        return None
    return "exactly one path MTU" if len(packet.payload) == before.path_mtu else "less"


def _behind(event: str, rule: str = "") -> _Fact:
    return _Fact(
        lambda _, __, before: event if before.event == event else None, "{} in front", rule
    )


FACTS = (
    _Fact(_carries, "an IPv4 header whose sum carries {} times", "IP-11"),
    _Fact(
        lambda f, p, _: int.from_bytes(h[10:12], "big") if (h := _header(f, p)) else None,
        "the IPv4 header checksum {:#06x}",
        "IP-11",
        name="the IPv4 header checksum",
        bits=16,
    ),
    _Fact(lambda _, p, __: _hops(p), "a TTL of {}", "IP-09"),
    _Fact(lambda _, p, __: _traffic_class(p) & 3, "the ECN bits {:02b}", "IP-09"),
    _Fact(lambda _, p, __: _traffic_class(p) >> 2, "DSCP {}", "IP-09"),
    _Fact(lambda _, p, __: p.udp_sport >> 14, "a UDP source port from {} x 16,384 on", "UDP-07"),
    _Fact(lambda _, p, __: "bytes" if p.trailer else None, "{} behind the ICRC", "ETH-03"),
    _Fact(lambda _, p, __: len(p.trailer), "{} bytes behind the ICRC", "ETH-03"),
    _Fact(lambda _, p, __: len(p.vlans) // 4, "{} VLAN tags", "VLAN-03"),
    _Fact(lambda _, p, __: int(p.bth.migreq), "MigReq {}", "BTH-15"),
    _Fact(lambda _, p, __: p.bth.pkey >> 15, "a P_Key with top bit {}", "BTH-07"),
    _Fact(lambda _, p, __: int(p.bth.fecn), "FECN {}", "BTH-09"),
    _Fact(lambda _, p, __: int(p.bth.becn), "BECN {}", "BTH-09"),
    _Fact(lambda _, p, __: int(p.bth.solicited), "Solicited Event {}"),
    _Fact(lambda _, p, __: int(p.bth.ack_req), "AckReq {}"),
    _Fact(_asks, "AckReq {}", "ACK-01"),
    _Fact(
        lambda _, p, __: p.aeth.syndrome if p.aeth else None,
        "the syndrome {:#04x}",
        "AETH-04",
        may_be_alone=True,
    ),
    _Fact(_read_in_front, "a READ of {} in front", "PSN-05"),
    _behind(RNR, "RNR-09"),
    _behind(GAP),
    _behind(REPEATED),
    _Fact(_in_front, "{} in front", "OPC-07"),
    _Fact(_carry, "a PSN that a carry into bit {} has made", "PSN-15"),
    _Fact(_fills, "{} of payload in the packet that ends their message", "MTU-06"),
    _Fact(lambda _, p, __: OPCODES[p.bth.opcode].name, "the opcode {}"),
    _Fact(_crosses, "a range that {} 4 KiB"),
    _Fact(
        lambda _, p, __: p.reth.length if p.reth else None, "a DMALen of {}", name="DMALen", bits=32
    ),
    _Fact(
        lambda _, p, __: p.reth.address if p.reth else None,
        "the address {:#x}",
        name="the address",
        bits=64,
    ),
    _Fact(lambda _, p, __: p.bth.pad_count, "{} pad bytes"),
    _Fact(lambda _, p, __: len(p.payload), "{} bytes of payload"),
    _Fact(lambda _, p, __: p.bth.psn, "the PSN {:#x}", "PSN-16", name="the PSN", bits=24),
    _Fact(lambda _, p, __: p.bth.dest_qpn, "the QPN {:#x}", "BTH-11", name="the QPN", bits=24),
)


def row_of(frame: bytes, packet: Packet, before: InFront = NOTHING) -> Row:
    """The facts of a frame, which is this packet, behind what is in front of it."""
    return [fact.of(frame, packet, before) for fact in FACTS]


def is_row(row: Row) -> bool:
    """Whether it has all facts, and numbers where those are told as numbers."""
    return len(row) == len(FACTS) and all(
        not isinstance(value, str) or not (fact.bits or "{:" in fact.words)
        for fact, value in zip(FACTS, row, strict=True)
    )


class Alone(NamedTuple):
    """A fact, or a bit of it, that some frames have and no other has."""

    words: str
    rule: str
    place: int
    value: int | str
    bit: int | None = None
    is_other: bool = False
    """It is that they have any other value."""

    def is_in(self, row: Row) -> bool:
        """Whether that frame has it, too."""
        value = row[self.place]
        if self.is_other:
            return value not in (None, self.value)
        return self.value == (value if self.bit is None else _bit(value, self.bit))


def alone(wrong: Sequence[Row], right: Sequence[Row]) -> Alone | None:
    """The first fact that nearly all the wrong have, and none of the right."""
    for place, fact in enumerate(FACTS):
        bad, good = ([row[place] for row in rows] for rows in (wrong, right))
        if (value := _apart(bad, good)) is not None:
            return Alone(fact.words.format(value), fact.rule, place, value)
        if fact.may_be_alone and (value := _one_of_all(good, bad)) is not None:
            words = f"another value than {fact.words.format(value)}"
            return Alone(words, fact.rule, place, value, is_other=True)
        for bit in range(fact.bits):
            bad_bits, good_bits = ([_bit(number, bit) for number in each] for each in (bad, good))
            if (value := _apart(bad_bits, good_bits)) is not None:
                return Alone(f"bit {bit} of {fact.name} at {value}", fact.rule, place, value, bit)
    return None


def _apart(bad: Sequence[int | str | None], good: Sequence[int | str | None]) -> int | str | None:
    """What nearly all of the ones have, and none of the others."""
    value, count = Counter(bad).most_common(1)[0]
    return value if count >= _NEARLY_ALL * len(bad) and value not in good else None


def _one_of_all(
    good: Sequence[int | str | None], bad: Sequence[int | str | None]
) -> int | str | None:
    """The one value that all of the ones have, and none of the others."""
    values = {*good}
    return values.pop() if len(values) == 1 and not values & {*bad, None} else None


def _bit(number: int | str | None, bit: int) -> int | None:
    return number >> bit & 1 if isinstance(number, int) else None
