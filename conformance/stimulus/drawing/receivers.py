# SPDX-License-Identifier: BSD-2-Clause
"""Draws what a plan of requests works on: queue pairs, memory, receives; and single messages."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from roceproof.conformance.stimulus.drawing.derived import tag, the_rest
from roceproof.conformance.stimulus.drawing.values import Draw
from roceproof.conformance.stimulus.plan import Step
from roceproof.conformance.stimulus.responder.play import ALL_RIGHTS
from roceproof.conformance.targets.capability import Capability
from roceproof.conformance.targets.interface import Claims
from roceproof.verbs.service import Service
from roceproof.verbs.work import Op

_SIZES = (256, 1000, 1024, 2048, 4096)
_LARGEST = 4096
_IPV6 = 0.4
_ANY_MTU = 0.25  # of the queue pairs; others have one of the smaller three
_PEERS = 2
_SERVED = (
    *("SEND", "SEND_IMM", "WRITE", "WRITE_IMM", "READ", "SEND", "WRITE", "READ"),
    *("CMP_SWAP", "FETCH_ADD", "SEND_INV"),
)
_OF_THE_BENCH = (
    *("local_qpn", "remote_qpn", "udp_sport", "traffic_class", "hop_limit", "ip_id"),
    "ack_timeout",
)
"""What a connection draws itself, and a timer of which nothing shows at a responder."""
_HEADER = 40  # bytes in front of a datagram that is received


class DrawnReceivers:
    """A plan in the making."""

    _all = _SERVED
    _taking = ("SEND", "SEND_IMM", "WRITE_IMM", "SEND_INV")
    _touching = ("WRITE", "WRITE_IMM", "READ", "FETCH_ADD", "CMP_SWAP")

    def __init__(self, draw: Draw, claims: Claims) -> None:
        self._draw = draw
        self._claims = claims
        self._steps: list[Step] = []
        self._services: dict[int, str] = {}
        self._mtus: dict[int, int] = {}
        self._tags: dict[tuple[int, int], dict[str, Any]] = {}
        self._regions: dict[int, int] = {}
        """The size of the first region of each queue pair."""

    def _step(self, name: str, **fields: Any) -> None:
        self._steps.append(Step(name, fields))

    # what there is

    def _new(self) -> None:
        draw, key = self._draw, len(self._services)
        often = {Service.RC: 6, Service.UC: 4, Service.UD: 3}
        executing = {each.name: often[each] for each in Service if self._executes_on(each)}
        if not executing:
            return
        service = draw.pick(executing)
        self._services[key] = service
        mtus = self._claims.path_mtus
        self._mtus[key] = draw.among(mtus if draw.aside.random() < _ANY_MTU else mtus[:3])
        said = {**self._version(), **self._fields(key), **self._tag(key, peer=0)}
        inbox = {"is_private": True} if draw.aside.random() < 0.5 else {}
        self._step("connect", key=key, service=service, **inbox, **said)
        self._regions[key] = max(draw.among(_SIZES), 3 * self._mtus[key] + 100)
        self._step("region", key=key, size=self._regions[key])
        for _ in range(draw.tail(0, 4)):
            if draw.maybe(0.2):
                self._step("region", key=key, size=256, is_foreign=True)
            else:
                access = draw.random.sample(ALL_RIGHTS, draw.between(1, 3))
                self._step("region", key=key, size=draw.among(_SIZES), access=sorted(access))
        self._receives(key)

    def _version(self) -> dict[str, bool]:
        """Some peers have an IPv6 address."""
        is_claimed = Capability.IPV6 in self._claims.capabilities
        return {"ipv6": True} if is_claimed and self._draw.aside.random() < _IPV6 else {}

    def _tag(self, key: int, peer: int) -> dict[str, Any]:
        """That of a queue pair and one peer is always the same: an observer counts on it."""
        if (key, peer) not in self._tags:
            self._tags[key, peer] = tag(self._draw, self._claims)
        return self._tags[key, peer]

    def _executes_on(self, service: Service) -> bool:
        executed = self._claims.executed_on(service)
        has_any = executed is None or bool(executed)
        return has_any and Capability[service.name] in self._claims.capabilities

    def _fields(self, key: int) -> dict[str, Any]:
        draw = self._draw
        access = ALL_RIGHTS
        if draw.maybe(0.15):
            access = [right for right in ALL_RIGHTS if draw.maybe(0.6)]
        counts = Capability.MSN_PRESET in self._claims.capabilities
        said = {
            **({"completed_messages": draw.bits(16) << 8} if counts and draw.maybe(0.3) else {}),
            "path_mtu": self._mtus[key],
            "rq_psn": draw.psn(),
            "sq_psn": draw.psn(),
            "min_rnr_timer": draw.bits(5),
            "max_dest_rd_atomic": draw.pick({draw.between(1, 4): 4, 16: 1, 0: 0.3}),
            "access": access,
            **({"qkey": draw.bits(32)} if self._services[key] == "UD" else {}),
        }
        return said | the_rest(draw, self._claims, {*said, *_OF_THE_BENCH})

    def _begin_anew(self, key: int) -> None:
        """What its lives before had goes on in half of those that follow."""
        aside = self._draw.aside
        if aside.random() < 0.5:
            self._mtus[key] = aside.choice(self._claims.path_mtus[:3])
        said = {**self._fields(key), **self._straight()}
        if aside.random() < 0.5:
            peer = aside.randrange(_PEERS)
            said |= {"peer": peer, **self._version(), "vlan": None, **self._tag(key, peer)}
        self._step("connect", key=key, service=self._services[key], **said)
        if self._draw.maybe(0.8):
            self._receives(key)

    def _straight(self) -> dict[str, bool]:
        """Half the lives that follow others begin with no RESET."""
        return {"straight": True} if self._draw.maybe(0.5) else {}

    def _receives(self, key: int) -> None:
        """Some, unless the device executes nothing there that would take one."""
        draw, executed = self._draw, self._claims.executed_on(Service[self._services[key]])
        if executed is not None and executed.isdisjoint(Op[name] for name in self._taking):
            return
        for _ in range(draw.tail(1, 3)):
            many = 3 * self._mtus[key] + draw.between(0, 300)
            if self._services[key] == "UD":  # one that is too small may end in an error or stay
                size = _HEADER + self._mtus[key] + draw.tail(0, 64)
                self._step("receive", key=key, size=size, count=draw.tail(1, 4))
                continue
            size = draw.pick({draw.tail(0, 64): 1, draw.tail(256, 2000): 2, many: 4})
            offset = draw.pick({0: 2, draw.tail(0, 700): 1})
            self._step("receive", key=key, size=size, offset=offset, count=draw.tail(1, 4))

    def _size_of(self, key: int) -> int:
        return self._regions[key]

    # single messages

    def _op(self, key: int, names: Iterable[str]) -> str:
        """One of these that the device executes; now and then any other."""
        executed = self._claims.executed_on(Service[self._services[key]])
        wanted = [*names]
        usual = [name for name in wanted if executed is None or name in {e.name for e in executed}]
        return self._draw.among(usual if usual and self._draw.maybe(0.98) else wanted)

    def _request(
        self, key: int, *, op: str | None = None, size: int | None = None, **fields: Any
    ) -> None:
        draw, mtu = self._draw, self._mtus[key]
        is_datagram = self._services[key] == "UD"
        op = op or self._op(key, ("SEND", "SEND_IMM") if is_datagram else _SERVED)
        if size is None:
            size = self._length(mtu)
            if is_datagram and draw.maybe(0.9):
                size = min(size, mtu)
        size = max(0, min(size, self._size_of(key), _LARGEST))
        if op in ("CMP_SWAP", "FETCH_ADD"):
            size = 8
            fields = {"swap": draw.bits(64), "compare": draw.bits(64), **fields}
            odd = draw.pick({0: 6, 4: 1, draw.between(1, 7): 1})
            fields.setdefault("offset", draw.between(0, self._size_of(key) // 8 - 2) * 8 + odd)
            fields["is_equal"] = draw.maybe(0.5)
            if fields["is_equal"] and op == "CMP_SWAP" and draw.aside.random() < 0.3:
                fields["compare_mask"] = 1 << draw.aside.randrange(64)
        if op == "SEND_INV":
            mask = draw.pick({0: 3, 1 << draw.between(0, 31): 1})
            fields = {"kills": draw.between(0, 7), "kill_mask": mask, **fields}
        if op in self._taking:
            fields = {"immediate": draw.bits(32), "solicited": draw.maybe(0.3), **fields}
        room = self._size_of(key) - size
        fields.setdefault("offset", draw.pick({draw.between(0, room): 4, room: 1, 0: 1}))
        asked = draw.pick({"last": 6, "all": 2, "none": 2})
        self._step("request", key=key, op=op, size=size, ask=asked, **fields)

    def _length(self, mtu: int) -> int:
        draw = self._draw
        beside = draw.between(0, 3) * mtu + draw.between(-5, 5)
        whole = draw.between(1, 3) * mtu
        table = {0: 1, draw.between(1, 9): 3, beside: 3, whole: 1, draw.tail(8, 1200): 2}
        return max(0, draw.pick(table))
