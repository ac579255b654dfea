# SPDX-License-Identifier: BSD-2-Clause
"""The fields of a plan's steps: of queue pairs, of work, of answers."""

from __future__ import annotations

from ipaddress import IPv4Address
from typing import Any

from roceproof.conformance.stimulus.foreign import FOREIGN
from roceproof.conformance.stimulus.pace import STREAMS
from roceproof.conformance.stimulus.values import Draw
from roceproof.conformance.targets.capability import Capability
from roceproof.conformance.targets.interface import Claims
from roceproof.verbs.addresses import Host

Fields = dict[str, Any]

_SPECIAL_QPNS = frozenset((0, 1, 0xFFFFFF))
_OPERATIONS = ("SEND", "SEND_IMM", "WRITE", "WRITE_IMM")
_LARGEST = 1 << 16
_FIRST_NETWORK, _LAST_NETWORK, _LOOPBACK = 1, 223, 127
_ACK = 0x1F
_BEARABLE_STALL = 60  # what a device does when is judged by time where it sends again
_SHORT_RNR_TIMER = 4  # 40 us, where a device keeps it and goes on
_NAKS = (0x60, 0x61, 0x62, 0x63)
_NEIGHBOURS_OF_CODES = (*range(0x40, 0x44), 0x5F, *range(0x64, 0x70), 0x7F, 0x80, 0x9F, 0xE0, 0xE1)
_UP_TO = {"cycles": (1, 60), "short": (50, 600), "middle": (500, 6000), "long": (5000, 60000)}


class DrawnFields:
    """What a device of these claims can be given."""

    def __init__(self, draw: Draw, claims: Claims) -> None:
        self._draw = draw
        self._claims = claims
        self._lanes = (claims.data_width or 64) // 8
        names = [name for name in _OPERATIONS if Capability[name] in claims.capabilities]
        self.operations = names
        self.services = [s for s in ("RC", "UC") if Capability[s] in claims.capabilities]
        self.is_contract = Capability.RESTART in claims.capabilities

    # hosts and queue pairs

    def host(self) -> Host:
        """Any unicast address."""
        draw = self._draw
        mac = draw.bits(48) & ~(1 << 40)
        address = draw.bits(32)
        if not _FIRST_NETWORK <= address >> 24 <= _LAST_NETWORK or address >> 24 == _LOOPBACK:
            address = address & 0xFFFFFF | 10 << 24
        return Host((mac or 2).to_bytes(6, "big"), address.to_bytes(4, "big"))

    def queue_pair(self, context: int, peer: Host, service: str, mtu: int) -> Fields:
        """All that a configuration says; the number's low bits are the context's."""
        draw = self._draw
        fields: Fields = {
            "service": service,
            "path_mtu": mtu,
            "local_qpn": self.local_qpn(context),
            "remote_qpn": self.qpn(),
            "remote_mac": peer.mac.hex(":"),
            "remote_ip": str(IPv4Address(peer.ip)),
            "sq_psn": draw.psn(),
            "udp_sport": 0xC000 | draw.bits(14),
            "traffic_class": draw.bits(8),
            "hop_limit": draw.bits(8) or 64,
            "ip_id": draw.bits(16),
            "ack_timeout": self.timeout() if service == "RC" else 0,
            "retry_count": draw.bits(3),
            "rnr_retry": draw.bits(3),
            "min_rnr_timer": draw.bits(5),
            "rq_psn": draw.bits(24),
        }
        return fields

    def mtu(self) -> int:
        """Any that is claimed."""
        return self._draw.among(self._claims.path_mtus)

    def service(self) -> str:
        """RC or UC, as far as claimed."""
        service = self._draw.one_of("service")
        return service if service in self.services else self.services[0]

    def qpn(self) -> int:
        """Any but the special ones."""
        number = self._draw.bits(24)
        return 0x800000 if number in _SPECIAL_QPNS else number

    def local_qpn(self, context: int) -> int:
        """A number of that context."""
        number = self._draw.bits(24) // self._claims.qps * self._claims.qps + context
        return number ^ 0x400000 if number in _SPECIAL_QPNS else number

    def timeout(self) -> int:
        """A timeout code."""
        draw = self._draw
        match draw.one_of("timeout"):
            case "never":
                return 0
            case "short":
                return draw.between(1, 4)
            case "middle":
                return draw.between(4, 9)
            case _:
                return draw.between(1, 31)

    # work

    def operation(self) -> str:
        """Any that is claimed."""
        name = self._draw.one_of("op")
        return name if name in self.operations else self._draw.among(self.operations)

    def size(self, mtu: int, largest: int) -> int:
        """Bytes of a message, often beside a border."""
        draw = self._draw
        near = draw.between(-3, 4)
        match draw.one_of("size"):
            case "none":
                size = 0
            case "few":
                size = draw.between(1, 9)
            case "beat":
                size = draw.between(1, 12) * self._lanes + draw.between(-2, 2)
            case "mtu":
                size = draw.pick({1: 3, 2: 2, 3: 1}) * mtu + draw.pick({0: 3, near: 3})
            case "many":
                size = draw.tail(2, 20) * mtu + draw.pick({0: 1, near: 3})
            case "large":
                size = draw.between(1, _LARGEST)
            case "largest":
                size = _LARGEST
            case _:
                size = draw.tail(0, 2 * mtu)
        return max(0, min(size, largest))

    def work(self, mtu: int, largest: int) -> Fields:
        """One message."""
        draw = self._draw
        op = self.operation()
        fields: Fields = {"op": op, "size": self.size(mtu, largest), "wr_id": draw.bits(64)}
        if op.startswith("WRITE"):
            fields |= {"remote_addr": draw.bits(64), "rkey": draw.bits(32)}
        if op.endswith("_IMM"):
            fields["immediate"] = draw.bits(32)
        if draw.maybe(0.4):
            fields["solicited"] = True
        if draw.maybe(0.6):
            fields["offset"] = draw.between(0, self._lanes - 1)
        if draw.maybe(0.12):
            fields["fill"] = draw.pick({0: 2, 0xFF: 3, 0x55: 1, 0xA5: 1})
        return fields

    def refused(self, mtu: int) -> Fields:
        """A message that is too long to be one, with some payload all the same."""
        draw = self._draw
        length: int = draw.among([(1 << 31) + 1, 0xFFFFFFFF, 1 << 31 | draw.bits(31) | 1])
        return {**self.work(mtu, 300), "length": length}

    # answers

    def place(self) -> Fields:
        """Which PSN is answered."""
        draw = self._draw
        match draw.one_of("answer"):
            case "newest":
                return {}
            case "oldest":
                return {"oldest": draw.tail(0, 20)}
            case "back":
                return {"back": draw.tail(0, 30)}
            case "ahead":
                return {"ahead": draw.tail(1, 40)}
            case "old":
                return {"back": draw.tail(20, 1 << 22)}
            case _:
                half = 1 << 23
                return {draw.among(["ahead", "back"]): half - draw.tail(0, half - 1)}

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
        timer = draw.between(0, 31) if is_final else draw.between(1, _SHORT_RNR_TIMER)
        return draw.pick({draw.among(_NAKS): 4, 0x20 | timer: 3})

    def answer(self) -> Fields:
        """A response, with what a receiver must not care about."""
        draw = self._draw
        fields: Fields = {**self.place(), "msn": draw.bits(24)}
        fields["syndrome"] = self.syndrome()
        if draw.maybe(0.15):
            fields["count"] = draw.tail(2, 12)
        if draw.maybe(0.3):
            fields |= {"tos": draw.bits(8), "ttl": draw.bits(8) or 1, "ident": draw.bits(16)}
        if draw.maybe(0.2):
            fields["sport"] = draw.bits(16) | 1
        if draw.maybe(0.1):
            fields |= {"fecn": draw.between(0, 1), "becn": draw.between(0, 1)}
        if draw.maybe(0.15):
            fields |= {"resv6": draw.bits(6), "resv7": draw.bits(7)}
        if draw.maybe(0.1):
            fields["trailer"] = draw.tail(1, 140)
        return fields

    def flawed(self) -> Fields:
        """A response that the device must ignore."""
        draw = self._draw
        flaw = draw.one_of("flaw")
        if flaw == "opcode" and not self.is_contract:
            flaw = "icrc"
        near: Fields = {"oldest": draw.tail(0, 6)} if draw.maybe(0.4) else {}
        place = near if draw.maybe(0.7) else self.place()
        fields: Fields = {**place, "flaw": flaw, "bit": draw.between(0, 63)}
        # a completion tells its syndrome, so that a wrong one shows behind a good one
        fields["syndrome"] = self.nak() if draw.maybe(0.3) else draw.between(0, _ACK)
        if draw.maybe(0.3):
            fields["count"] = draw.tail(1, 8)
        return fields

    # all else

    def stalls(self) -> Fields:
        """How much each stream is held back."""
        drawn = {stream: int(self._draw.one_of("stall")) for stream in STREAMS}
        if Capability.RETRANSMISSION in self._claims.capabilities:
            drawn["tx_stall"] = min(drawn["tx_stall"], _BEARABLE_STALL)
        return {stream: percent for stream, percent in drawn.items() if percent}

    def time(self) -> int:
        """Nanoseconds, from a cycle on."""
        return self._draw.between(*_UP_TO[self._draw.one_of("wait")])

    def foreign(self) -> Fields:
        """What concerns nobody."""
        draw = self._draw
        kinds = list(FOREIGN)
        return {
            "kind": draw.among(kinds),
            "size": draw.tail(0, draw.pick({120: 8, 1500: 2, 9000: 1})),
            "count": draw.tail(1, 12),
            **({"damaged": True} if draw.maybe(0.15) else {}),
        }

    def question(self) -> Fields:
        """ARP or ping."""
        draw = self._draw
        asker = self.host()
        fields: Fields = {"mac": asker.mac.hex(":"), "ip": str(IPv4Address(asker.ip))}
        if draw.maybe(0.6):
            fields["size"] = draw.tail(0, draw.pick({70: 6, 1400: 2, 8000: 0.5}))
        if draw.maybe(0.2):
            fields["count"] = draw.between(2, 4)
        if draw.maybe(0.1):
            fields["damaged"] = True
        return fields
