# SPDX-License-Identifier: BSD-2-Clause
"""What good frames have in common that a device does not heed, and none that it has heeded.

A requester that drops a valid ACK shows nothing but work that never completes, and a responder that
refuses a valid request says no more than that. The frame says why: something in its headers is
otherwise than in all frames that were taken.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from roceproof.conformance.model.codes import AethType, NakCode, syndrome
from roceproof.conformance.model.responder.rc_answers import ACKNOWLEDGE
from roceproof.conformance.model.segmentation import ahead
from roceproof.conformance.runner.findings.received import (
    AROUND,
    GAP,
    REPEATED,
    RNR,
    Alone,
    InFront,
    Row,
    alone,
    row_of,
)
from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.connection import Connection
from roceproof.conformance.suite.packet_flow import is_request
from roceproof.conformance.suite.reporting.failure_site import Kind, Stop
from roceproof.conformance.suite.reporting.transcript import Entry, Epoch, request_of
from roceproof.conformance.wire.codec import Packet, parse
from roceproof.conformance.wire.ip import Ipv4
from roceproof.conformance.wire.opcodes import Family, Opcode, Transport
from roceproof.conformance.wire.psn import PSN_MODULUS, distance, packet_count
from roceproof.verbs.service import Service

Document = Mapping[str, Any]
ANSWERS, ASKED = "answers", "asked"
SAME = "request"
"""What the requests of a finding have, and of another one, that good ones have not."""
_MOST_FRAMES, _MOST_ASKED, _FEWEST_CASES, _FEWEST_HEEDED = 8, 48, 3, 30
_HALF = PSN_MODULUS // 2
_SEQUENCE_NAK = syndrome(AethType.NAK, NakCode.PSN_SEQUENCE_ERROR)


@dataclass
class Asked:
    """A request in sequence and what is in front of it."""

    entry: Entry
    packet: Packet
    in_front: InFront
    is_served: bool = False
    """Whether an ACK or data have answered it, or nothing ever does."""


def answers_of(bench: Bench, stop: Stop | None) -> dict[str, list[Row]]:
    """A few answers that have completed work, and the one that has not."""
    heeded: list[Row] = []
    for connection in bench.connections:
        if len(heeded) >= _MOST_FRAMES or not connection.succeeded:
            continue
        answers = list(_answers(connection, bench))
        for message in connection.lives[-1].posted[:_MOST_FRAMES]:
            able = [row for psn, row in answers if 0 <= psn - message.last_psn < _HALF]
            if message.work.wr_id in connection.succeeded and len(able) == 1:
                heeded += able
    missed: list[Row] = []
    if stop is not None and stop.kind is Kind.NO_COMPLETION and stop.message is not None:
        last = stop.message.last_psn
        answers = list(_answers(stop.at, bench)) if isinstance(stop.at, Connection) else []
        missed = [row for psn, row in answers if 0 <= psn - last < _HALF][-1:]
    return {"heeded": heeded, "unheeded": missed}


def requests_of(bench: Bench, against: Iterable[Entry] | None) -> dict[str, list[Row]]:
    """A few requests of a case that passed, or the one at which another went wrong.

    `against` are the frames that stand against the device, of a case that failed: it is the last
    request of the first one's PSN, or the last one at all, which draws a NAK of what it lacks.
    """
    asked = _requests(bench.transcript.epochs)
    if against is None:
        served = [each for each in list(islice(asked, 2 * _MOST_ASKED)) if each.is_served]
        return {"heeded": _rows(served[:_MOST_ASKED]), "unheeded": []}
    first = min(against, key=lambda each: each.time_ns, default=None)
    answer = None if first is None else parse(first.frame)
    before = [each for each in asked if first is None or each.entry.time_ns <= first.time_ns]
    psn = None if answer is None or _lacks_another(answer) else answer.bth.psn
    named = [each for each in before if each.packet.bth.psn == psn]
    return {"heeded": [], "unheeded": _rows((named or before)[-1:])}


def _lacks_another(answer: Packet) -> bool:
    return answer.aeth is not None and answer.aeth.syndrome == _SEQUENCE_NAK


def _rows(asked: Iterable[Asked]) -> list[Row]:
    return [row_of(each.entry.frame, each.packet, each.in_front) for each in asked]


def in_common(what: str, cases: Iterable[Document], others: Iterable[Document]) -> Alone | None:
    """What the frames in nearly all these cases have, and none that was heeded."""
    missed, heeded = _told(what, cases, "unheeded"), _told(what, others, "heeded")
    if len(missed) < _FEWEST_CASES or len(heeded) < _FEWEST_HEEDED:
        return None
    return alone(missed, heeded)


def all_have(fact: Alone, cases: Iterable[Document]) -> bool:
    """Whether the requests at which these cases went wrong are known, and have it all."""
    asked = _told(ASKED, cases, "unheeded")
    return bool(asked) and all(map(fact.is_in, asked))


def _told(what: str, cases: Iterable[Document], how: str) -> list[Row]:
    return [row for case in cases for row in case.get(what, {}).get(how, ())]


def _answers(connection: Connection, bench: Bench) -> Iterator[tuple[int, Row]]:
    """Good ACKs to a queue pair over IPv4, each with its PSN from the start of this life."""
    spec = connection.spec
    if spec.service is not Service.RC or spec.vlan is not None:
        return
    for entry in bench.transcript.entries():
        if entry.is_sent or entry.is_void or entry.flow is not connection.to_device:
            continue
        packet = parse(entry.frame)
        if packet is not None and isinstance(packet.ip, Ipv4) and _is_ack(packet):
            yield (packet.bth.psn - spec.sq_psn) % PSN_MODULUS, row_of(entry.frame, packet)


def _is_ack(packet: Packet) -> bool:
    return (
        packet.bth.opcode == ACKNOWLEDGE and packet.aeth is not None and packet.aeth.syndrome < 32
    )


@dataclass
class _Sequence:
    """The PSN that is due on a queue pair, the request before it, and what has come since."""

    due: int
    path_mtu: int
    last: Asked | None = None
    open: deque[Asked] = field(default_factory=deque)
    """Those without an answer, oldest first."""
    event: str | None = None
    goes_on: bool = False
    """Whether a request has been in sequence since the event."""

    def note_answer(self, packet: Packet) -> None:
        """A request that draws an RNR NAK is due again; what is acknowledged ends an event."""
        if packet.aeth is None:
            return
        kind, psn = packet.aeth.syndrome, packet.bth.psn
        if kind == _SEQUENCE_NAK:
            self.note(GAP)
        elif kind >> 5 == AethType.ACK:
            while self.open and distance(psn, _psn(self.open[0])) >= 0:
                self.open.popleft().is_served = True
            self.event = None if self.goes_on else self.event
        elif self.last and kind >> 5 == AethType.RNR_NAK and _psn(self.last) == psn:
            self.note(RNR)
            self.due = psn
            if self.open and self.open[-1] is self.last:
                self.open.pop()

    def note(self, event: str) -> None:
        self.event, self.goes_on = event, False

    def take(self, entry: Entry, packet: Packet, opcode: Opcode) -> Asked | None:
        """The request, if it is this one's turn."""
        psn, read = packet.bth.psn, packet.reth if opcode.family is Family.READ else None
        is_answered = opcode.transport is not Transport.UC
        if is_answered and psn != self.due:
            if distance(self.due, psn) > 0:
                self.note(REPEATED)
            return None
        self.due = ahead(psn, packet_count(read.length, self.path_mtu) if read else 1)
        in_front = InFront(self.last.packet if self.last else None, self.event, self.path_mtu)
        self.last, self.goes_on = Asked(entry, packet, in_front, is_served=not is_answered), True
        self.open.append(self.last)
        return self.last


def _psn(asked: Asked) -> int:
    return asked.packet.bth.psn


def _requests(epochs: Iterable[Epoch]) -> Iterator[Asked]:
    """Good requests in sequence, each with what is in front of it."""
    sequences: dict[int, _Sequence] = {}
    for epoch in epochs:
        goes_on = {n for n, row in epoch.qps.items() if "start_psn" not in row}
        sequences = {n: each for n, each in sequences.items() if n in goes_on}
        sequences |= {
            n: _Sequence(row["remote_start_psn"], row["path_mtu"])
            for n, row in epoch.qps.items()
            if n not in goes_on
        }
        peers = {row["remote_qpn"]: n for n, row in epoch.qps.items()}
        for entry in epoch.entries:
            if entry.is_sent:
                answer = parse(entry.frame)
                if answer is not None and not is_request(answer):
                    asker = sequences.get(peers.get(answer.bth.dest_qpn, -1))
                    if asker is not None:
                        asker.note_answer(answer)
                continue
            request = request_of(entry)
            if request is None or not all(rule.startswith(AROUND) for rule in entry.breaks):
                continue
            sequence = sequences.get(request[0].bth.dest_qpn)
            if sequence is not None and (asked := sequence.take(entry, *request)):
                yield asked
