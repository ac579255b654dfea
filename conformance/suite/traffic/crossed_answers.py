# SPDX-License-Identifier: BSD-2-Clause
"""Answers of every kind, and all trials that cross them with requests."""

from collections.abc import Callable, Iterable, Iterator

from roceproof.conformance.model.segmentation import AWAIT_DATA
from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.checks.recovery import unhurried_code
from roceproof.conformance.suite.connection import Connection
from roceproof.conformance.suite.exchange import Taking
from roceproof.conformance.suite.pattern import (
    ACKNOWLEDGE,
    ATOMIC_ACK,
    READ_RESP_FIRST,
    READ_RESP_LAST,
    READ_RESP_MIDDLE,
    READ_RESP_ONLY,
    Maker,
    Pattern,
)
from roceproof.conformance.suite.traffic.crossed_requests import (
    ROOM,
    SHORT,
    WORD,
    Answer,
    Requests,
    Trial,
)
from roceproof.verbs.work import ATOMICS, Op, Region

MTU = 256
LONG = 2 * MTU + 5
_AT_ONCE = 16
_SHOWN = 24


def trials(
    bench: Bench, op: Op, answers: Iterable[Answer], places: Callable[[int], Iterable[int]]
) -> Iterator[Trial]:
    """All that the device has room for; `places` says which PSNs there are of so many."""
    lengths = (WORD,) if op in ATOMICS else (SHORT, LONG)
    for answer in answers:
        for length in lengths:
            span = 3 if length == LONG else 1
            for is_amid in (False, True):
                if bench.claims.limits.against_depth(1 + 2 * is_amid, span + 2 * is_amid):
                    continue
                for begun in range(span):
                    for place in places(span + 2 * is_amid):
                        yield Trial(op, length, is_amid, begun, answer, place)


def play(bench: Bench, chosen: Iterable[Trial]) -> None:
    """Play trials, many at a time, each on a fresh queue pair while there are any.

    Fails with all that is wrong.
    """
    todo, wrong = list(chosen), list[str]()
    places: list[tuple[Connection, Region | None]] = []
    at_once = min(_AT_ONCE, bench.claims.qps)
    while todo:
        now, todo = todo[:at_once], todo[at_once:]
        if len(bench.connections) + len(now) > bench.claims.qps:
            used, places = places[: len(now)], places[len(now) :]
            for qp, _ in used:
                qp.reconnect()
        else:
            used = [_opened(bench, trial.op) for trial in now]
        places += used
        requests = [
            Requests(bench, qp, into, trial) for (qp, into), trial in zip(used, now, strict=True)
        ]
        for each in requests:
            each.begins()
            each.answered()
        _settle(bench, requests)
        found = [list(each.judged()) for each in requests]
        for each in requests:
            each.completed()
        _settle(bench, requests)
        if any([each.completed_again() for each in requests]):
            _settle(bench, requests)
        for each, before in zip(requests, found, strict=True):
            wrong += before or each.judged()
    if wrong:
        more = [f"and {len(wrong) - _SHOWN} more"] if len(wrong) > _SHOWN else []
        raise bench.failed("\n".join(wrong[:_SHOWN] + more))


def _settle(bench: Bench, requests: Iterable[Requests]) -> None:
    """Until the device has taken all answers, and is quiet: completions come one by one."""
    taking = Taking(bench.target)
    bench.settle()
    while any([each.takes_outcomes() for each in requests]) or taking.goes_on():
        bench.settle()


def _opened(bench: Bench, op: Op) -> tuple[Connection, Region | None]:
    qp = bench.connect(path_mtu=MTU, ack_timeout=unhurried_code(bench))
    return qp, qp.region(ROOM) if op in AWAIT_DATA else None


def syndromes(*values: int) -> Answer:
    """An acknowledge packet with one of these syndromes."""
    return lambda requests, psn: ACKNOWLEDGE(psn=psn, syndrome=requests.qp.random.choice(values))


def data(make: Maker) -> Answer:
    """A READ response: with the bytes that belong there, if any do, and as many as it must have."""

    def answer(requests: Requests, psn: int) -> Pattern:
        response = make(psn=psn)
        is_whole = make in (READ_RESP_FIRST, READ_RESP_MIDDLE)
        size = requests.qp.mtu if is_whole else WORD
        payload = requests.bytes_at(psn)
        if len(payload) < size and (is_whole or not payload):
            payload = payload + bytes(size - len(payload))
        return response.but(payload=payload)

    return answer


def original(requests: Requests, psn: int) -> Pattern:
    """An ATOMIC ACK with the value that belongs there, if one does."""
    message = requests.at(psn)
    return ATOMIC_ACK(psn=psn, original=requests.original(message) if message else 0)


SYNDROMES = {
    "ack": syndromes(0x1F, 0x00, 0x0B),
    "sequence-nak": syndromes(0x60),
    "rnr-nak": syndromes(0x21),
    "fatal-nak": syndromes(0x61, 0x62, 0x63),
    "reserved": syndromes(0x40, 0x5F, 0x65, 0x7F, 0x80, 0xC0, 0xFF),
}
DATA = {
    "first": data(READ_RESP_FIRST),
    "middle": data(READ_RESP_MIDDLE),
    "last": data(READ_RESP_LAST),
    "only": data(READ_RESP_ONLY),
    "atomic": original,
}
