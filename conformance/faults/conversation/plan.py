# SPDX-License-Identifier: BSD-2-Clause
"""Who talks to whom about what: connections and messages drawn from a seed.

Everything that a queue pair keeps for its life (addresses, PSNs, path MTU,
VLAN, MigReq, DSCP, how it acknowledges) is fixed here; when packets leave is
left to the model that plays the plan.
"""

from dataclasses import dataclass, field, replace
from enum import Enum
from random import Random

from roceproof.conformance.wire.psn import PSN_MODULUS
from roceproof.verbs.service import Service

REGION_BYTES = 1 << 16
_LONG_PAUSE_NS = 10_000_000


class Kind(Enum):
    """What a message asks for, with its RC opcodes (FIRST, MIDDLE, LAST, ONLY)."""

    SEND = (0x00, 0x01, 0x02, 0x04)
    SEND_IMM = (0x00, 0x01, 0x03, 0x05)
    SEND_INV = (0x00, 0x01, 0x16, 0x17)
    WRITE = (0x06, 0x07, 0x08, 0x0A)
    WRITE_IMM = (0x06, 0x07, 0x09, 0x0B)
    READ = (0x0C,) * 4
    CMP_SWAP = (0x13,) * 4
    FETCH_ADD = (0x14,) * 4

    @property
    def takes_receive(self) -> bool:
        """Whether the responder needs a posted receive for it."""
        return self in (Kind.SEND, Kind.SEND_IMM, Kind.SEND_INV, Kind.WRITE_IMM)

    @property
    def awaits_data(self) -> bool:
        """Whether it is answered by more than an ACK."""
        return self in (Kind.READ, Kind.CMP_SWAP, Kind.FETCH_ADD)


_ALLOWED = {
    Service.RC: frozenset(Kind),
    Service.UC: frozenset({Kind.SEND, Kind.SEND_IMM, Kind.WRITE, Kind.WRITE_IMM}),
    Service.UD: frozenset({Kind.SEND, Kind.SEND_IMM}),
}


@dataclass(frozen=True, slots=True)
class Station:
    """One port on the wire."""

    mac: bytes
    ipv4: bytes
    ipv6: bytes


@dataclass(frozen=True, slots=True)
class Message:
    """One work request and the pause before it."""

    kind: Kind
    length: int
    payload: bytes
    offset: int
    immediate: int
    solicited: bool
    asks: bool
    pause_ns: int
    hops: int
    operands: tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class End:
    """One end of a queue pair."""

    station: Station
    qpn: int
    start_psn: int
    source_port: int
    migreq: bool
    traffic_class: int
    hops: int
    flow_label: int
    ident: int
    ident_counts: bool
    rkey: int
    region: int
    credit_code: int
    coalesces: bool
    rnr_timer: int
    messages: tuple[Message, ...] = field(repr=False)

    @property
    def queue(self) -> int:
        """Its number, as PSN registers know it."""
        return self.qpn

    @property
    def start(self) -> int:
        """Its first PSN, as they know it."""
        return self.start_psn

    @property
    def dscp(self) -> int:
        """The differentiated services code point of all its packets."""
        return self.traffic_class >> 2


@dataclass(frozen=True, slots=True)
class Connection:
    """Two ends of one service; `start_ns` is when they come up."""

    service: Service
    ip_version: int
    path_mtu: int
    vlans: bytes
    ends: tuple[End, End]
    slot: int = 0  # the same for a connection and those that replace it
    start_ns: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Menu:
    """What the plan may choose from."""

    services: tuple[Service, ...]
    kinds: tuple[Kind, ...]
    ip_versions: tuple[int, ...]
    path_mtus: tuple[int, ...]
    lengths: tuple[int, ...]
    tagged: tuple[bool, ...]
    migreq: tuple[bool, ...]
    ident_counts: tuple[bool, ...]
    start_psns: tuple[int, ...]
    credit_codes: tuple[int, ...]
    coalesces: tuple[bool, ...]
    asks_every: tuple[int, ...]
    rnr_timers: tuple[int, ...]
    pauses_ns: tuple[int, ...]
    connections: int
    messages: tuple[int, int]
    read_back: bool
    reconnects: int
    reconnect_ns: int


class Planner:
    """Draws connections; the same seed and menu give the same plan."""

    def __init__(self, menu: Menu, seed: int) -> None:
        self._menu = menu
        self._seed = seed
        self._random = Random(seed)
        self._qpns = iter(self._random.sample(range(2, 0xFFFFFF), 4096))
        self._ports = iter(self._random.sample(range(0xC000, 0x10000), 4096))
        self.stations = self._station(1), self._station(2)

    def connections(self) -> list[Connection]:
        """All connections of the conversation, reconnections behind the first ones."""
        menu = self._menu
        return [
            self._connection(index, again)
            for again in range(menu.reconnects + 1)
            for index in range(menu.connections)
        ]

    def _station(self, number: int) -> Station:
        draw = self._random.randbytes
        ipv4 = bytes((10, *draw(2), number))
        ipv6 = bytes.fromhex("20010db8") + draw(11) + bytes((number,))
        return Station(b"\x02" + draw(4) + bytes((number,)), ipv4, ipv6)

    def _connection(self, index: int, again: int) -> Connection:
        menu, pick = self._menu, self._random.choice
        service = menu.services[index % len(menu.services)]
        tag = b"\x81\x00" + (pick(range(8)) << 13 | pick(range(1, 4095))).to_bytes(2, "big")
        path_mtu = menu.path_mtus[(index + again + self._seed) % len(menu.path_mtus)]
        version = menu.ip_versions[index // len(menu.services) % len(menu.ip_versions)]
        return Connection(
            service,
            version,
            path_mtu,
            tag if menu.tagged[index // 2 % len(menu.tagged)] else b"",
            (self._end(0, index, service, path_mtu), self._end(1, index, service, path_mtu)),
            index,
            again * menu.reconnect_ns,
        )

    def _end(self, side: int, index: int, service: Service, path_mtu: int) -> End:
        menu, pick = self._menu, self._random.choice
        credit = pick(menu.credit_codes)
        return End(
            station=self.stations[side],
            qpn=next(self._qpns),
            start_psn=self._start_psn(side, index),
            source_port=next(self._ports),
            migreq=menu.migreq[(index + side) % len(menu.migreq)],
            traffic_class=pick(range(64)) << 2 | 2,
            hops=pick(range(1, 256)),
            flow_label=pick(range(1 << 20)),
            ident=pick(range(1 << 16)),
            ident_counts=pick(menu.ident_counts),
            rkey=pick(range(1 << 32)),
            region=pick(range(1 << 32)) << 16,
            credit_code=credit,
            coalesces=pick(menu.coalesces),
            rnr_timer=pick(menu.rnr_timers),
            messages=tuple(self._messages(menu.messages[side], service, path_mtu)),
        )

    def _start_psn(self, side: int, index: int) -> int:
        chosen = self._menu.start_psns
        if side == 0 and chosen:
            return chosen[index % len(chosen)]
        if self._random.random() < 0.3:
            return PSN_MODULUS - self._random.randrange(1, 30)
        return self._random.randrange(PSN_MODULUS)

    def _messages(self, count: int, service: Service, path_mtu: int) -> list[Message]:
        menu, draw = self._menu, self._random
        kinds = [kind for kind in menu.kinds if kind in _ALLOWED[service]]
        if not kinds:
            return []
        every = draw.choice(menu.asks_every)
        pauses = [draw.choice(menu.pauses_ns) for _ in range(count)] + [1]
        made = [
            self._message(
                kinds[number % len(kinds)] if number <= len(kinds) else draw.choice(kinds),
                1 if service is Service.UD else 4,
                path_mtu,
                pauses[number],
                number % every == every - 1 or pauses[number + 1] > 0,
                empty=number == len(kinds) and not menu.lengths,
            )
            for number in range(count)
        ]
        return _reading_back(made) if menu.read_back else made

    def _message(
        self, kind: Kind, most: int, path_mtu: int, pause: int, asks: bool, *, empty: bool
    ) -> Message:
        draw = self._random
        length = 0 if empty else self._length(most, path_mtu)
        if kind in (Kind.CMP_SWAP, Kind.FETCH_ADD):
            length = 8
        offset = draw.randrange((REGION_BYTES - length) // 8) * 8
        if not kind.awaits_data:
            offset = min(offset + draw.randrange(8), REGION_BYTES - length)
        return Message(
            kind,
            length,
            b"" if kind.awaits_data else draw.randbytes(length),
            offset,
            draw.getrandbits(32),
            draw.random() < 0.3,
            asks or kind.awaits_data,
            pause,
            draw.randrange(1, 256),
            (draw.getrandbits(64), draw.getrandbits(64)),
        )

    def _length(self, most: int, path_mtu: int) -> int:
        draw = self._random
        if self._menu.lengths:
            return min(draw.choice(self._menu.lengths), most * path_mtu)
        packets = draw.choice((0, 0, 1, 2, 3))
        near = draw.choice((-3, -2, -1, 0, 1, 2, 3, 4, 5, draw.randrange(path_mtu)))
        return max(0, min(packets * path_mtu + near, most * path_mtu))


def _reading_back(messages: list[Message]) -> list[Message]:
    """Every WRITE followed by a READ of the same bytes, at once or after a while in turn."""
    made = []
    for index, write in enumerate(message for message in messages if message.kind is Kind.WRITE):
        pause_ns = _LONG_PAUSE_NS * (index % 2)
        made += [
            replace(write, asks=True),
            replace(write, kind=Kind.READ, payload=b"", asks=True, pause_ns=pause_ns),
        ]
    return made
