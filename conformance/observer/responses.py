# SPDX-License-Identifier: BSD-2-Clause
"""Rules on the responses of one RC flow, held against the requests of its counterpart."""

from collections.abc import Iterator

from roceproof.conformance.observer.facts import FlowFacts
from roceproof.conformance.observer.gaps import Late, Place
from roceproof.conformance.observer.msn_rules import Counted, MsnRules
from roceproof.conformance.observer.observed import ACKNOWLEDGE, ATOMIC_ACK, Observed
from roceproof.conformance.observer.psn import ahead, distance
from roceproof.conformance.observer.reads import Read
from roceproof.conformance.observer.requests import Requests
from roceproof.conformance.observer.response_rules import ACK, RNR_NAK, is_defined, middle_has_aeth
from roceproof.conformance.rules.findings import FlowKey, Violation
from roceproof.conformance.wire.headers import Aeth
from roceproof.conformance.wire.opcodes import Opcode, name_of

NO_CREDITS = 31
_SEQUENCE_ERROR = 0x60
_FATAL = range(0x61, 0x64)


class Response:
    """What a response says, read once."""

    def __init__(self, packet: Observed, row: Opcode) -> None:
        self.packet, self.row = packet, row
        self.psn = packet.psn
        self.aeth = packet.aeth
        self.is_acknowledge = packet.opcode == ACKNOWLEDGE
        self.syndrome = self.aeth[0] if self.aeth else 0
        self.is_cut = Aeth in row.headers and self.aeth is None
        self.is_positive = not self.is_acknowledge or self.syndrome >> 5 == ACK

    @property
    def is_judged(self) -> bool:
        """Whether it can be judged as part of a flow at all."""
        undefined = self.is_acknowledge and not is_defined(self.syndrome)
        return not (self.is_cut or undefined)

    def forbidden(self, service: str) -> Violation:
        """ACK-11, NAK-11: a response where there is none."""
        rule = "ACK-11" if self.is_positive else "NAK-11"
        return Violation(rule, f"no response on {service}", self.row.name)


class Responses:
    def __init__(self, key: FlowKey, overdue: list[Late]) -> None:
        self._acked: int | None = None  # its position among the requests
        self._msn = MsnRules(key, overdue)

    def take_alone(self, response: Response, place: Place) -> Iterator[Violation]:
        """Judge a response whose requests have not been seen."""
        if response.aeth is not None:
            yield from self._msn.take_alone(_counted(response, place))

    def take(
        self, response: Response, place: Place, asked: Requests, path_mtu: int | None
    ) -> Iterator[Violation]:
        """Judge a response to known requests."""
        if not asked.is_corrupted:
            yield from self._against(response, place, asked, path_mtu)
        if response.is_positive:
            self._note_progress(response.psn, asked)

    def give_up(self) -> None:
        """Nothing more will come that could tell who is wrong."""
        self._msn.give_up()

    def _against(
        self, response: Response, place: Place, asked: Requests, path_mtu: int | None
    ) -> Iterator[Violation]:
        psn, read = response.psn, None
        if not response.is_acknowledge:
            is_atomic = response.packet.opcode == ATOMIC_ACK
            read = asked.reads.covering(psn, path_mtu)
            if read is not None and read.is_atomic is not is_atomic:
                read = None
            opcode = asked.known_opcode(psn)
            if read is not None:
                yield from self._data(response, read, asked, path_mtu)
            elif opcode is not None and not is_atomic:
                yield Violation("PSN-20", "a PSN of a READ", f"that of a {name_of(opcode)}")
                return
        elif response.is_positive:
            yield from self._ack(psn, asked, path_mtu)
        else:
            yield from self._negative(response, asked)
        if response.aeth is not None:
            yield from self._msn.take(_counted(response, place), asked, read)

    # ACKNOWLEDGE

    def _ack(self, psn: int, asked: Requests, path_mtu: int | None) -> Iterator[Violation]:
        if _is_ahead(psn, asked):
            yield Violation("ACK-06", f"PSN of at most {asked.newest:#08x}", f"{psn:#08x}")
        elif self._acked is not None and self._is_overdue(psn, asked, allowed=0):
            acked = ahead(psn, self._acked - asked.position(psn))
            yield Violation("ACK-06", f"PSN of at least {acked:#08x}", f"{psn:#08x}")
        for read in asked.reads.pending:
            if read.span(path_mtu) is not None and read.covers(psn, path_mtu):
                rule = "ACK-12" if asked.replay_until is None else "DUP-03"
                yield Violation(rule, "the responses of the READ or ATOMIC first", f"{psn:#08x}")
            if not _is_ahead(psn, asked):
                read.note_ack(psn)

    def _negative(self, response: Response, asked: Requests) -> Iterator[Violation]:
        psn, syndrome = response.psn, response.syndrome
        is_ahead = _is_ahead(psn, asked)
        overdue = self._is_overdue(psn, asked, allowed=-1)
        got = f"{psn:#08x}"
        if syndrome >> 5 == RNR_NAK:
            if is_ahead:
                yield Violation("RNR-01", f"PSN of at most {asked.newest:#08x}", got)
            if asked.awaited == psn:
                asked.awaited = None  # the request came
        elif syndrome == _SEQUENCE_ERROR:
            if overdue or is_ahead or psn == asked.newest:
                yield Violation("NAK-01", "the PSN of a request that is missing", got)
            if asked.awaited == psn:
                yield Violation("NAK-02", "one sequence NAK for each gap", f"another at {got}")
            asked.awaited = psn
        elif syndrome in _FATAL and (overdue or is_ahead):
            yield Violation("NAK-07", "the PSN of the request that failed", got)

    # READ responses and ATOMIC ACKs

    def _data(
        self, response: Response, read: Read, asked: Requests, path_mtu: int | None
    ) -> Iterator[Violation]:
        at = distance(response.psn, read.psn)
        if not read.is_atomic:
            yield from _place_and_size(response.packet, read, at, path_mtu)
        if at not in read.seen and not read.is_repeated:
            if read.is_acked_past(path_mtu):
                yield Violation("ACK-12", "the response before a later ACK", "the ACK first")
            if read.overtaken:
                yield Violation("READ-12", "READs answered in order", "a newer READ first")
        asked.reads.answer(read, at, path_mtu)
        if not read.is_atomic:
            for other in asked.reads.pending:
                other.overtaken |= not other.is_atomic and distance(other.psn, read.psn) < 0

    # progress

    def _is_overdue(self, psn: int, asked: Requests, *, allowed: int) -> bool:
        """Whether the PSN lies behind what was acknowledged, and no copy explains it."""
        if self._acked is None or asked.replay_until is not None:
            return False
        return asked.position(psn) < self._acked - allowed

    def _note_progress(self, psn: int, asked: Requests) -> None:
        if asked.newest is None or _is_ahead(psn, asked):
            return
        asked.gaps.cover(psn)
        position = asked.position(psn)
        if self._acked is None or position > self._acked:
            self._acked = position
            if asked.replay_until is not None and distance(psn, asked.replay_until) > 0:
                asked.replay_until = None


def configured(response: Response, facts: FlowFacts) -> Iterator[Violation]:
    """RNR-02, CRED-01: what the sender of the response was configured with."""
    if response.aeth is None:
        return
    kind, value = response.syndrome >> 5, response.syndrome & 31
    if kind == RNR_NAK and facts.min_rnr_timer not in (None, value):
        yield Violation("RNR-02", f"timer code {facts.min_rnr_timer}", str(value))
    if kind == ACK and facts.credits is False and value != NO_CREDITS:
        yield Violation("CRED-01", f"credit code {NO_CREDITS}", str(value))


def _place_and_size(
    packet: Observed, read: Read, at: int, path_mtu: int | None
) -> Iterator[Violation]:
    span = read.span(path_mtu)
    if span is None:
        return
    rule = "READ-02" if read.length else "READ-03"
    allowed = read.opcodes_at(at, span)
    if packet.opcode not in allowed:
        wanted = " or ".join(name_of(opcode) for opcode in sorted(allowed))
        yield Violation(rule, wanted, name_of(packet.opcode))
    if path_mtu is None and read.length:
        return
    left = min(path_mtu, read.length - at * path_mtu) if path_mtu and read.length else 0
    if packet.payload_size != left and not middle_has_aeth(packet, path_mtu):
        yield Violation(rule, f"{left} bytes", f"{packet.payload_size} bytes")


def _is_ahead(psn: int, asked: Requests) -> bool:
    return asked.newest is not None and distance(psn, asked.newest) > 0


def _counted(response: Response, place: Place) -> Counted:
    assert response.aeth is not None
    msn = response.aeth[1]
    return Counted(response.psn, msn, not response.is_positive, response.is_acknowledge, place)
