# SPDX-License-Identifier: BSD-2-Clause
"""What a tool's server does with its queue pair, by the target interface of any device."""

import random
from abc import ABC

from roceproof.conformance.interop.dialogues import End
from roceproof.conformance.targets.interface import Target
from roceproof.verbs.queue_pair import Qp
from roceproof.verbs.service import Service
from roceproof.verbs.work import Op, Outcome, Region, Work

GRH_BYTES = 40
PAGE_BYTES = 4096
QKEY = 0x11111111
"""What the tools agree on for UD."""


class Role(ABC):
    """One queue pair and its memory. `receives` messages are expected in receives."""

    def __init__(self, target: Target, *, size: int, count: int) -> None:
        self.target = target
        self.size, self.count = size, count
        self.done = 0
        self.trouble = ""
        self._posted: set[int] = set()

    region: Region
    qp: Qp
    theirs: End

    def prepare(self) -> Region:
        """Make the memory that the client may be told of, full of what nobody else would write."""
        self.region = self.target.register(self.room)
        self.region.write(0, random.Random(self.room).randbytes(self.room))
        return self.region

    def places(self) -> list[int]:
        """Where in its memory the bytes of each message go that takes a receive."""
        return []

    @property
    def header(self) -> int:
        """What stands before the bytes of a message in its receive."""
        return GRH_BYTES if self.qp.spec.service is Service.UD else 0

    @property
    def room(self) -> int:
        """Bytes of memory that it needs."""
        return self.size

    def begin(self, qp: Qp, theirs: End) -> None:
        """The queue pair is there, and so is the client's."""
        self.qp, self.theirs = qp, theirs

    def step(self) -> None:
        """Do what is due now."""
        for outcome in self.target.completions(self.qp, count=1, timeout_ns=0):
            if outcome.status != "success":
                self.accuse(f"work {outcome.wr_id} ended {outcome.status}")
            elif not outcome.is_receive:
                self.completed(outcome)
            elif outcome.wr_id in self._posted:
                self._posted.remove(outcome.wr_id)
                self.received(outcome)
            else:
                self.accuse(f"receive {outcome.wr_id} completed, which is not posted")

    def post_receive(self, number: int, *, offset: int, length: int) -> None:
        """Post one into its memory, to complete once."""
        self._posted.add(number)
        self.target.post_receive(
            self.qp, wr_id=number, region=self.region, offset=offset, length=length
        )

    def accuse(self, what: str) -> None:
        """Keep what was wrong first."""
        self.trouble = self.trouble or what

    def established(self) -> None:  # noqa: B027
        """The client is ready for what the server sends by itself."""

    @property
    def is_over(self) -> bool:
        """Whether the server ends the connection now."""
        return False

    def completed(self, outcome: Outcome) -> None:  # noqa: B027
        """Work of its own has been done."""

    def received(self, outcome: Outcome) -> None:
        self.done += 1

    def lack(self) -> str:
        """What is missing when the client has ended; nothing if all is well."""
        if self.trouble:
            return self.trouble
        return "" if self.done == self.count else f"{self.done} of {self.count} messages came"


class Memory(Role):
    """Serves its memory to WRITEs, READs and atomics, and does nothing itself."""

    @property
    def room(self) -> int:
        """Short messages of perftest go round in a page."""
        return self.size + PAGE_BYTES

    def lack(self) -> str:
        return self.trouble


class Receiver(Role):
    """Takes messages into receives, one place for each."""

    @property
    def room(self) -> int:
        return self.count * self.place

    def places(self) -> list[int]:
        return [number * self.place + self.header for number in range(self.count)]

    @property
    def place(self) -> int:
        """Bytes of a receive, with room for a GRH."""
        return self.size + GRH_BYTES

    def begin(self, qp: Qp, theirs: End) -> None:
        super().begin(qp, theirs)
        for number in range(self.count):
            self.post_receive(number, offset=number * self.place, length=self.place)

    def received(self, outcome: Outcome) -> None:
        """Count it, if it has the length that was agreed on."""
        super().received(outcome)
        if outcome.byte_len != self.size + self.header:
            self.accuse(f"message {outcome.wr_id} has {outcome.byte_len} bytes")


class Echo(Receiver):
    """Sends every message back as it came."""

    def received(self, outcome: Outcome) -> None:
        super().received(outcome)
        data = self.region.read(self.places()[outcome.wr_id], self.size)
        is_datagram = self.qp.spec.service is Service.UD
        self.target.post(
            self.qp,
            Work(
                wr_id=self.count + outcome.wr_id,
                op=Op.SEND,
                data=data,
                datagram_qpn=self.qp.spec.remote_qpn if is_datagram else 0,
                datagram_qkey=QKEY if is_datagram else 0,
            ),
        )
