# SPDX-License-Identifier: BSD-2-Clause
"""How much of everything a message was: its length, and what was outstanding when it began to come.

By these numbers it shows whether all that fails lies beyond what passes. What was outstanding is
never told too high: a message of RC counts until its peer has answered it, others never do.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.checks.comparison import Predicted
from roceproof.conformance.suite.connection import Connection
from roceproof.conformance.suite.expect.prediction import Posted
from roceproof.conformance.suite.reporting.transcript import Entry
from roceproof.conformance.suite.requester_side import Life
from roceproof.conformance.wire.codec import parse
from roceproof.conformance.wire.opcodes import OPCODES
from roceproof.conformance.wire.psn import PSN_MODULUS
from roceproof.verbs.service import Service

QUANTITIES = (
    "mtu",
    "queue pair",
    "alignment",
    "size",
    "open messages",
    "open packets",
    "open of all",
)
_MOST_ALIGNED = 256
_HALF = PSN_MODULUS // 2

Amounts = tuple[int, ...]
"""In the order of QUANTITIES."""


class Outstanding(NamedTuple):
    """Messages of a queue pair not complete when one begins to come, with it; their packets."""

    messages: int
    packets: int
    of_all: int
    """The messages of all queue pairs."""


def amounts(
    place: int,
    life: Life,
    message: Posted,
    outstanding: Outstanding | None,
    *,
    came: Mapping[int, int],
) -> Amounts:
    """Of a message on the queue pair with this place among those of its case.

    `came` says how many messages were unanswered when some came that nobody has looked at since.
    """
    size = message.work.size
    aligned = min(size & -size, _MOST_ALIGNED) if size else _MOST_ALIGNED
    told = outstanding or 3 * (came[message.work.wr_id],)  # each stands for a packet at least
    return (life.spec.path_mtu, place, aligned, size, *told)


class _Begun:
    """The messages of a life that have begun to come and have no answer."""

    def __init__(self, connection: Connection, life: Life) -> None:
        self.connection = connection
        self.life = life
        self.open: list[Posted] = []

    def add(self, message: Posted) -> None:
        refused = self.connection.ended - self.connection.succeeded
        if self.life.spec.service is Service.RC and message.work.wr_id not in refused:
            self.open.append(message)

    def hear(self, entry: Entry) -> None:
        """A frame to it: what it answers, and all before, is not outstanding any more."""
        packet = parse(entry.frame)
        row = OPCODES.get(packet.bth.opcode) if packet is not None else None
        if packet is None or row is None or not row.is_response:
            return
        psn = (packet.bth.psn - self.life.spec.sq_psn) % PSN_MODULUS
        if psn < _HALF:
            self.open = [each for each in self.open if each.last_psn > psn]


def outstanding_of(bench: Bench, predicted: Sequence[Predicted]) -> dict[int, Outstanding]:
    """By the numbers of work: of what came when it began to, of the rest at the case's end."""
    begins = {id(each.entry): each for each in predicted if each.index == 0}
    begun = {
        id(life): _Begun(connection, life)
        for connection in bench.connections
        for life in connection.lives
    }
    hearing = {
        id(each.life.answers): each
        for each in begun.values()
        if each.life.spec.service is Service.RC and (len(each.life.posted) > 1 or len(begun) > 1)
    }
    found: dict[int, Outstanding] = {}

    def note(life: Life, messages: Iterable[Posted]) -> None:
        mine = begun[id(life)].open
        packets = sum(each.end_psn - each.psn for each in mine)
        of_all = sum(len(each.open) for each in begun.values())
        for number, message in enumerate(messages, 1):
            packets += message.end_psn - message.psn
            found[message.work.wr_id] = Outstanding(len(mine) + number, packets, of_all + number)

    for entry in bench.transcript.entries():
        if entry.is_sent:
            if (first := begins.get(id(entry))) is not None:
                note(first.life, [first.message])
                for each in begun.values():  # of a former life nothing is outstanding
                    if each.connection is first.connection and each.life is not first.life:
                        each.open.clear()
                begun[id(first.life)].add(first.message)
        elif not entry.is_void and (heard := hearing.get(id(entry.flow))) is not None:
            heard.hear(entry)
    for each in begun.values():
        over = found.keys() | (each.connection.came.keys() & each.connection.ended)
        note(each.life, [one for one in each.life.posted if one.work.wr_id not in over])
    return found
