# SPDX-License-Identifier: BSD-2-Clause
"""Where a case stopped: what was missing or wrong, of which message, on which queue pair.

A verdict says in words what a device did otherwise; this says it so that verdicts can be compared,
and so that what was due can be tried again on a fresh device.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple, Protocol

from roceproof.conformance.suite.expect.prediction import Posted
from roceproof.conformance.suite.notation import Mismatch
from roceproof.verbs.queue_pair import QpSpec


class Place(Protocol):
    """The queue pair where a case stopped."""

    @property
    def spec(self) -> QpSpec:
        """What the device was told of it."""


class Kind(StrEnum):
    """What a case stopped at."""

    NO_PACKET = "no packet"
    WRONG_PACKET = "wrong packet"
    NO_COMPLETION = "no completion"
    NO_ANSWER = "no answer"  # of a responder, to a fence
    DEATH = "death"  # the device or its simulation is gone
    NO_END = "no end"  # the case goes on for ever, though something still moves
    CONNECT = "no connection"
    ASSERTION = "assertion"  # what the case itself says


class Cause(NamedTuple):
    """Why plain messages stop, too: with what they go on, and the rules that are broken."""

    words: str
    rules: tuple[str, ...]


@dataclass(frozen=True)
class Stop:
    """The place. `message` and `packet` say which one, where a predicted message was due.

    `is_first` says that nothing that was posted before it is due.
    """

    kind: Kind
    at: Place | None = None
    message: Posted | None = None
    packet: int = 0
    fields: tuple[Mismatch, ...] = ()
    is_first: bool = False
    cause: Cause | None = None

    @property
    def stands_still(self) -> bool:
        """Whether something was due that did not come, the case's end at least."""
        return self.kind in (Kind.NO_PACKET, Kind.NO_COMPLETION, Kind.NO_ANSWER, Kind.NO_END)

    @property
    def skips(self) -> bool:
        """Whether another packet came than the one whose turn it was."""
        return self.kind is Kind.WRONG_PACKET and any(each.field == "psn" for each in self.fields)

    @property
    def words(self) -> str | None:
        """What was missing, in a few words; None where a case says more itself."""
        if self.message is None or self.kind not in (Kind.NO_PACKET, Kind.NO_COMPLETION):
            return None
        work, count = self.message.work, self.message.count
        told = f"a {work.op.value} of {work.size:,} bytes"
        if self.kind is Kind.NO_PACKET and count > 1:
            told = f"packet {self.packet + 1} of {count} of {told}"
        told += " never completed" if self.kind is Kind.NO_COMPLETION else " never came"
        return f"{told}; {self.cause.words}" if self.cause else told
