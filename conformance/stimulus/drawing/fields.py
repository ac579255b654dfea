# SPDX-License-Identifier: BSD-2-Clause
"""The fields of a plan's steps: of queue pairs, of work, of answers."""

from __future__ import annotations

from ipaddress import ip_address

from roceproof.conformance.model.segmentation import AWAIT_DATA
from roceproof.conformance.stimulus.drawing.answers import DrawnAnswers, Fields
from roceproof.conformance.stimulus.drawing.derived import tag, the_rest
from roceproof.conformance.stimulus.drawing.values import Draw
from roceproof.conformance.stimulus.requester.bounds import may_post
from roceproof.conformance.stimulus.requester.pace import STREAMS
from roceproof.conformance.targets.capability import Capability
from roceproof.conformance.targets.interface import Claims
from roceproof.verbs.addresses import Host
from roceproof.verbs.service import Service
from roceproof.verbs.work import Op

SPECIAL_QPNS = frozenset((0, 1, 0xFFFFFF))
_OPERATIONS = ("SEND", "SEND_IMM", "WRITE", "WRITE_IMM")
_LARGEST, _ENDLESS = 1 << 16, 1 << 18
_TURNING_SUM = 0.15
_BY_CREDITS = 0.25
_DEEPEST = 16
"""READs and atomics at once, which any device of a host has."""
_BEARABLE_STALL = 60  # what a device does when is judged by time where it sends again
_UP_TO = {"cycles": (1, 60), "short": (50, 600), "middle": (500, 6000), "long": (5000, 60000)}


def drawn_operations(claims: Claims) -> list[str]:
    """The messages that a device sends on RC or UC: with payload, or else READs and atomics."""
    connected = [Service[name] for name in ("RC", "UC") if Capability[name] in claims.capabilities]
    return _sent_on(claims, *connected) or returned_operations(claims)


def _sent_on(claims: Claims, *services: Service) -> list[str]:
    """The messages with payload that a device sends on any of these services."""
    return [
        name
        for name in _OPERATIONS
        if any(may_post(claims, each, Op[name], is_beyond=False) for each in services)
    ]


def returned_operations(claims: Claims) -> list[str]:
    """The work of a device that is answered with data."""
    return [op.name for op in AWAIT_DATA if may_post(claims, Service.RC, op, is_beyond=False)]


class DrawnFields(DrawnAnswers):
    """What a device of these claims can be given."""

    def __init__(self, draw: Draw, claims: Claims) -> None:
        super().__init__(draw, claims)
        self.timers = "timeout"
        """The table of weights for timeout codes."""
        self.lanes = (claims.data_width or 64) // 8
        self.operations = drawn_operations(claims)
        self.returns = returned_operations(claims)
        self.services = [s for s in ("RC", "UC") if Capability[s] in claims.capabilities]
        judged = {Capability.CREDITS, Capability.RETRANSMISSION}
        self._obeys_credits = judged <= claims.capabilities
        has_datagrams = {Capability.UD, Capability.LOCKSTEP} <= claims.capabilities
        if has_datagrams and _sent_on(claims, Service.UD):
            self.services.append("UD")

    # queue pairs

    def queue_pair(self, context: int, peer: Host, service: str, mtu: int) -> Fields:
        """All that a configuration says; the number's low bits are the context's."""
        draw = self._draw
        fields: Fields = {
            "service": service,
            "path_mtu": mtu,
            "local_qpn": self.local_qpn(context),
            "remote_qpn": self.qpn(),
            "remote_mac": peer.mac.hex(":"),
            "remote_ip": str(ip_address(peer.ip)),
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
        if service == "UD":
            fields["qkey"] = draw.bits(32)
        if self.returns and service == "RC":
            several, most = draw.between(3, 8), 255 if self.is_contract else _DEEPEST
            fields["max_rd_atomic"] = draw.pick(
                {1: 4, 2: 3, several: 3, _DEEPEST: 1.5, draw.between(1, most): 0.5}
            )
        if service == "RC" and self._obeys_credits and draw.aside.random() < _BY_CREDITS:
            fields["flow_control"] = True
        if draw.maybe(_TURNING_SUM) and len(peer.ip) == len(self.local.ip):
            fields["ip_id"] = self._turning(peer, fields)
        return fields | the_rest(draw, self._claims, fields) | tag(draw, self._claims)

    def _turning(self, peer: Host, fields: Fields) -> int:
        """An identification a little before the sum of a small packet's header turns over."""
        words = (0x4500 | fields["traffic_class"], 0x4000, fields["hop_limit"] << 8 | 17)
        ends = self.local.ip + peer.ip
        total = sum(words) + sum(int.from_bytes(ends[at : at + 2], "big") for at in range(0, 8, 2))
        small: int = self._draw.between(44, 64)
        return (-total - small - self._draw.tail(0, 60)) % (1 << 16)

    def mtu(self) -> int:
        return self._draw.among(self._claims.path_mtus)

    def service(self) -> str:
        """As far as claimed."""
        service = self._draw.one_of("service")
        return service if service in self.services else self.services[0]

    def qpn(self) -> int:
        """Any but the special ones."""
        number = self._draw.bits(24)
        return 0x800000 if number in SPECIAL_QPNS else number

    def local_qpn(self, context: int) -> int:
        """A number of that context."""
        contexts = self._claims.qps
        number = self._draw.bits(24) // contexts * contexts + context
        is_none = number in SPECIAL_QPNS or number >= 1 << 24
        return (1 << 22) // contexts * contexts + context if is_none else number

    def timeout(self) -> int:
        draw = self._draw
        match draw.one_of(self.timers):
            case "never":
                return 0
            case "soonest":
                return draw.between(1, 2)
            case "short":
                return draw.between(1, 4)
            case "middle":
                return draw.between(4, 9)
            case _:
                return draw.between(1, 31)

    # work

    def operation(self) -> str:
        name = self._draw.one_of("op")
        return name if name in self.operations else self._draw.among(self.operations)

    def size(self, mtu: int, largest: int) -> int:
        """Bytes of a message, often beside a border."""
        draw = self._draw
        near = draw.pick({draw.between(-3, 4): 2, draw.between(-self.lanes, self.lanes): 1})
        match draw.one_of("size"):
            case "none":
                size = 0
            case "few":
                size = draw.between(1, 9)
            case "beat":
                size = draw.between(1, 12) * self.lanes + draw.between(-2, 2)
            case "mtu":
                size = draw.pick({1: 3, 2: 2, 3: 1}) * mtu + draw.pick({0: 2, near: 4})
            case "many":
                end = draw.between(1, mtu)
                size = draw.tail(2, 20) * mtu + draw.pick({0: 1, near: 3, end: 1})
            case "large":
                size = draw.between(1, _LARGEST)
            case "largest":
                size = _LARGEST
            case _:
                size = draw.tail(0, 2 * mtu)
        return max(0, min(size, largest))

    def work(self, mtu: int, largest: int) -> Fields:
        draw = self._draw
        op = self.operation()
        fields: Fields = {"op": op, "size": self.size(mtu, largest), "wr_id": draw.bits(64)}
        if op.startswith("WRITE"):
            fields["remote_addr"] = draw.bits(64)
        if op.startswith("WRITE") or "UD" in self.services:
            fields["rkey"] = draw.bits(32)
        if op.endswith("_IMM"):
            fields["immediate"] = draw.bits(32)
        if draw.maybe(0.4):
            fields["solicited"] = True
        if draw.maybe(0.6):
            fields["offset"] = draw.between(0, self.lanes - 1)
        if draw.maybe(0.12):
            fields["fill"] = draw.pick({0: 2, 0xFF: 3, 0x55: 1, 0xA5: 1})
        return fields

    def returned(self, mtu: int, largest: int) -> Fields:
        """A READ or an atomic, whose answer goes to any byte of one of some regions."""
        draw = self._draw
        op = draw.pick({name: 4 if name == "READ" else 1 for name in self.returns})
        fields: Fields = {"op": op, "wr_id": draw.random.getrandbits(64), "rkey": draw.bits(32)}
        if op == "READ":
            several = draw.tail(2, 9) * mtu - draw.between(0, mtu - 1)
            size = self.size(mtu, largest) if draw.maybe(0.6) else min(several, largest)
            fields |= {"size": size, "remote_addr": draw.bits(64)}
        else:
            fields |= {"remote_addr": draw.bits(64) & ~7, "swap": draw.bits(64)}
            fields |= {"compare": draw.bits(64)} if op == "CMP_SWAP" else {}
        if draw.maybe(0.6):
            fields["offset"] = draw.between(0, self.lanes - 1)
        if draw.maybe(0.4):
            fields["into"] = draw.between(1, 3)
        return fields

    def endless(self) -> Fields:
        """A message of which no simulation sees the end: any bit of its length may be set."""
        length = self._draw.pick(
            {
                1 << self._draw.between(18, 30) | self._draw.bits(18): 4,
                self._draw.bits(31): 2,
                1 << 31: 0.3,
            }
        )
        work = self.work(256, 0)
        fields = {name: value for name, value in work.items() if name not in ("size", "fill")}
        return {**fields, "length": max(_ENDLESS, length), "frames": self._draw.tail(1, 12)}

    def refused(self, mtu: int) -> Fields:
        """A message that is too long to be one, with some payload all the same."""
        draw = self._draw
        length: int = draw.among([(1 << 31) + 1, 0xFFFFFFFF, 1 << 31 | draw.bits(31) | 1])
        return {**self.work(mtu, 300), "length": length}

    # all else

    def stalls(self) -> Fields:
        """How much each stream is held back."""
        drawn = {stream: int(self._draw.one_of("stall")) for stream in STREAMS}
        return self.held(**{stream: percent for stream, percent in drawn.items() if percent})

    def held(self, **percent: int) -> Fields:
        """The same, as far as the device can bear it."""
        if Capability.RETRANSMISSION in self._claims.capabilities:
            for stream in ("tx_stall", "payload_gap"):  # which hold a frame that has begun
                if stream in percent:
                    percent[stream] = min(percent[stream], _BEARABLE_STALL)
        return dict(percent)

    def time(self) -> int:
        """Nanoseconds, from a cycle on."""
        return self._draw.between(*_UP_TO[self._draw.one_of("wait")])
