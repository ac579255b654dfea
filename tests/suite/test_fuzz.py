# SPDX-License-Identifier: BSD-2-Clause
"""A fuzz passes a device that conforms, and of another tells what was sent and what came of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from roceproof.conformance.model.components import RESPONDERS, Components
from roceproof.conformance.model.responder.connected import OpenMessage
from roceproof.conformance.model.responder.rc import RcResponder
from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.memory import at
from roceproof.conformance.suite.pattern import SEND_ONLY, WRITE_ONLY
from roceproof.conformance.suite.reporting.failure import CaseFailed
from roceproof.conformance.suite.traffic.fuzz import run
from roceproof.conformance.suite.traffic.fuzz_session import FuzzSession
from roceproof.conformance.suite.traffic.requests import any_request
from roceproof.conformance.targets.interface import CasePlace
from roceproof.conformance.targets.model.device import ModelFactory
from roceproof.verbs.service import Service


@contextmanager
def bench_of(responder: type[RcResponder] = RcResponder) -> Iterator[Bench]:
    """A bench with a device that has this responder."""
    source = ModelFactory(components=Components(responders={**RESPONDERS, Service.RC: responder}))
    with source.device(CasePlace(name="fuzz", seed=1)) as target:
        yield Bench(target, source.claims, seed=1)


def mixed(session: FuzzSession) -> None:
    """A valid request, one ahead, and one that is damaged."""
    session.send(any_request(session), WRITE_ONLY(psn=9, a=1))
    session.send_frame(session.qp.frame(WRITE_ONLY(psn=1))[:-1] + b"\0")


@pytest.mark.parametrize("service", list(Service))
def test_a_device_that_conforms_passes(service: Service) -> None:
    with bench_of() as bench:
        run(bench, [lambda session: session.send(any_request(session))] * 40, service)


def test_answers_to_damaged_packets_are_understood_as_none() -> None:
    with bench_of() as bench:
        run(bench, [mixed] * 3)


class Mute(RcResponder):
    """Does not acknowledge SENDs."""

    def acknowledge(self, psn: int) -> None:
        if not self.outcomes:
            super().acknowledge(psn)


def test_an_answer_that_is_missing_fails_with_all_that_was_sent() -> None:
    with bench_of(Mute) as bench, pytest.raises(CaseFailed) as failure:
        run(bench, [lambda session: session.send(SEND_ONLY(psn=0, payload=b"1234", a=1))])
    text = str(failure.value)
    assert "want  ACK psn=+0 syndrome=ACK msn=1\ngot   nothing in time to frame 0" in text
    assert "0 > SEND_ONLY psn=+0" in text


class Forgetful(RcResponder):
    """Acknowledges WRITEs and does not write."""

    def place(self, message: OpenMessage, data: bytes) -> None:
        message.done += len(data)
        message.left -= len(data)


def test_memory_that_holds_something_else_fails() -> None:
    def write(session: FuzzSession) -> None:
        session.send(WRITE_ONLY(psn=0, payload=b"1234", a=1, **at(session.region)))

    with bench_of(Forgetful) as bench, pytest.raises(CaseFailed, match="memory holds what it may"):
        run(bench, [write])


class Stuttering(RcResponder):
    """Acknowledges SENDs twice."""

    def acknowledge(self, psn: int) -> None:
        super().acknowledge(psn)
        if self.outcomes:
            super().acknowledge(psn)


def test_an_answer_too_many_fails() -> None:
    with (
        bench_of(Stuttering) as bench,
        pytest.raises(CaseFailed, match="want  nothing more\ngot   ACK psn="),
    ):
        run(bench, [lambda session: session.send(SEND_ONLY(psn=0, payload=b"1234", a=1))])
