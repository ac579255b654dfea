# SPDX-License-Identifier: BSD-2-Clause
"""The fields of what a plan lets others say: answers, flawed ones, questions, foreign frames."""

from __future__ import annotations

from ipaddress import ip_address
from typing import Any

from roceproof.conformance.stimulus.drawing.values import Draw
from roceproof.conformance.stimulus.requester.answers import BEHIND, DAMAGED, FLAWS
from roceproof.conformance.stimulus.requester.bounds import SHORT_RNR_TIMER, hears_only_acks
from roceproof.conformance.stimulus.requester.foreign import FOREIGN
from roceproof.conformance.targets.capability import Capability
from roceproof.conformance.targets.interface import Claims
from roceproof.conformance.wire.psn import PSN_MODULUS
from roceproof.verbs.addresses import Host

Fields = dict[str, Any]

_FIRST_NETWORK, _LAST_NETWORK, _LOOPBACK = 1, 223, 127
_ACK = 0x1F
_PSN_BITS = 24
_HALF = PSN_MODULUS // 2
_NAKS = (0x60, 0x61, 0x62, 0x63)
_NEIGHBOURS_OF_CODES = (*range(0x40, 0x44), 0x5F, *range(0x64, 0x70), 0x7F, 0x80, 0x9F, 0xE0, 0xE1)
_FLAW_BITS = 192  # variants that a flaw may count, whatever its own number of them
_CORNERS_OF_SUMS = (0x0000, 0x0001, 0x07FF, 0x0800, 0xF7FE, 0xF7FF, 0xF800, 0xFFFE)
_BY_ANOTHER = 0.3
_IPV6, _LINK_LOCAL, _GLOBAL = 0.35, 0xFE80 << 48, 0x20


class DrawnAnswers:
    """What a device of these claims may hear."""

    def __init__(self, draw: Draw, claims: Claims) -> None:
        self._draw = draw
        self._claims = claims
        self.is_contract = Capability.RESTART in claims.capabilities
        self._hears_opcodes = self.is_contract and hears_only_acks(claims)
        self.local = Host(b"", bytes(4))
        """The device's own addresses."""

    def host(self) -> Host:
        draw = self._draw
        mac = draw.bits(48) & ~(1 << 40)
        address = draw.bits(32)
        if not _FIRST_NETWORK <= address >> 24 <= _LAST_NETWORK or address >> 24 == _LOOPBACK:
            address = address & 0xFFFFFF | 10 << 24
        return Host((mac or 2).to_bytes(6, "big"), address.to_bytes(4, "big"))

    def other(self) -> Host:
        """Somebody else, with an IPv6 address now and then if the device speaks that."""
        found, draw = self.host(), self._draw
        if Capability.IPV6 not in self._claims.capabilities or not draw.maybe(_IPV6):
            return found
        prefix = draw.among([_LINK_LOCAL, _GLOBAL << 56 | draw.bits(56)])
        return found._replace(ip=(prefix << 64 | draw.bits(64)).to_bytes(16, "big"))

    def place(self, kind: str | None = None) -> Fields:
        draw = self._draw
        match kind or draw.one_of("answer"):
            case "newest":
                return {}
            case "oldest":
                return {"oldest": draw.tail(0, 20)}
            case "share":
                return {"share": draw.between(0, 1000)}
            case "flip":
                return {"share": draw.between(0, 1000), "flip": draw.between(0, _PSN_BITS - 1)}
            case "back":
                return {"back": draw.tail(0, 30)}
            case "ahead":
                return {"ahead": draw.tail(1, 40)}
            case "old":
                return {"back": draw.tail(20, 1 << 22)}
            case "half":
                return {"oldest": _HALF + draw.between(-2, 1)}
            case _:
                return {draw.among(["ahead", "back"]): _HALF - draw.tail(0, _HALF - 1)}

    def syndrome(self) -> int:
        """One that acknowledges, or a reserved one."""
        draw = self._draw
        reserved = draw.pick(
            {draw.among(_NEIGHBOURS_OF_CODES): 1, draw.between(0x80, 0xFF): 1, 0x64: 0.1}
        )
        found: int = draw.pick({_ACK: 1, draw.between(0, _ACK): 9, reserved: 2})
        return found

    def nak(self) -> int:
        """One that fails the queue pair, where nothing is sent again."""
        draw = self._draw
        is_final = Capability.RETRANSMISSION not in self._claims.capabilities
        timer = draw.between(0, 31) if is_final else draw.between(1, SHORT_RNR_TIMER)
        return draw.pick({draw.among(_NAKS): 4, 0x20 | timer: 3})

    def answer(self) -> Fields:
        """Of a response, what a receiver must not care about, and its code."""
        draw = self._draw
        fields: Fields = {"msn": draw.bits(24)}
        fields["syndrome"] = self.syndrome()
        if draw.maybe(0.15):
            fields["count"] = draw.tail(2, draw.pick({12: 12, 150: 1}))
        if draw.maybe(0.3):
            fields |= {"tos": draw.bits(8), "ttl": draw.bits(8) or 1, "ident": draw.bits(16)}
        if draw.maybe(0.1):
            fields["brink"] = draw.between(-6, 6)
        if draw.maybe(0.2):
            fields["sport"] = draw.bits(16) | 1
        if draw.maybe(0.1):
            fields |= {"fecn": draw.between(0, 1), "becn": draw.between(0, 1)}
        if draw.maybe(0.15):
            fields |= {"resv6": draw.bits(6), "resv7": draw.bits(7)}
        if draw.maybe(0.1):
            fields["trailer"] = draw.tail(1, 140)
        if draw.maybe(0.1):
            fields |= {"fragment": 0, "pkey": 0x7FFF, "a": draw.between(0, 1)}
        return fields

    def flawed(self) -> Fields:
        """A response that the device must ignore."""
        draw = self._draw
        near: Fields = {"oldest": draw.tail(0, 6)} if draw.maybe(0.4) else {}
        place = near if draw.maybe(0.7) else self.place()
        fields: Fields = {**place, "flaw": self._flaw(), "bit": draw.between(0, _FLAW_BITS - 1)}
        # a completion tells its syndrome, so that a wrong one shows behind a good one
        fields["syndrome"] = self.nak() if draw.maybe(0.3) else draw.between(0, _ACK)
        if draw.maybe(0.3):
            fields["count"] = draw.tail(1, 8)
        return fields

    def beside_data(self) -> Fields:
        """Of a response with data, what a receiver must not care about."""
        draw = self._draw
        fields: Fields = {"syndrome": draw.between(0, _ACK)} if draw.maybe(0.7) else {}
        if draw.maybe(0.3):
            fields |= {"msn": draw.bits(24)}
        if draw.maybe(0.2):
            fields |= {"tos": draw.bits(8), "ttl": draw.bits(8) or 1, "ident": draw.bits(16)}
        if draw.maybe(0.15):
            fields |= {"resv6": draw.bits(6), "resv7": draw.bits(7), "sport": draw.bits(16) | 1}
        return fields

    def flaw_of_data(self) -> Fields:
        """What makes the device ignore a response with data."""
        draw = self._draw
        return {"flaw": draw.among(_FLAWS_OF_DATA), "bit": draw.between(0, _FLAW_BITS - 1)}

    def salvo(self) -> Fields:
        """Many of them, each flawed in its own way, some only late; perhaps cycles apart."""
        draw = self._draw
        flaws = [
            (BEHIND if draw.maybe(0.2) else self._flaw(), draw.between(0, _FLAW_BITS - 1))
            for _ in range(draw.between(8, 48))
        ]
        syndrome = self.nak() if draw.maybe(0.2) else draw.between(0, _ACK)
        fields: Fields = {"flaws": flaws, "oldest": draw.tail(0, 2), "syndrome": syndrome}
        if draw.maybe(0.3):
            fields["apart"] = draw.pick({draw.between(45, 90): 2, draw.between(90, 300): 1})
        return fields

    def _flaw(self) -> str:
        """By weight, or any, of those that can be."""
        flaw = (
            self._draw.one_of("flaw") if self._draw.maybe(0.5) else self._draw.among(_ALWAYS_WRONG)
        )
        return flaw if self._hears_opcodes or flaw not in _OF_TRANSMITTERS else "icrc"

    def foreign(self) -> Fields:
        draw = self._draw
        return {
            "kind": draw.among([*FOREIGN]),
            "size": draw.tail(0, draw.pick({120: 8, 1500: 2, 9000: 1})),
            "count": draw.tail(1, 12),
            **({"damaged": True} if draw.maybe(0.15) else {}),
        }

    def question(self) -> Fields:
        draw = self._draw
        asker = self.other()
        fields: Fields = {"mac": asker.mac.hex(":"), "ip": str(ip_address(asker.ip))}
        if draw.maybe(0.35):
            fields |= {
                "unicast": draw.between(0, 1),
                "trailer": draw.pick({0: 1, draw.tail(1, 140): 1}),
            }
            if draw.aside.random() < _BY_ANOTHER:
                fields["via"] = 1 << draw.aside.randrange(40)
        else:
            sizes = {draw.tail(0, 70): 6, draw.between(0, 1472): 2, draw.between(8000, 8972): 0.4}
            fields |= {"size": draw.pick(sizes), **self._echo()}
        if draw.maybe(0.2):
            fields["count"] = draw.pick({draw.between(2, 4): 4, draw.tail(4, 40): 1})
            if draw.maybe(0.5):
                fields["apart"] = draw.between(20, 1500)
        if draw.maybe(0.1):
            fields["damaged"] = True
        return fields

    def _echo(self) -> Fields:
        """What an echo request may say besides."""
        draw = self._draw
        fields: Fields = {}
        if draw.maybe(0.5):
            fields |= {"ttl": draw.bits(8) or 1, "tos": draw.bits(8), "ident": draw.bits(16)}
        if draw.maybe(0.3):
            fields["echo_id"] = draw.bits(16)
        if draw.maybe(0.3):
            fields["total"] = draw.among(_CORNERS_OF_SUMS)
        if draw.maybe(0.3):
            fields["flags"] = 0x4000
        if draw.maybe(0.1):
            fields["fill"] = draw.among((0, 0xFF))
        if draw.maybe(0.15):
            fields["trailer"] = draw.tail(1, 140)
        return fields


_OF_TRANSMITTERS = frozenset(["opcode"])  # others may be asked so, or be answered with data
_FLAWS_OF_DATA = (
    *("icrc", "covered", "payload", "checksum", "header", "version", "protocol", "ether"),
    *("stranger", "stranger", "dst_ip", "dst_mac", "alias", "alias", "port", "tver", "pkey"),
    *("fragment", BEHIND, DAMAGED),
)
"""What is wrong with a response whatever it would have been the answer to."""
_ALWAYS_WRONG = tuple(flaw for flaw in FLAWS if flaw != BEHIND)
