# SPDX-License-Identifier: BSD-2-Clause
"""`explain` is asked of each life of a connection by itself."""

from __future__ import annotations

from roceproof.conformance.runner.judging.evidence import explained, names_of
from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.connection import Connection
from roceproof.conformance.suite.reporting.transcript import Entry
from roceproof.conformance.targets.interface import CasePlace
from roceproof.conformance.targets.model.device import ModelFactory
from roceproof.conformance.wire.psn import PSN_MODULUS
from roceproof.verbs.service import Service
from roceproof.verbs.work import Op

START, MESSAGES = 0x400, 6


def names(bench: Bench) -> list[str]:
    return [names_of(each) for each in explained(bench.transcript, ["PSN-02"], simulated=True)]


def turned(entry: Entry) -> Entry:
    """With its ICRC the wrong way round."""
    return entry._replace(frame=entry.frame[:-4] + entry.frame[:-5:-1])


def write(qp: Connection) -> None:
    for _ in range(MESSAGES):
        qp.transfer(Op.WRITE, 5)


def test_a_connection_that_starts_anew_has_lost_no_packets() -> None:
    factory = ModelFactory()
    with factory.device(CasePlace(name="case", seed=1)) as target:
        bench = Bench(target, factory.claims, seed=1)
        qp = bench.connect(Service.UC, sq_psn=PSN_MODULUS - START)
        write(qp)
        qp.reconnect(sq_psn=START)
        write(qp)
        assert names(bench) == []


def test_what_is_wrong_in_each_life_is_told_once() -> None:
    factory = ModelFactory()
    with factory.device(CasePlace(name="case", seed=1)) as target:
        bench = Bench(target, factory.claims, seed=1)
        qp = bench.connect(sq_psn=START)
        for _ in range(2):
            write(qp)
            qp.reconnect(sq_psn=START)
        for epoch in bench.transcript.epochs:
            epoch.entries = [turned(each) for each in epoch.entries]
        (name,) = names(bench)
        assert name.startswith("S")
