# SPDX-License-Identifier: BSD-2-Clause
"""What moves between a bench and its device: configurations, work, frames, completions.

Times are cycles where the device's streams are clocked, else nanoseconds of the target's clock.
What goes into the device says, too, since when it was on offer.
"""

from collections import deque
from collections.abc import Iterable
from typing import NamedTuple

from roceproof.dpi.session.events import Frame, Inbound, Taken, TimedCompletion
from roceproof.dpi.session.options import Flow
from roceproof.verbs.queue_pair import QpSpec
from roceproof.verbs.work import Work


class Configured(NamedTuple):
    """A queue pair was given a command: the contract's, in lower case."""

    time: int
    qpn: int
    spec: QpSpec
    command: str = "activate"
    offered: int = 0

    @property
    def is_reset(self) -> bool:
        return self.command == "reset"


class Registered(NamedTuple):
    """Memory is there to be named by its key."""

    rkey: int
    addr: int
    size: int
    access: frozenset[str]
    is_foreign: bool = False


class Provided(NamedTuple):
    """A receive is there for a message."""

    qpn: int
    rkey: int
    addr: int
    length: int


class Posted(NamedTuple):
    """The device has a work request."""

    time: int
    qpn: int
    work: Work
    offered: int = 0


class Received(NamedTuple):
    """The device has the last byte of a frame, damaged or not."""

    time: int
    frame: bytes
    is_damaged: bool = False
    offered: int = 0


class Sent(NamedTuple):
    """The last byte of a frame has left the device."""

    time: int
    frame: bytes


class Completed(NamedTuple):
    """Work or a receive has ended; with the syndrome where the device tells it."""

    time: int
    qpn: int
    wr_id: int
    status: str
    syndrome: int | None = None
    is_receive: bool = False


class Disturbed(NamedTuple):
    """Streams pause otherwise from now on."""

    time: int
    flow: Flow


Movement = Configured | Posted | Received | Sent | Completed | Disturbed
Grant = Registered | Provided
"""What a device is given to answer requests with; no stream tells when it has moved."""
_Input = Configured | Posted | Received
_JOINED = (Inbound.FRAME, Inbound.CONFIGURATION, Inbound.WORK_REQUEST)


class Watch:
    """Joins what was queued for a simulated device with the cycles in which that took it."""

    def __init__(self) -> None:
        self._given: dict[Inbound, deque[_Input]] = {stream: deque() for stream in _JOINED}
        self._changes: list[Movement] = []

    def give(self, stream: Inbound, what: _Input) -> None:
        """Note what will be taken, in its order."""
        self._given[stream].append(what)

    def forget(self) -> None:
        """What was given and not taken will not be."""
        for waiting in self._given.values():
            waiting.clear()

    def change(self, disturbed: Disturbed) -> None:
        """Note what takes effect at once."""
        self._changes.append(disturbed)

    def moved(
        self,
        taken: Iterable[Taken],
        frames: Iterable[Frame],
        completions: Iterable[TimedCompletion],
    ) -> list[Movement]:
        """All of it in the order of the cycles; of one cycle, what goes in comes first."""
        found, self._changes = self._changes, []
        for each in taken:
            if each.stream in self._given:
                found.append(self._given[each.stream].popleft()._replace(time=each.cycle))
        found += [Sent(frame.cycle, frame.data) for frame in frames]
        for timed in completions:
            done = timed.completion
            status = done.status.name.lower()
            found.append(Completed(timed.cycle, done.qpn, done.wr_id, status, done.syndrome))
        return sorted(found, key=lambda movement: movement.time)
