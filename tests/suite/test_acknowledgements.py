# SPDX-License-Identifier: BSD-2-Clause
"""ACKs that nobody asked for, or that stand for several: a wrong one alone fails a case."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest

from roceproof.conformance.cases import test_responder_duplicates as duplicates
from roceproof.conformance.model.components import RESPONDERS, Components
from roceproof.conformance.model.ingress import Ingress, QueuePairView
from roceproof.conformance.model.responder.policy import (
    AskedAck,
    BeforeFirst,
    RepeatedAck,
    ResponderPolicy,
    Unasked,
)
from roceproof.conformance.model.responder.rc import RcResponder
from roceproof.conformance.model.segment import Segment
from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.connection import Connection
from roceproof.conformance.suite.memory import at
from roceproof.conformance.suite.pattern import (
    ACK,
    INVALID_REQUEST,
    NAK,
    READ_REQUEST,
    READ_RESP_ONLY,
    SEQUENCE_ERROR,
    WRITE_FIRST,
    WRITE_LAST,
    WRITE_ONLY,
)
from roceproof.conformance.suite.reporting.failure import CaseFailed
from roceproof.conformance.targets.interface import CasePlace
from roceproof.conformance.targets.model.device import ModelFactory
from roceproof.conformance.wire.headers import Aeth
from roceproof.conformance.wire.psn import distance
from roceproof.verbs.service import Service

HALF = 1 << 23


@contextmanager
def connected(
    responder: type[RcResponder] = RcResponder, *, ingress: type[Ingress] = Ingress, **policy: Any
) -> Iterator[Connection]:
    """A queue pair of a device that acknowledges so."""
    with benched(responder, ingress=ingress, **policy) as bench:
        yield bench.connect()


@contextmanager
def benched(
    responder: type[RcResponder] = RcResponder, *, ingress: type[Ingress] = Ingress, **policy: Any
) -> Iterator[Bench]:
    """The bench of a device that acknowledges so."""
    parts = Components(
        ingress=ingress,
        responders={**RESPONDERS, Service.RC: responder},
        responder_policy=ResponderPolicy(**policy),
    )
    source = ModelFactory(components=parts)
    with source.device(CasePlace(name="acknowledgements", seed=1)) as target:
        yield Bench(target, source.claims, seed=1)


class TwiceUnasked(RcResponder):
    """Acknowledges twice what did not ask."""

    def acknowledge(self, psn: int) -> None:
        """Once more."""
        super().acknowledge(psn)
        super().acknowledge(psn)


class NamesWhatWasNotSent(RcResponder):
    """Its unasked ACKs are one ahead."""

    def answer(self, response: Any) -> None:
        """With the next PSN."""
        if isinstance(response, Segment):
            psn = (response.bth.psn + 1) % (1 << 24)
            response = replace(response, bth=replace(response.bth, psn=psn))
        super().answer(response)


class CountsPackets(RcResponder):
    """Its count of messages is another."""

    def answer(self, response: Any) -> None:
        """With MSN 7."""
        if isinstance(response, Segment):
            aeth = response.extension(Aeth)
            assert aeth is not None
            response = replace(response, extensions=(replace(aeth, msn=7),))
        super().answer(response)


class IntoError(Ingress):
    """Hands on what comes for a queue pair in error."""

    def is_receiving(self, queue_pair: QueuePairView) -> bool:
        """Always."""
        return True


class AcknowledgesForEver(RcResponder):
    """Says again what it has executed, although a NAK has ended it."""

    def accept(self, request: Segment, network_header: bytes = b"") -> None:
        """Acknowledge whatever it is."""
        if self.failed:
            self.acknowledge(self.expected_psn - 1)
        super().accept(request, network_header)


class AcknowledgesAnyPast(RcResponder):
    """The ACK of a duplicate names the duplicate, sent or not."""

    def answer(self, response: Any) -> None:
        """With a PSN of long ago."""
        if isinstance(response, Segment) and self.msn == 0:
            psn = (response.bth.psn - 3) % (1 << 24)
            response = replace(response, bth=replace(response.bth, psn=psn))
        super().answer(response)


class TakesFarAheadForPast(RcResponder):
    """Compares PSNs in fewer bits."""

    def accept(self, request: Segment, network_header: bytes = b"") -> None:
        """Acknowledge what it takes for a duplicate."""
        if distance(request.bth.psn, self.expected_psn) > 1 << 22:
            self.acknowledge(request.bth.psn)
        else:
            super().accept(request, network_header)


class ForgetsTheNak(RcResponder):
    """Tells each packet behind a gap of it."""

    def nak_is_pending(self) -> bool:
        """Never."""
        return False


UNASKED = {"unasked": Unasked.ACKNOWLEDGED}


def test_each_packet_may_be_acknowledged_before_what_is_waited_for() -> None:
    with connected(**UNASKED) as qp:
        region = qp.region()
        qp.send(WRITE_FIRST(psn=0, payload=qp.mtu, dmalen=3 * qp.mtu, **at(region)))
        qp.send(WRITE_ONLY(psn=1, payload=8, a=1, **at(region)))
        qp.expect(NAK(INVALID_REQUEST, psn=1))


def test_silence_is_no_less_for_an_ack_of_what_was_sent() -> None:
    with connected(**UNASKED) as qp:
        qp.send(WRITE_ONLY(psn=0))
        qp.expect_silence()


def test_an_ack_may_be_left_to_the_next_response() -> None:
    with connected(asked_ack=AskedAck.LATER) as qp:
        region = qp.region()
        qp.send(WRITE_ONLY(psn=0, a=1), READ_REQUEST(psn=1, dmalen=8, **at(region)))
        qp.expect(ACK(psn=0, msn=1), READ_RESP_ONLY(psn=1, payload=8))
    with connected(asked_ack=AskedAck.LATER, ack_interval=2) as qp:
        qp.send(WRITE_ONLY(psn=0, a=1), WRITE_ONLY(psn=1, a=1))
        qp.expect(ACK(psn=0))
        qp.expect(ACK(psn=1, msn=2))


def test_an_ack_that_never_comes_is_missed() -> None:
    with connected(asked_ack=AskedAck.LATER) as qp, pytest.raises(CaseFailed, match="nothing in"):
        qp.send(WRITE_ONLY(psn=0, a=1))
        qp.expect(ACK(psn=0))


def test_the_ack_that_is_wanted_is_told_with_what_is_wrong_if_it_may_come_unasked() -> None:
    with (
        connected(CountsPackets, **UNASKED) as qp,
        pytest.raises(CaseFailed, match="want 1, got 7"),
    ):
        qp.send(WRITE_ONLY(psn=0))
        qp.expect(ACK(psn=0, msn=1))


def test_a_packet_draws_one_ack_at_most() -> None:
    with connected(TwiceUnasked, **UNASKED) as qp, pytest.raises(CaseFailed, match="want  nothing"):
        qp.send(WRITE_ONLY(psn=0))
        qp.expect_silence()


def test_an_ack_of_what_was_not_sent_is_refused() -> None:
    with (
        connected(NamesWhatWasNotSent, **UNASKED) as qp,
        pytest.raises(CaseFailed, match="want  nothing"),
    ):
        qp.send(WRITE_ONLY(psn=0))
        qp.expect_silence()


def test_a_request_far_ahead_is_no_duplicate_that_may_be_acknowledged() -> None:
    with connected(TakesFarAheadForPast) as qp, pytest.raises(CaseFailed, match="got   ACK"):
        qp.send(WRITE_ONLY(psn=0, a=1), WRITE_ONLY(psn=1, a=1))
        qp.expect(ACK(psn=0), ACK(psn=1))
        qp.send(WRITE_ONLY(psn=1 + HALF, a=1))
        qp.expect(NAK(SEQUENCE_ERROR, psn=2))


def test_what_must_be_dropped_is_not_acknowledged() -> None:
    with connected(**UNASKED) as qp, pytest.raises(CaseFailed, match="got   ACK"):
        qp.drops(WRITE_ONLY(psn=0), fence=1)


def test_an_ack_of_a_read_stands_for_nothing() -> None:
    with connected() as qp, pytest.raises(CaseFailed, match="want  ACK"):
        qp.send(WRITE_ONLY(psn=0, a=1), WRITE_LAST(psn=1, payload=8, a=1))
        qp.expect(ACK(psn=0))
        qp.expect(ACK(psn=1))


def test_behind_a_fatal_nak_no_duplicate_is_acknowledged() -> None:
    with connected(AcknowledgesForEver, ingress=IntoError) as qp:
        qp.send(WRITE_ONLY(psn=0, a=1))
        qp.expect(ACK(psn=0))
        qp.send(WRITE_LAST(psn=1, payload=8, a=1))
        qp.expect(NAK(INVALID_REQUEST, psn=1))
        qp.send(WRITE_ONLY(psn=0, a=1))
        with pytest.raises(CaseFailed, match="want  nothing"):
            qp.expect_silence()


def test_an_ack_of_a_duplicate_names_nothing_that_was_never_sent() -> None:
    with (
        connected(AcknowledgesAnyPast, before_first=BeforeFirst.ACKNOWLEDGED) as qp,
        pytest.raises(CaseFailed, match="got   ACK"),
    ):
        qp.send(WRITE_ONLY(psn=-5, a=1), WRITE_ONLY(psn=0, a=1))
        qp.expect(ACK(psn=0, msn=1), allowing=[ACK(psn=-1, msn=0)])


def test_a_sequence_nak_stands_for_what_was_executed_and_for_nothing_else() -> None:
    with connected(asked_ack=AskedAck.LATER) as qp:
        qp.send(WRITE_ONLY(psn=0, a=1), WRITE_ONLY(psn=3))
        qp.expect(ACK(psn=0), NAK(SEQUENCE_ERROR, psn=1))
    with connected() as qp, pytest.raises(CaseFailed, match="want  ACK"):
        qp.send(WRITE_ONLY(psn=3))
        qp.expect(ACK(psn=0), NAK(SEQUENCE_ERROR, psn=0))


def test_the_second_nak_of_one_gap_is_told_as_that_until_the_gap_is_filled() -> None:
    told = NAK(SEQUENCE_ERROR, psn=0)
    with connected(ForgetsTheNak) as qp:
        qp.send(WRITE_ONLY(psn=1, a=1), WRITE_ONLY(psn=2, a=1), breaks={"PSN-02"})
        qp.expect(told)
        with pytest.raises(CaseFailed, match="which came once before") as failed:
            qp.expect(ACK(psn=0))
        assert failed.value.rules == ("NAK-02",)
    with connected() as qp:
        for gap in (1, 3):
            qp.send(WRITE_ONLY(psn=gap, a=1), breaks={"PSN-02"})
            qp.expect(NAK(SEQUENCE_ERROR, psn=gap - 1))
            qp.send(WRITE_ONLY(psn=gap - 1, a=1), WRITE_ONLY(psn=gap, a=1))
            qp.expect(ACK(psn=gap - 1), ACK(psn=gap))


class OnceForARepeatedSend(RcResponder):
    """Acknowledges the first duplicate of each PSN, and no other."""

    def owe_repeated(self, psn: int) -> None:
        """Unless it was a duplicate before."""
        told = self.__dict__.setdefault("told", set())
        if psn not in told:
            told.add(psn)
            super().owe_repeated(psn)


def test_one_ack_may_stand_for_duplicates_that_come_at_once() -> None:
    with benched(repeated_ack=RepeatedAck.LATER, ack_delay_ns=12_000) as bench:
        duplicates.test_a_repeated_send_is_acknowledged_and_not_delivered(bench)


def test_none_may_stand_for_a_duplicate_that_comes_after_it() -> None:
    with benched(OnceForARepeatedSend) as bench, pytest.raises(CaseFailed):
        duplicates.test_a_repeated_send_is_acknowledged_and_not_delivered(bench)
