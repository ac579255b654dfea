# SPDX-License-Identifier: BSD-2-Clause
"""A device in HDL as the sender of a scenario: the load test of anybody's core.

Its line is as fast as its clock and width allow. What it sends is charged with FCS, preamble and
gap; behind that stands a far end that takes everything, and acknowledges after the round trip.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from heapq import heappop, heappush
from pathlib import Path
from typing import Any

from roceproof.common.errors import RoceproofError
from roceproof.conformance.scenarios.line import AROUND_FRAME
from roceproof.conformance.scenarios.network import SECOND, Flow, Network, Played, Port
from roceproof.conformance.scenarios.scenario import Point, Row, Scenario
from roceproof.conformance.targets.drawn_address import PEERS_LAST_BYTES
from roceproof.conformance.targets.hdl.factory import HdlFactory
from roceproof.conformance.targets.interface import CasePlace, Target
from roceproof.conformance.wire.acknowledgement import acknowledgement
from roceproof.conformance.wire.codec import parse
from roceproof.conformance.wire.opcodes import OPCODES, Position
from roceproof.dpi.manifest.dut import load_manifest
from roceproof.verbs.addresses import Host
from roceproof.verbs.queue_pair import Qp, QpSpec
from roceproof.verbs.service import Service
from roceproof.verbs.work import Op, Work

_NS = 1000
_GLANCE_NS = 500
"""How long one looks for frames before one looks for completions."""


class DeviceSender:
    """Plays the points of a scenario with one flow over one port on a device."""

    def __init__(self, manifest: Path, *, width: int | None) -> None:
        loaded = load_manifest(manifest)
        self._width = width or loaded.data_widths[0]
        self._factory = HdlFactory(loaded, data_width=self._width)
        self._claims = self._factory.claims
        self.name = f"{self._claims.device}, {self._width} bit"
        self.line = self._width * SECOND // loaded.clock_ps_at(self._width)
        self._service = self._first_service()

    def _first_service(self) -> Service:
        limits = self._claims.limits
        for service in (Service.RC, Service.UC):
            has = {each.name for each in self._claims.capabilities} >= {service.name, "WRITE"}
            if has and limits.against_operation(service, Op.WRITE) is None:
                return service
        raise RoceproofError(f"{self._claims.device}: it writes on neither RC nor UC; name another")

    def rows(self, scenario: Scenario, *, quick: bool, seed: int) -> Iterator[Row]:
        """The rows of its points that the device claims."""
        for point in self.points(scenario, quick=quick, seed=seed):
            yield point.words | scenario.measure(point, self.play(point.network))

    def points(self, scenario: Scenario, *, quick: bool, seed: int) -> list[Point]:
        """The scenario's points of one line, as fast as the device's, without what it cannot."""
        every = list(scenario.points(quick, seed))
        lines = [point.words["line_gbps"] for point in every if "line_gbps" in point.words]
        fits = all(len(p.network.flows) == len(p.network.ports) == 1 for p in every)
        if not fits or len(lines) < len(every):
            raise RoceproofError(
                f"{scenario.id}: no device can stand in there; take light-throughput"
            )
        return [
            Point({**point.words, "line_gbps": self.line / 1e9}, self._network(point.network))
            for point in every
            if point.words["line_gbps"] == min(lines) and self._can(point.network.flows[0])
        ]

    def _can(self, flow: Flow) -> bool:
        fits = self._claims.limits.against_length(flow.size) is None
        return fits and flow.mtu in self._claims.path_mtus

    def _network(self, network: Network) -> Network:
        (port,), (flow,) = network.ports, network.flows
        depth = min(flow.depth, self._claims.limits.outstanding_messages or flow.depth)
        if packets := self._claims.limits.outstanding_packets:
            depth = max(1, min(depth, packets // -(-flow.size // flow.mtu)))
        kind = self._service.name.lower()
        return replace(
            network,
            ports=(replace(port, rate=self.line),),
            flows=(replace(flow, depth=depth, kind=kind),),
        )

    def play(self, network: Network) -> Played:
        """The same counts as of the event model, as far as a flow alone has them."""
        (port,), (flow,) = network.ports, network.flows
        with self._factory.device(CasePlace(name="scenario", seed=network.seed)) as target:
            run = _Run(target, port, flow, self._service)
            self._open(run, flow)
            while len(run.ends) < flow.messages:
                run.step()
        begun, ends = run.begun, [end - run.began for end in run.ends]
        told = {
            "done": len(ends),
            "warm_time": ends[flow.warm - 1] if flow.warm else 0,
            "last_time": ends[-1],
            "latency_least": min(e - b for e, b in zip(run.ends, begun, strict=True)),
        }
        return Played(ends[-1], [{"dropped": 0}], [told])

    def _open(self, run: _Run, flow: Flow) -> None:
        own = run.target.host
        peer = Host(own.mac[:-1] + b"\x66", own.ip[:-1] + bytes(PEERS_LAST_BYTES[:1]))
        run.target.plays(peer)
        fixed = dict(self._claims.limits.fixed_of_qp)
        spec: dict[str, Any] = {"remote_qpn": 0x12, "local_qpn": 1, "path_mtu": flow.mtu, **fixed}
        run.open(QpSpec(service=self._service, remote=peer, **spec), self._fixed_of_work())

    def _fixed_of_work(self) -> dict[str, int]:
        names = {"remote_addr", "rkey"}
        return {k: v for k, v in self._claims.limits.fixed_of_work.items() if k in names}


class _Run:
    """One flow on one device: what is posted, what has come of it, and when, in picoseconds."""

    def __init__(self, target: Target, port: Port, flow: Flow, service: Service) -> None:
        self.target = target
        self.began = 0
        self.begun: list[int] = []
        self.ends: list[int] = []
        self._port, self._flow, self._service = port, flow, service
        self._left = 0  # when the last frame has left the line
        self._replies: list[tuple[int, bytes]] = []
        self._messages = 0
        self._heard = 0

    def open(self, spec: QpSpec, work: dict[str, int]) -> None:
        """Bring the queue pair up; `work` is what all work of the device has."""
        self._qp: Qp = self.target.open(spec)
        self._work = work
        self.began = self._heard = self._now

    @property
    def _now(self) -> int:
        return self.target.now_ns * _NS

    def step(self) -> None:
        """Post what may be, wait for a frame for a while, and take what has come."""
        while len(self.begun) < min(self._flow.messages, len(self.ends) + self._most):
            self._post()
        arrival = self.target.receive(self._wait_ns())
        if arrival is not None:
            self._take(arrival.frame, arrival.time_ns * _NS)
        while self._replies and self._replies[0][0] <= self._now:
            self.target.send(heappop(self._replies)[1])
        if self._service is Service.RC:
            for outcome in self.target.completions(self._qp, count=0, timeout_ns=0):
                if outcome.status != "success":
                    raise RoceproofError(f"message {outcome.wr_id} ended as {outcome.status}")
                self.ends.append(self._now if outcome.time_ns is None else outcome.time_ns * _NS)
                self._heard = self._now
        if self._now - self._heard > self.target.patience.answer_ns * _NS:
            lost = len(self.ends)
            raise RoceproofError(f"message {lost} never came; see roceproof test --suite smoke")

    @property
    def _most(self) -> int:
        return self._flow.depth if self._service is Service.RC else self._flow.messages

    def _wait_ns(self) -> int:
        due = self._replies[0][0] - self._now if self._replies else _GLANCE_NS * _NS
        return max(1, min(_GLANCE_NS, -(-due // _NS)))

    def _post(self) -> None:
        number = len(self.begun)
        data = (number & 0xFF).to_bytes(1, "big") * self._flow.size
        fixed: dict[str, Any] = {"rkey": 1, **self._work}
        work = Work(wr_id=number, op=Op.WRITE, data=data, **fixed)
        self.target.post(self._qp, work)
        self.begun.append(self._now)

    def _take(self, frame: bytes, time: int) -> None:
        packet = parse(frame)
        if packet is None:
            return
        self._heard = self._now
        wire = (len(frame) + AROUND_FRAME) * 8 * SECOND // self._port.rate
        self._left = max(self._left + wire, time)
        is_last = bool(OPCODES[packet.bth.opcode].position & Position.LAST)
        self._messages += is_last
        if self._service is Service.UC and is_last:
            self.ends.append(self._left + self._port.delay)
        elif self._service is Service.RC and packet.bth.ack_req:
            due = self._left + self._port.delay + self._flow.back
            reply = acknowledgement(packet, qpn=self._qp.qpn, msn=self._messages & 0xFFFFFF)
            heappush(self._replies, (due, reply))
