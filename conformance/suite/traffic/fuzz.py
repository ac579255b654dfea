# SPDX-License-Identifier: BSD-2-Clause
"""Fuzzing a responder: many plans, each on a fresh connection, judged many at a time.

A plan sends a few frames, whatever it likes; what must come of them is the oracle's business.
Behind each plan comes a fence: a request at the PSN that the device must then expect.
"""

from collections.abc import Callable, Iterable
from typing import Any

from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.connection import Connection
from roceproof.conformance.suite.exchange import Taking
from roceproof.conformance.suite.pattern import ACK, WRITE_ONLY
from roceproof.conformance.suite.traffic.fuzz_session import (
    PACKETS,
    RECEIVE_MORE,
    RECEIVE_PACKETS,
    RECEIVES,
    FuzzSession,
)
from roceproof.verbs.service import Service
from roceproof.verbs.work import Region

Plan = Callable[[FuzzSession], None]
AT_ONCE = 32
NS_PER_FRAME = 4000  # more than the longest frame takes on a simulated wire


def run(
    bench: Bench,
    plans: Iterable[Plan],
    service: Service = Service.RC,
    *,
    receives: int = RECEIVES,
    **spec: Any,
) -> None:
    """Let the device of a bench go through these plans, each on a fresh connection."""
    todo = list(plans)
    drained = _Drained(bench)
    places: list[tuple[Connection, Region, Region]] = []
    at_once = max(1, min(AT_ONCE, bench.claims.qps - len(bench.connections)))
    while todo:
        now, todo = todo[:at_once], todo[at_once:]
        for place in places[: len(now)]:
            place[0].reconnect()
        for _ in now[len(places) :]:
            qp = bench.connect(service, **spec)
            receive = RECEIVE_PACKETS * qp.mtu + RECEIVE_MORE
            places.append((qp, qp.region(PACKETS * qp.mtu), qp.region(RECEIVES * receive)))
        sessions = [FuzzSession(bench, *place, receives=receives) for place in places[: len(now)]]
        for session, plan in zip(sessions, now, strict=True):
            plan(session)
        drained.wait()
        for session in sessions:
            session.judge()
            session.fence()
        drained.wait()
        for session in sessions:
            session.judge()
            session.check_completions()
            session.check_memory()


class _Drained:
    """When nothing is under way any more: little can be behind the ACK of a bystander.

    A device that has no queue pair for one is waited for until it has taken all and is silent.
    """

    def __init__(self, bench: Bench) -> None:
        self._bench = bench
        self._bystander = bench.connect() if bench.claims.qps > 1 else None
        self._psn = 0

    def wait(self) -> None:
        """Until all that was sent has arrived and all answers are back."""
        if self._bystander is not None:
            frames = sum(1 for _ in self._bench.transcript.entries())
            within_ns = self._bench.target.patience.answer_ns + NS_PER_FRAME * frames
            self._bystander.send(WRITE_ONLY(psn=self._psn, a=1))
            self._bystander.expect(ACK(psn=self._psn), within_ns=within_ns)
        self._psn += 1
        taking = Taking(self._bench.target)
        self._bench.settle()
        while taking.goes_on():
            self._bench.settle()
