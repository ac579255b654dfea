# SPDX-License-Identifier: BSD-2-Clause
"""Why a request's PSN is wrong: what is in front of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest

from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.expect.wrong_psn import rule_of_psn
from roceproof.conformance.suite.notation import mismatches
from roceproof.conformance.suite.pattern import (
    WRITE_FIRST,
    WRITE_LAST,
    WRITE_MIDDLE,
    WRITE_ONLY,
    Maker,
)
from roceproof.conformance.suite.reporting.failure import CaseFailed, rule_of
from roceproof.conformance.targets.forwarding import ForwardingTarget
from roceproof.conformance.targets.interface import Arrival, CasePlace, Target
from roceproof.conformance.targets.model.device import ModelFactory
from roceproof.conformance.wire import frame_edits as edits
from roceproof.conformance.wire.codec import parse
from roceproof.conformance.wire.psn import PSN_MODULUS
from roceproof.verbs.work import Op, Work

START, LAST = 100, (1 << 24) - 1
SENT, EMPTY = Work(wr_id=1, op=Op.WRITE, data=b"abc"), Work(wr_id=2, op=Op.SEND, data=b"")
READ = Work(wr_id=3, op=Op.READ, data=bytes(9))


@pytest.fixture
def model_bench() -> Iterator[Bench]:
    source = ModelFactory()
    with source.device(CasePlace(name="places", seed=1)) as target:
        yield Bench(target, source.claims, seed=1)


@pytest.mark.parametrize(
    ("in_front", "want", "got", "lives", "rule"),
    [
        ([], START, 101, 1, "PSN-01"),
        ([], START, 101, 2, "PSN-09"),
        ([None], START, 101, 1, "PSN-21"),
        ([SENT, None], 101, 102, 1, "PSN-21"),
        ([SENT, None], 101, 100, 1, "PSN-02"),
        ([None, SENT], 101, 102, 1, "PSN-02"),
        ([EMPTY], 101, 102, 1, "PSN-04"),
        ([EMPTY], 101, 100, 1, "PSN-04"),
        ([EMPTY], 101, 105, 1, "PSN-02"),
        ([READ], 101, 102, 1, "PSN-05"),
        ([SENT], 0, LAST + 1, 1, "PSN-03"),
        ([SENT], 101, 100, 1, "PSN-02"),
    ],
)
def test_what_is_in_front_names_the_rule(
    in_front: Sequence[Work | None], want: int, got: int, lives: int, rule: str
) -> None:
    assert rule_of_psn(in_front, want=want, got=got, start=START, lives=lives) == rule


def test_a_psn_that_is_next_on_another_queue_pair_is_that_ones(model_bench: Bench) -> None:
    own, other = model_bench.connect(), model_bench.connect()
    for qp in (own, other):
        qp.transfer(Op.WRITE, 5)
    following = model_bench.transcript.next_psns(but=own.spec.remote_qpn)
    assert following == {(other.spec.sq_psn + 1) % PSN_MODULUS}
    want = own.spec.sq_psn + 1
    said = {"want": want, "start": own.spec.sq_psn, "lives": 1}
    assert rule_of_psn([SENT], **said, got=want + 9, others={want + 9}) == "PSN-08"
    assert rule_of_psn([SENT], **said, got=want + 9, others={want + 8}) == "PSN-02"


@pytest.mark.parametrize(
    ("maker", "length", "pad"),
    [
        (WRITE_FIRST, "MTU-01", "PAD-04"),
        (WRITE_MIDDLE, "MTU-02", "PAD-04"),
        (WRITE_LAST, "MTU-03", "PAD-01"),
        (WRITE_ONLY, "MTU-04", "PAD-01"),
    ],
)
def test_a_wrong_length_or_pad_breaks_the_rule_of_its_place(
    model_bench: Bench, maker: Maker, length: str, pad: str
) -> None:
    qp = model_bench.connect()
    came = parse(qp.frame(maker(psn=0, payload=b"12345678")))
    assert came is not None
    longer = maker(psn=0, payload=b"123456789abc")
    padded = maker(psn=0, payload=b"12345678", pad=1)
    told = [mismatches(pattern, came, qp.to_device) for pattern in (longer, padded)]
    rules = [rule_of(each) for several in told for each in several if each.field != "dmalen"]
    assert rules == [length, pad]


class Doubles(ForwardingTarget):
    """Sends each request again, with another last byte."""

    def __init__(self, target: Target) -> None:
        super().__init__(target)
        self._again: list[Arrival] = []

    def receive(self, timeout_ns: int) -> Arrival | None:
        if self._again:
            return self._again.pop()
        came = super().receive(timeout_ns)
        if came is not None:
            frame = bytearray(came.frame)
            edits.flip_end(1)(frame)
            edits.reseal(frame)
            self._again.append(came._replace(frame=bytes(frame)))
        return came


def test_a_copy_with_other_bytes_is_no_wrong_payload_but_a_wrong_copy() -> None:
    source = ModelFactory()
    with source.device(CasePlace(name="copies", seed=1)) as target:
        qp = Bench(Doubles(target), source.claims, seed=1).connect()
        (packet,) = qp.post(Op.WRITE, 8).packets
        qp.expect(packet)
        with pytest.raises(CaseFailed) as failed:
            qp.expect(packet)
    assert failed.value.rules == ("RTX-03",)
