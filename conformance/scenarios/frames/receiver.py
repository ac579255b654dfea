# SPDX-License-Identifier: BSD-2-Clause
"""What stands at a switch's port and only receives, and the reference model as that."""

from typing import Protocol

from roceproof.conformance.scenarios.frames.switch import Plugged
from roceproof.conformance.targets.interface import Arrival, Target
from roceproof.conformance.targets.model.device import ModelTarget
from roceproof.conformance.wire.ip import CE
from roceproof.verbs.addresses import Host
from roceproof.verbs.queue_pair import Qp, QpSpec
from roceproof.verbs.work import Outcome, Region

_LISTEN_NS = 2_000_000
_TOS_AT = 15


class Receiver(Plugged, Protocol):
    """One of UC WRITEs with immediate, and what one may ask it."""

    def open(self, spec: QpSpec) -> Qp:
        """A queue pair that is ready to receive, with the number that it chose."""
        ...

    def register(self, size: int) -> Region:
        """Memory that may be written."""
        ...

    def post_receives(self, qp: Qp, count: int) -> None:
        """Receives without memory, for immediates."""
        ...

    def settle(self, count: int) -> None:
        """Wait until all that was sent is taken; so many receives complete if nothing is lost."""
        ...

    def received(self, qp: Qp) -> list[Outcome]:
        """What has completed on a queue pair since the last call."""
        ...


class Server(ModelTarget):
    """The reference model of unreliable services at a port of any rate: it sends CNPs alone.

    What comes has waited for its line before.
    """

    _was_marked = False

    def send(self, frame: bytes) -> None:
        self.device.receive(frame, self._now)
        self._was_marked |= frame[_TOS_AT] & CE == CE

    def receive(self, timeout_ns: int) -> Arrival | None:
        # Only a mark draws a CNP, and asking thousands of queue pairs for one takes long.
        frame = self.device.next_frame(self._now) if self._was_marked else None
        if frame is not None:
            return Arrival(self._now, frame)
        self._was_marked = False
        self._now += timeout_ns
        return None

    def post_receives(self, qp: Qp, count: int) -> None:
        region = self.register(1)
        for place in range(count):
            self.post_receive(qp, wr_id=place, region=region, length=0)

    def settle(self, count: int) -> None:
        """It takes what it is given at once."""

    def received(self, qp: Qp) -> list[Outcome]:
        return self.completions(qp, count=0, timeout_ns=0)


class Live:
    """A device whose time is the wall's, at a switch's port: its time here is the switch's.

    It is listened to for a while behind all that was sent; what it says later comes later.
    """

    def __init__(self, target: Target) -> None:
        self.host = target.host
        self._target, self._now, self._was_sent = target, 0, False

    @property
    def now_ns(self) -> int:
        return self._now

    def plays(self, host: Host) -> None:
        self._target.plays(host)

    def send(self, frame: bytes) -> None:
        self._target.send(frame)
        self._was_sent = True

    def receive(self, timeout_ns: int) -> Arrival | None:
        arrival = self._target.receive(_LISTEN_NS) if self._was_sent else None
        if arrival is not None:
            return Arrival(self._now, arrival.frame)
        self._was_sent = False
        self._now += timeout_ns
        return None
