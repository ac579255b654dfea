# SPDX-License-Identifier: BSD-2-Clause
"""A queue pair of a play: its number, its judge and the codec of its far side."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import Any

from roceproof.conformance.stimulus.requester.data_responses import DataResponse
from roceproof.conformance.stimulus.requester.incarnation import Life
from roceproof.conformance.stimulus.requester.retry_checker import Judge
from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.expect.wrong_psn import rule_of_psn
from roceproof.conformance.suite.flow_codec import FlowCodec
from roceproof.conformance.targets.capability import Capability
from roceproof.conformance.wire.psn import PSN_MODULUS, distance
from roceproof.verbs.addresses import parse_mac
from roceproof.verbs.limit_table import ONCE
from roceproof.verbs.queue_pair import Qp, QpSpec
from roceproof.verbs.service import Service
from roceproof.verbs.work import Work

_FIRST_LOCAL_QPN, _FIRST_REMOTE_QPN = 0x11, 0x101
_DYNAMIC_PORTS, _OF_PORTS = 0xC000, 0x3FFF
_UNTOLD = frozenset(("remote_mac", "remote_ip", "local_qpn"))
"""What a host has its own ideas of, who has neighbours and numbers queue pairs."""


@dataclass
class QueuePair:
    """One of the device's, active or not."""

    qp: Qp
    judge: Judge
    life: Life
    serve_every: int = 0
    is_unclear: bool = False
    """It was configured amid its traffic: from its frames alone nobody can tell its lives apart."""
    is_refused: bool = False
    """It was given a NAK, at whatever place, or configured amid its traffic."""
    is_settled: bool = False
    """Whatever it was given has taken effect."""
    unserved: int = 0
    """Messages that have ended and are not answered yet."""
    open: list[tuple[int, int]] = field(default_factory=list)
    """Number and PSNs of the work that was posted in this life and has not completed."""
    in_life: list[Work | None] = field(default_factory=list)
    """All work of this life, None for what is refused."""
    lives_before: int = 0
    first: dict[str, int] = field(default_factory=dict)
    """What the first work of all said, of that which a queue pair may have one value of."""

    returns: dict[int, Work] = field(default_factory=dict)
    """Work whose data must be in memory when it completes, by its number."""
    sent: list[DataResponse] = field(default_factory=list)
    """Responses with data that the far side has sent in this life, in order."""
    due_psn: int | None = None
    """Of the response with data that the far side sends next, if that is not the first awaited."""
    _numbers: set[int] = field(default_factory=set)
    _is_vague: bool = False
    """Nobody knows in which of its lives it is, until all is at rest."""

    @property
    def codec(self) -> FlowCodec:
        """From the far side to the device, its PSNs absolute."""
        spec = self.life.spec
        return FlowCodec(
            src=spec.remote,
            dst=self.life.host,
            dest_qpn=self.qp.qpn,
            src_qpn=spec.remote_qpn,
            service=int(spec.service),
            sport=_DYNAMIC_PORTS | spec.remote_qpn & _OF_PORTS,
            vlan=spec.vlan,
        )

    @property
    def is_reliable(self) -> bool:
        """Whether anything is answered at all."""
        return self.life.spec.service is Service.RC

    @property
    def may_fail(self) -> bool:
        """Whether anything may have ended its work but its completion."""
        return self.is_refused or self.life.spec.ack_timeout != 0

    @property
    def asks_data(self) -> bool:
        """Whether any of its work in this life is a READ or an atomic."""
        return any(work is not None and work.into is not None for work in self.in_life)

    def posted(self, work: Work) -> None:
        self.open.append((work.wr_id, self.life.span(work)))
        self.in_life.append(None if self.life.refusal(work) else work)
        self.first = self.first or {name: getattr(work, name) for name in ONCE}
        if work.wr_id in self._numbers or self._is_vague:
            self.returns.pop(work.wr_id, None)  # nobody could tell which of them it is
        elif work.into is not None:
            self.returns[work.wr_id] = work
        self._numbers.add(work.wr_id)
        self.judge.posted(work)

    def rule_of_psn(self, *, want: int, got: int, others: Collection[int]) -> str:
        """The rule that a packet breaks which has not the PSN that it wants, if that is known."""
        psn = start = self.life.spec.sq_psn
        for number, work in enumerate(self.in_life):
            if work is None:
                continue
            if psn == want:
                return rule_of_psn(
                    self.in_life[:number],
                    want=want,
                    got=got,
                    start=start,
                    lives=1 + self.lives_before,
                    others=others,
                )
            psn = (psn + self.life.span(work)) % PSN_MODULUS
        return ""

    def completed(self, wr_id: int) -> list[int]:
        """Forget the work; the numbers of that which is open in front of it, if it is open."""
        numbers = [number for number, _ in self.open]
        if wr_id not in numbers:
            return []
        place = numbers.index(wr_id)
        del self.open[place]
        return numbers[:place]

    def asked(self, psn: int) -> None:
        """A READ or an atomic has left; its answer begins there, though more was answered."""
        if self.due_psn is not None and distance(psn, self.due_psn) < 0:
            self.due_psn = psn

    def settled(self) -> None:
        """All is at rest."""
        self.is_settled, self._is_vague = True, False

    def lives(self, life: Life, qp: Qp) -> None:
        """The queue pair has been configured again."""
        is_amid = bool(self.judge.owed())
        self._is_vague |= is_amid
        if is_amid:
            self.returns.clear()
        self.sent.clear()
        self.due_psn = None
        self.is_unclear |= is_amid
        self.is_refused = is_amid or (self.is_refused and not self.is_settled)
        self.life, self.qp = life, qp
        self.open.clear()
        self.in_life.clear()
        self.lives_before += 1
        self.judge.configured(life)


def _usual_service(bench: Bench) -> str:
    """RC, which devices have that have anything, but for those that only have UC."""
    return "RC" if Capability.RC in bench.claims.capabilities else "UC"


def spec_of(bench: Bench, key: int, fields: dict[str, Any]) -> QpSpec:
    """The spec of a plan's queue pair; what is not said is the same in all plans."""
    known = dict(fields)
    is_told = Capability.LOCKSTEP in bench.claims.capabilities
    if not is_told:
        known = {name: value for name, value in known.items() if name not in _UNTOLD}
        known["udp_sport"] = _DYNAMIC_PORTS | (fields.get("udp_sport", 0) & _OF_PORTS or 1)
    remote = bench.peers[0 if is_told else key % len(bench.peers)]
    if "remote_mac" in known:
        remote = remote._replace(mac=parse_mac(known.pop("remote_mac")))
    if "remote_ip" in known:
        remote = remote._replace(ip=ip_address(known.pop("remote_ip")).packed)
    values: dict[str, Any] = {
        "service": Service[known.pop("service", None) or _usual_service(bench)],
        "remote": remote,
        "local_qpn": _FIRST_LOCAL_QPN + key,
        "remote_qpn": _FIRST_REMOTE_QPN + key,
        "path_mtu": min(bench.claims.path_mtus),
    }
    if Capability.CREDITS not in bench.claims.capabilities:
        known.pop("flow_control", None)
    return QpSpec(**(values | known | bench.claims.limits.fixed_of_qp))
