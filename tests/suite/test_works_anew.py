# SPDX-License-Identifier: BSD-2-Clause
"""A device that hangs for good breaks a must, whatever the case that met it is about."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest

from roceproof.conformance.model.components import Components
from roceproof.conformance.mutants.corrupting_target import CorruptingTarget
from roceproof.conformance.mutants.wire import WireFault
from roceproof.conformance.runner.attribution.control import works_anew
from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.pattern import WRITE_ONLY
from roceproof.conformance.suite.reporting.failure import CaseFailed
from roceproof.conformance.suite.reporting.failure_site import Kind, Stop
from roceproof.conformance.targets.interface import CasePlace
from roceproof.conformance.targets.model.device import ModelFactory
from roceproof.conformance.wire import frame_edits as edits
from roceproof.verbs.work import Op

_CHECKSUM = slice(40, 42)  # of UDP, behind Ethernet and IPv4
_BAD = bytes.fromhex("1234")


class DeafForGood(WireFault):
    """Behind one UDP checksum that is wrong."""

    is_deaf = False

    def received(self, frame: bytes, time_ns: int) -> list[bytes]:
        self.is_deaf |= frame[_CHECKSUM] == _BAD
        return [] if self.is_deaf else [frame]


class DeafOnce(DeafForGood):
    """The same frame takes one other with it."""

    def received(self, frame: bytes, time_ns: int) -> list[bytes]:
        kept = super().received(frame, time_ns)
        self.is_deaf = frame[_CHECKSUM] == _BAD
        return kept


class Mute(WireFault):
    """Behind its first packet the device sends nothing."""

    count = 0

    def sent(self, frame: bytes, time_ns: int) -> list[bytes]:
        self.count += 1
        return [frame] if self.count == 1 else []


@contextmanager
def bench_of(fault: type[WireFault]) -> Iterator[Bench]:
    source = ModelFactory(components=Components())
    with source.device(CasePlace(name="works-anew", seed=5)) as target:
        yield Bench(CorruptingTarget(target, fault()), source.claims, seed=5)  # type: ignore[abstract]


@pytest.mark.parametrize(("fault", "lives"), [(DeafForGood, False), (DeafOnce, True)])
def test_a_responder_is_asked_on_a_new_queue_pair(fault: type[WireFault], lives: bool) -> None:
    with bench_of(fault) as bench:
        qp = bench.connect()
        qp.send(WRITE_ONLY(psn=0).corrupted(edits.set_udp(6, _BAD)))
        with pytest.raises(CaseFailed) as failed:
            qp.fence(0)
        stop = failed.value.stop
        assert stop is not None
        assert (stop.kind, stop.stands_still) == (Kind.NO_ANSWER, True)
        assert works_anew(bench, stop) is lives


@pytest.mark.parametrize(("fault", "lives"), [(Mute, False), (WireFault, True)])
def test_a_requester_sends_on_a_new_queue_pair(fault: type[WireFault], lives: bool) -> None:
    with bench_of(fault) as bench:
        qp = bench.connect()
        qp.transfer(Op.WRITE, 5)
        assert works_anew(bench, Stop(Kind.NO_PACKET, qp)) is lives


def test_what_a_device_may_not_be_asked_says_nothing() -> None:
    with bench_of(Mute) as bench:
        qp = bench.connect()
        posted = qp.transfer(Op.WRITE, 5)
        bench.claims = replace(bench.claims, capabilities=frozenset())
        assert works_anew(bench, Stop(Kind.NO_PACKET, qp, posted))
