# SPDX-License-Identifier: BSD-2-Clause
"""A station, and a model device that stands for the guest with the tool."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from roceproof.conformance.interop.dialogues import Connect, Dialogue, End
from roceproof.conformance.interop.scenarios import Scenario
from roceproof.conformance.interop.station import Station
from roceproof.conformance.model.device import Device
from roceproof.conformance.targets.model.device import ModelTarget
from roceproof.verbs.addresses import Host
from roceproof.verbs.queue_pair import Qp, QpSpec
from roceproof.verbs.work import Outcome, Work

SERVER = Host(bytes.fromhex("020000000001"), bytes((10, 77, 0, 1)))
CLIENT = Host(bytes.fromhex("020000000002"), bytes((10, 77, 0, 2)))
PSN = 0xFFFFFE


class Introduced(Dialogue):
    """Ends that are told of each other without a word."""

    latest: Connect

    def __init__(self, connect: Connect) -> None:
        super().__init__(connect)
        type(self).latest = connect

    def hear(self, client: Host, message: bytes) -> bytes:
        raise NotImplementedError


def _unchanged(frame: bytes) -> bytes | None:
    return frame


def settle(
    client: ModelTarget,
    station: Station,
    wire: Callable[[bytes], bytes | None] = _unchanged,
) -> None:
    """Let both work until nothing moves."""
    moved = True
    while moved:
        moved = False
        while (arrival := client.receive(20_000)) is not None:
            frame = wire(arrival.frame)
            if frame is not None:
                for answer in station.take(frame):
                    client.send(answer)
            moved = True
        for frame in station.run(is_idle=False):
            client.send(frame)
            moved = True


@dataclass
class TwoEnds:
    """Both, connected; frames to the server go through `wire`, where they may be lost."""

    scenario: Scenario
    wire: Callable[[bytes], bytes | None] = _unchanged
    client: ModelTarget = field(default_factory=lambda: ModelTarget(Device(CLIENT)))
    server: ModelTarget = field(default_factory=lambda: ModelTarget(Device(SERVER)))

    def __post_init__(self) -> None:
        self.station = Station(self.server, self.scenario)
        spec = QpSpec(
            service=self.scenario.service,
            remote=SERVER,
            remote_qpn=0x11,
            path_mtu=self.scenario.path_mtu,
            sq_psn=PSN,
            rq_psn=0xFFFFFD,
        )
        self.qp: Qp = self.client.open(spec)
        self.tell()

    def tell(self, **memory: int) -> None:
        """The client tells of its queue pair, and of its memory."""
        self.theirs = Introduced.latest(End(CLIENT, self.qp.qpn, PSN, **memory))

    def post(self, work: Work) -> list[Outcome]:
        """Post it at the client, and let both work until nothing moves."""
        self.client.post(self.qp, work)
        settle(self.client, self.station, self.wire)
        return self.client.completions(self.qp, count=0, timeout_ns=0)
