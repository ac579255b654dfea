# SPDX-License-Identifier: BSD-2-Clause
"""Blame: a case's own rules are accused if it is the case that fails, and not what it stands on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from xml.etree import ElementTree

import pytest
from own_cases import Suite

from roceproof.conformance.cases.test_responder_invalidate import (
    test_a_key_of_another_protection_domain_is_not_killed as kills_no_foreign_key,
)
from roceproof.conformance.mutants.corrupting_target import CorruptingFactory
from roceproof.conformance.mutants.frames import request_of
from roceproof.conformance.mutants.wire import WireFault, WireMutant, wire_mutants
from roceproof.conformance.runner.attribution.control import Controls, Skeleton
from roceproof.conformance.runner.attribution.rule_attribution import Blame, blame
from roceproof.conformance.runner.judging.scoreboard import judge
from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.checks.strays import with_strays
from roceproof.conformance.suite.memory import at
from roceproof.conformance.suite.pattern import NAK, OPERATIONAL_ERROR, WRITE_ONLY
from roceproof.conformance.suite.reporting.failure import CaseFailed
from roceproof.conformance.suite.reporting.failure_site import Kind
from roceproof.conformance.suite.sweep import FIRST_ACK
from roceproof.conformance.suite.traffic.storm import Storm, all_that_left
from roceproof.conformance.targets.interface import Beyond, CasePlace, Target
from roceproof.conformance.targets.model.device import ModelFactory
from roceproof.conformance.wire import frame_edits as edits
from roceproof.conformance.wire.codec import build, parse
from roceproof.verbs.service import Service
from roceproof.verbs.work import Op

UNALIGNED = "unaligned-never-leaves"
UNCHECKED = {
    "ack-not-asked-for-with-immediate": (Op.SEND_IMM, 5, "ACK-02"),
    "payload-buffer-wraps-early": (Op.WRITE, 70 * 256, "RETH-13"),
    "ip-id-of-the-message": (Op.WRITE, 700, "LIVE-02"),
    "own-ip-of-a-wired-in-network": (Op.WRITE, 8, "IP-08"),
    "own-mac-wired-in": (Op.WRITE, 8, "ETH-05"),
}
Act = Callable[[Bench], None]


class TakesNoAck(WireFault):
    """Every response is lost."""

    def received(self, frame: bytes, time_ns: int) -> list[bytes]:
        packet = parse(frame)
        return [] if packet is not None and packet.aeth is not None else [frame]


class DeafAfterADamagedAck(WireFault):
    """Behind a response with a wrong ICRC no other is heard."""

    def __init__(self) -> None:
        self._is_deaf = False

    def received(self, frame: bytes, time_ns: int) -> list[bytes]:
        packet = parse(frame)
        if packet is None or packet.aeth is None:
            return [frame]
        was_deaf, self._is_deaf = self._is_deaf, True
        return [] if was_deaf else [frame]


class SecondPairIsMute(WireFault):
    """Nothing that any queue pair but the first of a device sends gets onto the wire."""

    def sent(self, frame: bytes, time_ns: int) -> list[bytes]:
        bth = request_of(frame)
        return [] if bth is not None and bth.dest_qpn != self.first else [frame]

    first = 0x012345


@contextmanager
def bench_of(mutant: WireMutant) -> Any:
    factory = CorruptingFactory(ModelFactory(), mutant)
    with factory.device(CasePlace(name="blame", seed=1)) as target:
        yield Bench(target, factory.claims, seed=1), Controls(factory)


def blamed(fault: type[WireFault], act: Act, *own: str) -> Blame:
    """What a case that does this accuses."""
    mutant = WireMutant("fault", "", (), (), make=fault)
    with bench_of(mutant) as (bench, controls):
        with pytest.raises(AssertionError) as failed:
            act(bench)
        failure = failed.value
        if not isinstance(failure, CaseFailed):
            failure = bench.failed(str(failure))
        return blame(bench, [failure], own=own, controls=controls)


class AnswersTheDamaged(WireFault):
    """Requests with a wrong ICRC are served."""

    def received(self, frame: bytes, time_ns: int) -> list[bytes]:
        packet = parse(frame)
        return [frame] if packet is None else [build(packet)]


def acknowledged(bench: Bench) -> None:
    bench.connect().transfer(Op.WRITE, 8)


def damaged_first(bench: Bench) -> None:
    qp = bench.connect()
    message = qp.post(Op.WRITE, 8)
    qp.expect_message(message)
    qp.ignores(message, FIRST_ACK.corrupted(edits.bad_icrc()))


def asked_with_a_wrong_icrc(bench: Bench) -> None:
    qp = bench.connect()
    region = qp.region(64)
    write = WRITE_ONLY(psn=0, a=1, payload=bytes(8), **at(region))
    qp.drops(write.corrupted(edits.bad_icrc()), fence=0)


def on_a_second_pair(bench: Bench) -> None:
    one = bench.connect(Service.UC, remote_qpn=SecondPairIsMute.first)
    other = bench.connect(Service.UC)
    one.transfer(Op.WRITE, 8)
    other.transfer(Op.WRITE, 8)


def only_counted(bench: Bench) -> None:
    qp = bench.connect()
    qp.serve()
    qp.post(Op.WRITE, 8)
    assert qp.next() is not None, "nothing has come"


def stormed(bench: Bench) -> None:
    storm = Storm(bench)
    stream = storm.on(bench.connect())
    for _ in range(300):
        stream.post(Op.WRITE, 8)
    storm.rage(answers=all_that_left)


def completed_too_early(bench: Bench) -> None:
    qp = bench.connect()
    message = qp.post(Op.WRITE, 8)
    qp.expect_message(message)
    qp.send(NAK(OPERATIONAL_ERROR, psn=0))
    qp.completes(message)


def test_a_case_whose_damaged_request_is_answered_was_reached_whatever_its_own_rules() -> None:
    mutant = WireMutant("fault", "", (), (), make=AnswersTheDamaged)
    with bench_of(mutant) as (bench, controls):
        with pytest.raises(CaseFailed) as failed:
            asked_with_a_wrong_icrc(bench)
        failure = with_strays(bench, failed.value)
        found = blame(bench, [failure], own=("ICRC-12",), controls=controls)
    assert failure.rules == ("ICRC-14",)
    assert found.not_reached is None


def test_a_missing_completion_accuses_no_icrc_rule() -> None:
    found = blamed(TakesNoAck, acknowledged, "ICRC-02", "ICRC-21")
    assert found.broken == ("ACK-08",)
    assert found.not_reached is not None
    assert "a WRITE of 8 bytes never completed" in found.not_reached


def test_what_a_storm_waits_for_behind_a_missing_completion_is_the_completion() -> None:
    found = blamed(TakesNoAck, stormed, "LIVE-02", "PSN-08")
    assert found.broken == ("ACK-08",)
    assert found.stop is not None
    assert found.stop.kind is Kind.NO_COMPLETION


def test_what_the_case_does_before_its_fence_is_accused_if_the_fence_alone_holds() -> None:
    found = blamed(DeafAfterADamagedAck, damaged_first, "ICRC-14")
    assert found.broken == ("ICRC-14",)
    assert found.not_reached is None


def test_a_queue_pair_that_is_mute_alone_is_found_with_as_many_queue_pairs() -> None:
    found = blamed(SecondPairIsMute, on_a_second_pair, "PSN-08")
    assert found.broken == ("LIVE-01",)
    assert found.not_reached is not None


def test_a_case_that_only_counts_is_not_reached_either() -> None:
    class Mute(WireFault):
        def sent(self, frame: bytes, time_ns: int) -> list[bytes]:
            return []

    found = blamed(Mute, only_counted, "ICRC-06")
    assert found.broken == ("LIVE-01",)
    assert found.not_reached is not None


def test_a_wrong_status_is_the_cases_own() -> None:
    assert blamed(WireFault, completed_too_early, "NAK-09").broken == ("NAK-09",)


def test_a_killed_key_of_another_domain_is_told_as_that() -> None:
    components = wire_mutants()["rc-domain-not-compared-to-kill"].components
    assert components is not None
    factory = ModelFactory(components=components())
    with factory.device(CasePlace(name="killed", seed=1)) as device:
        bench = Bench(device, factory.claims, seed=1)
        with pytest.raises(CaseFailed, match="killed a key of another") as failure:
            kills_no_foreign_key(bench)
    assert failure.value.rules == ("RETH-10",)


@pytest.mark.parametrize("name", UNCHECKED)
def test_what_no_case_is_about_is_compared_in_every_case(name: str) -> None:
    op, length, rule = UNCHECKED[name]
    with bench_of(wire_mutants()[name]) as (bench, _):
        qp = bench.connect(path_mtu=256)
        qp.serve()
        message = qp.post(op, length)
        for _ in range(-(-length // 256)):
            assert qp.next() is not None
        assert message.packets
        assert rule in {rule for failure in judge(bench) for rule in failure.rules}


CASES = """
    @case("ICRC-06")
    @over("length", [1, 2, 3, 4, 5, 8, 12, 16, 700, 701])
    def test_lengths(bench, length):
        bench.connect().transfer(Op.WRITE, length)

    @case("ACK-09")
    def test_an_ack_too_far(bench):
        qp = bench.connect()
        message = qp.post(Op.WRITE, 8)
        qp.expect_message(message)
        qp.ignores(message, ACK(psn=1))
        qp.transfer(Op.WRITE, 5)

    @case("ACK-10")
    def test_my_own_assertion(bench):
        bench.connect().transfer(Op.WRITE, 8)
        assert len(bench.frames_sent()) == 2, "two frames were due"
"""


def test_a_device_that_is_broken_for_unaligned_lengths_is_told_in_a_screen(
    suite: Callable[[str], Suite],
) -> None:
    made = suite(CASES)
    done = made.run("--target", "model", "--mutant", UNALIGNED, "-j1")
    assert done.returncode == 1
    summary = done.stdout[done.stdout.index("model full suite:") :].splitlines()
    assert len(summary) <= 24
    assert "6 not reached" in summary[0]
    told = next(line for line in summary if line.startswith("1. "))
    assert "6 of 12 cases stop at messages of a length that is no multiple of 4" in told
    assert any("2. 1 of 12 cases show" in line for line in summary)
    results = {case["case"].partition("[")[0]: case for case in made.results()}
    assert results["test_an_ack_too_far"]["broken"] == ["LIVE-01"]
    assert results["test_an_ack_too_far"]["outcome"] == "not_reached"
    assert results["test_my_own_assertion"]["broken"] == ["ACK-10"]
    tree = ElementTree.parse(made.folder / "out" / "junit.xml")
    names = [each.get("name") for each in tree.getroot().iter("property")]
    assert "finding" in names


class NeverThere(ModelFactory):
    """Devices that cannot be tried."""

    def __init__(self, reason: BaseException) -> None:
        super().__init__()
        self._reason = reason

    @contextmanager
    def device(self, place: CasePlace) -> Iterator[Target]:
        """Not this one."""
        raise self._reason
        yield


@pytest.mark.parametrize("reason", [Beyond("no more"), pytest.skip.Exception("not claimed")])
def test_a_case_that_has_failed_is_not_skipped_because_its_control_is(
    reason: BaseException,
) -> None:
    skeleton = Skeleton((), 0, ())
    assert Controls(NeverThere(reason)).of(skeleton).failure is None
