# SPDX-License-Identifier: BSD-2-Clause
"""What one case has seen of its device, counted by kind of message, for a search over all cases.

A row is a kind of packet or message, its features in the order of `FEATURES`, with what was wrong
with those of the kind: nothing, fields, rules that the observer found broken, or that it never
came. Passing cases count as much as failing ones: they say what is not the cause.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from roceproof.conformance.rules.findings import Finding
from roceproof.conformance.runner.findings.quantities import (
    Amounts,
    Outstanding,
    amounts,
    outstanding_of,
)
from roceproof.conformance.runner.findings.tempted import temptations_of
from roceproof.conformance.runner.findings.unheeded import ANSWERS, ASKED, answers_of, requests_of
from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.checks.comparison import Predicted
from roceproof.conformance.suite.connection import Connection
from roceproof.conformance.suite.expect.prediction import Posted
from roceproof.conformance.suite.reporting.failure import CaseFailed
from roceproof.conformance.suite.reporting.failure_heads import head_of
from roceproof.conformance.suite.reporting.failure_site import Kind, Stop
from roceproof.conformance.suite.reporting.transcript import Entry
from roceproof.conformance.suite.requester_side import Life
from roceproof.conformance.wire.psn import PSN_MODULUS
from roceproof.verbs.queue_pair import QpSpec
from roceproof.verbs.work import Op

FEATURES = (
    "rest",
    "empty",
    "packets",
    "place",
    "whole",
    "service",
    "mtu",
    "op",
    "carries",
    "immediate",
    "ip",
    "qp",
    "life",
    "nth",
    "offset",
    "solicited",
    "nak",
    "turn",
    "width",
)
FIELD, RULE = "field ", "rule "
_IMMEDIATE = (Op.SEND_IMM, Op.WRITE_IMM)
PACKET, MESSAGE, COMPLETION = "packet", "message", "completion"
_STAGES = {Kind.NO_PACKET: MESSAGE, Kind.NO_COMPLETION: COMPLETION}
_MOST_VALUES = 4
_SMALL = frozenset({"se", "pad", "fecn", "becn"})

Row = list[Any]
Document = dict[str, Any]


def observed(
    bench: Bench,
    predicted: Sequence[Predicted],
    *,
    findings: Iterable[tuple[Finding, Entry]] = (),
    stop: Stop | None = None,
    streams: Sequence[str] = (),
    failures: Iterable[CaseFailed] = (),
    against: Iterable[Entry] | None = None,
    lost: str | None = None,
) -> Document:
    """Rows of features, stage, trouble, count and amounts; values of wrong fields, and right ones.

    The amounts of a row are the least and the most of each of QUANTITIES.
    `streams` says how those of the device stood when the case stopped; `failures` are those that
    neither the rows nor the rules of the observer show, `against` the frames that stand against the
    device, of a case that failed, and `lost` is what was not answered.
    """
    rules: dict[int, set[str]] = {}
    told: dict[str, str] = {}
    for finding, entry in findings:
        rules.setdefault(id(entry), set()).add(finding.rule.id)
        told.setdefault(finding.rule.id, finding.message)
    rows = _Rows(bench, outstanding_of(bench, predicted))
    values: dict[str, dict[str, list[str]]] = {}
    for each in predicted:
        trouble = [FIELD + wrong.field for wrong in each.wrong]
        trouble += [RULE + rule for rule in sorted(rules.get(id(each.entry), ()))]
        rows.add(each.connection, each.life, each.message, PACKET, trouble, index=each.index)
        if each.index == each.message.count - 1:
            rows.add(each.connection, each.life, each.message, MESSAGE)
        for wrong in each.wrong:
            seen = values.setdefault(wrong.field, {"want": [], "got": []})
            _note(seen["want"], wrong.want)
            _note(seen["got"], wrong.got)
    for connection, life, message in _posted(bench):
        if message.work.wr_id in connection.succeeded:
            rows.add(connection, life, message, COMPLETION)
        if message.work.wr_id in connection.came:
            rows.add(connection, life, message, MESSAGE)
    stage = None if stop is None else _STAGES.get(stop.kind)
    if stage and stop and stop.message is not None and isinstance(stop.at, Connection):
        rows.add(stop.at, stop.at.lives[-1], stop.message, stage, [str(stop.kind)])
    return {
        "rows": rows.told(),
        "values": values,
        "right": _right_values(predicted),
        "shown": _shown_values(predicted),
        "stop": _told(stop),
        "streams": list(streams),
        "frames": sum(1 for _ in bench.transcript.entries()),
        "failures": [[head_of(each), list(each.rules)] for each in failures],
        "rules": told,
        "lost": lost,
        "tempted": temptations_of(bench),
        "flushed": any(connection.has_flushed for connection in bench.connections),
        ANSWERS: answers_of(bench, stop),
        ASKED: requests_of(bench, against),
        "disturbed": sorted(bench.target.disturbed),
        "standing": {name: list(each) for name, each in bench.target.standing().items()},
    }


class _Rows:
    """Kinds of packets and messages with what was wrong, each counted, with least and most."""

    def __init__(self, bench: Bench, outstanding: Mapping[int, Outstanding]) -> None:
        self._bench = bench
        self._outstanding = outstanding
        self._counts: Counter[tuple[Any, ...]] = Counter()
        self._least: dict[tuple[Any, ...], Amounts] = {}
        self._most: dict[tuple[Any, ...], Amounts] = {}

    def add(
        self,
        connection: Connection,
        life: Life,
        message: Posted,
        stage: str,
        trouble: Sequence[str] = (),
        *,
        index: int | None = None,
    ) -> None:
        """A packet, or a whole message."""
        features = _features(self._bench, connection, life, message, index)
        row = (features, stage, tuple(trouble))
        outstanding = self._outstanding.get(message.work.wr_id)
        place = self._bench.connections.index(connection)
        told = amounts(place, life, message, outstanding, came=connection.came)
        self._counts[row] += 1
        self._least[row] = tuple(map(min, self._least.get(row, told), told))
        self._most[row] = tuple(map(max, self._most.get(row, told), told))

    def told(self) -> list[Row]:
        return [
            [list(f), stage, list(trouble), n, self._least[row], self._most[row]]
            for row, n in self._counts.items()
            for f, stage, trouble in [row]
        ]


def _features(
    bench: Bench, connection: Connection, life: Life, message: Posted, index: int | None = None
) -> tuple[Any, ...]:
    """Of a packet, or of a whole message."""
    spec, work, count = life.spec, message.work, message.count
    return (
        work.size % 4,
        work.size == 0,
        min(count, 3),
        _place(index, count),
        work.size > 0 and work.size % spec.path_mtu == 0,
        spec.service.name,
        spec.path_mtu,
        work.op.value,
        "SEND" if work.op.value.startswith("SEND") else work.op.value.partition("_")[0],
        work.op in _IMMEDIATE,
        6 if len(spec.remote.ip) == 16 else 4,
        min(bench.connections.index(connection), 2),
        life is not connection.lives[0],
        min(message.ordinal, 2),
        work.offset > 0,
        bool(work.solicited),
        connection.was_refused,
        (spec.sq_psn + message.psn) % PSN_MODULUS + message.end_psn - message.psn >= PSN_MODULUS,
        bench.claims.data_width,
    )


def _place(index: int | None, count: int) -> str | None:
    if index is None:
        return None
    if count == 1:
        return "only"
    if index == 0:
        return "first"
    return "last" if index == count - 1 else "middle"


def _posted(bench: Bench) -> Iterable[tuple[Connection, Life, Posted]]:
    for connection in bench.connections:
        for life in connection.lives:
            for message in life.posted:
                yield connection, life, message


def _right_values(predicted: Sequence[Predicted]) -> Mapping[str, list[int]]:
    """Values that stand for a device which cannot say another: not wrong where they are right."""
    specs: dict[int, QpSpec] = {id(each.life): each.life.spec for each in predicted}
    return {
        "ttl": sorted({spec.hop_limit for spec in specs.values()}),
        "tos": sorted({spec.traffic_class for spec in specs.values()}),
    }


def _shown_values(predicted: Sequence[Predicted]) -> Mapping[str, list[int]]:
    """What right packets have of fields of few values: a wrong one is not always there."""
    found: dict[str, set[int]] = {}
    for each in predicted:
        wrong = {mismatch.field for mismatch in each.wrong}
        said = each.pattern.said
        for name in said.keys() & _SMALL - wrong:
            found.setdefault(name, set()).add(int(said[name]))
    return {name: sorted(values) for name, values in found.items()}


def _note(values: list[str], value: str) -> None:
    if value not in values and len(values) < _MOST_VALUES:
        values.append(value)


def _told(stop: Stop | None) -> Document | None:
    if stop is None:
        return None
    told: Document = {
        "kind": str(stop.kind),
        "fields": [[m.field, m.want, m.got] for m in stop.fields],
    }
    if stop.message is not None:
        told["words"] = stop.words
    if stop.cause is not None:
        told["cause"] = [stop.cause.words, list(stop.cause.rules)]
    return told
