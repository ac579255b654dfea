# SPDX-License-Identifier: BSD-2-Clause
"""A host of which one part is the device under test and the rest the bench.

The bench is TCP, QP1 and the server of the tool. Frames go in and frames come out; nothing waits.
"""

from roceproof.conformance.interop.introductions import ByManagement, ByTcp, Introduction
from roceproof.conformance.interop.scenarios import Scenario
from roceproof.conformance.interop.server import Servers
from roceproof.conformance.targets.interface import Target
from roceproof.conformance.wire.codec import parse
from roceproof.conformance.wire.framing import ETHERNET_MINIMUM

IDLE_NS = 10_000_000
MOST_AT_ONCE = 1000
"""Frames: one that never stops must not keep the bench from its clock."""


class Station:
    """The server's side of one scenario."""

    def __init__(self, target: Target, scenario: Scenario) -> None:
        self._target = target
        self.servers = Servers(target, scenario)
        way = ByTcp if scenario.cm_port is None else ByManagement
        self._introduction: Introduction = way(target, scenario, self.servers)

    def take(self, frame: bytes) -> list[bytes]:
        """A frame has come; what the bench answers. What the device does `run` shows."""
        packet = parse(frame)
        answers = self._introduction.take(frame, packet)
        if answers is not None:
            return answers
        if packet is not None:
            self.servers.came(packet)
        self._target.send(frame.ljust(ETHERNET_MINIMUM, b"\0"))
        return []

    def run(self, *, is_idle: bool) -> list[bytes]:
        """Let the device work until it is quiet, or has sent very much; what that was.

        Where nothing comes, a device of virtual time gets more of it, for its timers' sake.
        """
        target = self._target
        is_cheap = target.clock_ps is None
        duration_ns = IDLE_NS if is_idle and is_cheap else target.patience.quiet_ns
        sent: list[bytes] = []
        while len(sent) < MOST_AT_ONCE and (arrival := target.receive(duration_ns)) is not None:
            sent.append(arrival.frame)
            packet = parse(arrival.frame)
            if packet is not None:
                self.servers.left(packet)
            self.servers.step()
        self.servers.step()
        return sent + target.asides() + self._introduction.step()

    def lack(self) -> str:
        """What is missing at this end when the client has ended."""
        return self.servers.lack()
