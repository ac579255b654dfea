# SPDX-License-Identifier: BSD-2-Clause
"""Random requests find nothing in healthy responders, and small cases in those that are not."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import pytest
from random_devices import opener

from roceproof.common.paths import REPOSITORY, RESPONDER_DUT
from roceproof.conformance.model.components import Components
from roceproof.conformance.model.notification_point import NotificationPoint
from roceproof.conformance.mutants.corrupting_target import CorruptingFactory
from roceproof.conformance.mutants.frames import edited
from roceproof.conformance.mutants.wire import wire_mutants
from roceproof.conformance.stimulus import run_plan
from roceproof.conformance.stimulus.drawing.plans import draw_plan
from roceproof.conformance.stimulus.drawing.requests import draw_requests
from roceproof.conformance.stimulus.plan import Plan, Step
from roceproof.conformance.stimulus.responder.play import Asking
from roceproof.conformance.stimulus.responder.requests import Request
from roceproof.conformance.stimulus.run_plan import (
    Finding,
    Played,
    draws_of,
    try_plan,
    try_seed,
)
from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.pattern import UD_SEND_ONLY
from roceproof.conformance.suite.reporting.divergence import differed
from roceproof.conformance.suite.reporting.failure import CaseFailed
from roceproof.conformance.targets.capability import Capability
from roceproof.conformance.targets.forwarding import ForwardingTarget
from roceproof.conformance.targets.hdl.factory import HdlFactory
from roceproof.conformance.targets.interface import CasePlace, DeviceFactory, Target
from roceproof.conformance.targets.model.device import ModelFactory
from roceproof.conformance.targets.model.limited import LimitedModelFactory
from roceproof.conformance.wire.codec import parse
from roceproof.conformance.wire.frame_edits import bad_icrc
from roceproof.dpi.manifest.dut import load_manifest
from roceproof.verbs.limits import Limits
from roceproof.verbs.queue_pair import Qp, QpSpec
from roceproof.verbs.service import Service
from roceproof.verbs.work import Op, Outcome

FEW, MANY = range(4), range(1000, 1100)
SMALL = REPOSITORY / "examples" / "byte_endpoint" / "dut.toml"
MOST_STEPS = 8


def tried(factory: DeviceFactory, seed: int) -> Finding | None:
    return try_seed(seed, factory.claims, opener(factory), draws=draw_requests, seconds=15)


def assert_passes(factory: DeviceFactory, seed: int) -> None:
    finding = tried(factory, seed)
    assert finding is None, finding.told()


def test_a_seed_gives_the_same_plan_again(model: ModelFactory) -> None:
    first, again = (draw_requests(7, model.claims) for _ in range(2))
    assert first == again != draw_requests(8, model.claims)


def test_a_device_that_serves_datagrams_only_is_asked_for_nothing_else(
    model: ModelFactory,
) -> None:
    claims = replace(model.claims, executes={Service.UD: frozenset({Op.SEND})})
    steps = [step for seed in range(20) for step in draw_requests(seed, claims).steps]
    assert {step.fields["service"] for step in steps if step.name == "connect"} == {"UD"}
    asked = [step.fields["op"] for step in steps if step.name == "request"]
    assert set(asked) <= {"SEND", "SEND_IMM"}
    assert asked.count("SEND") > 10


def test_of_a_device_that_serves_nothing_nothing_is_asked(model: ModelFactory) -> None:
    assert draw_requests(7, replace(model.claims, executes={})).steps == ()


def test_a_device_that_takes_no_receives_is_given_none(model: ModelFactory) -> None:
    claims = replace(model.claims, executes={Service.UC: frozenset({Op.WRITE})})
    steps = [step for seed in range(20) for step in draw_requests(seed, claims).steps]
    assert {"connect", "region", "request"} <= {step.name for step in steps}
    assert "receive" not in {step.name for step in steps}


def test_nor_is_a_receive_posted_that_a_case_has_written_down() -> None:
    factory = ModelFactory()
    factory.claims = replace(factory.claims, executes={Service.RC: frozenset({Op.WRITE})})
    with factory.device(CasePlace(name="one", seed=1)) as device:
        play = Asking(Bench(device, factory.claims, seed=1))
        play.connect(0)
        play.receive(0)
        (known,) = play.qps.values()
        assert not known.receives


@pytest.mark.parametrize("seed", FEW)
def test_a_healthy_model_passes(model: ModelFactory, seed: int) -> None:
    assert_passes(model, seed)


@pytest.mark.slow
def test_a_healthy_model_passes_many(model: ModelFactory, subtests: pytest.Subtests) -> None:
    for seed in MANY:
        with subtests.test(seed=seed):
            assert_passes(model, seed)


@pytest.mark.parametrize("dut", [RESPONDER_DUT, SMALL], ids=["reference", "small"])
def test_a_model_that_can_do_as_little_as_the_device_passes(dut) -> None:
    factory = LimitedModelFactory(load_manifest(dut))
    for seed in FEW:
        assert_passes(factory, seed)


@pytest.mark.sim
def test_a_healthy_responder_passes(responder: HdlFactory) -> None:
    for seed in FEW:
        assert_passes(responder, seed)


@pytest.mark.slow
@pytest.mark.sim
def test_a_healthy_responder_passes_many(responder: HdlFactory, subtests: pytest.Subtests) -> None:
    for seed in MANY:
        with subtests.test(seed=seed):
            assert_passes(responder, seed)


def test_what_is_played_depends_on_what_the_device_claims(responder: HdlFactory) -> None:
    assert draws_of(responder.claims) == [draw_plan, draw_requests]
    small = HdlFactory(load_manifest(REPOSITORY / "examples" / "uc_writer" / "dut.toml"))
    assert draws_of(small.claims) == [draw_plan]
    asking = frozenset({Capability.REQUESTER, Capability.RC, Capability.READ})
    assert draws_of(replace(small.claims, capabilities=asking)) == []
    datagrams = frozenset({Capability.REQUESTER, Capability.UD, Capability.SEND})
    assert draws_of(replace(small.claims, capabilities=datagrams, limits=Limits())) == []


@pytest.mark.sim
def test_keys_that_are_built_in_outlive_a_reset() -> None:
    """Those that a device was told do not: what names them then is refused."""
    plan = Plan(
        steps=(
            Step("connect", {"key": 1}),
            Step("region", {"key": 1}),
            Step("power_on", {}),
            Step("connect", {"key": 1}),
            Step("lost", {"key": 1}),
        ),
        player=Asking,
    )
    seen = run_plan.played(plan, 1, opener(HdlFactory(load_manifest(SMALL))))
    assert seen.failure is None, seen.failure


def test_a_smaller_plan_that_is_none_of_this_device_is_not_taken(
    model: ModelFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = Plan(steps=(Step("connect", {"key": 1}), Step("power_on", {})), player=Asking)
    failure = CaseFailed("want  nothing\ngot   something", rules=["LIVE-02"])

    def seen(candidate: Plan, *_: object) -> Played:
        if candidate != plan:
            pytest.skip("it has no more queue pairs than 2")
        return Played(failure)

    monkeypatch.setattr(run_plan, "played", seen)
    finding = try_plan(plan, 1, opener(model))
    assert finding is not None and finding.tries > 0
    assert (finding.plan, finding.failure) == (plan, failure)


@pytest.mark.parametrize("name", ["rc-message-inside-message", "rc-family-not-tracked"])
def test_a_fault_becomes_a_small_case_that_fails(name: str) -> None:
    mutant = wire_mutants()[name]
    assert mutant.components is not None
    factory = CorruptingFactory(ModelFactory(components=mutant.components()), mutant)
    findings = (tried(factory, seed) for seed in range(40))
    finding = next(found for found in findings if found is not None)
    assert len(finding.plan.steps) <= MOST_STEPS, finding.told()
    text = finding.plan.case("printed", rules=["FUZZ-16"])
    names: dict[str, object] = {}
    exec(compile(text, "printed", "exec"), names)
    with pytest.raises(CaseFailed), opener(factory)(finding.seed, None) as bench:
        names["test_printed"](bench)


def played(**request: object) -> str:
    """What a play of one such request on a healthy model says, told that it was another."""
    factory = ModelFactory()
    with factory.device(CasePlace(name="one", seed=1)) as device:
        bench = Bench(device, factory.claims, seed=1)
        play = Asking(bench)
        play.connect(0)
        play.region(0, 64)
        play.receive(0)
        play.settle()
        (known,) = play.qps.values()
        tamper = request.pop("tamper")
        play.request(0, **request)
        bench.settle()
        tamper(bench, known)
        with pytest.raises(CaseFailed) as failure:
            play.settle()
        return str(failure.value)


def test_an_answer_that_lacks_is_told() -> None:
    told = played(op="WRITE", size=8, tamper=lambda _, known: known.qp.inbox.clear())
    assert "want  ACK psn=+0 syndrome=ACK msn=1\ngot   nothing in time\n" in told


def test_a_completion_that_lacks_is_told() -> None:
    def lose(bench: Bench, known) -> None:
        bench.completions(known.qp, count=0, within_ns=0)

    told = played(op="SEND", size=8, tamper=lose)
    assert " success 8 None\ngot   none" in told


def test_memory_that_differs_is_told() -> None:
    def change(_: Bench, known) -> None:
        known.places[0].region.write(40, b"\xff" * 2)

    told = played(op="WRITE", size=8, tamper=change)
    assert "want  other bytes from 40 on in the region of key" in told


@pytest.mark.parametrize(
    ("ops", "rule"),
    [
        (["FETCH_ADD"], "ATOM-04"),
        (["READ", "FETCH_ADD"], "ATOM-04"),
        (["WRITE", "", "FETCH_ADD"], "ATOM-04"),
        (["WRITE", "FETCH_ADD"], "PSN-12"),
    ],
)
def test_what_atomics_alone_change_is_told_as_theirs(ops: list[str], rule: str) -> None:
    components = wire_mutants()["rc-adder-of-32-bits"].components
    assert components is not None
    factory = ModelFactory(components=components())
    with factory.device(CasePlace(name="one", seed=1)) as device:
        play = Asking(Bench(device, factory.claims, seed=1))
        play.connect(0)
        play.region(0, 64)
        for op in ops:
            if op:
                play.request(0, op, 8, swap=1 << 40)
            else:
                play.settle()
        with pytest.raises(CaseFailed) as failure:
            play.settle()
    assert differed(failure.value) == (rule,)


class Mute(NotificationPoint):
    """It hears of marks, and tells of none."""

    def take(self) -> bool:
        super().take()
        return False


@pytest.fixture
def mute() -> Iterator[Asking]:
    """A queue pair with some memory on a device that tells of no mark."""
    with opener(ModelFactory(components=Components(notification_point=Mute)))(1, None) as bench:
        play = Asking(bench)
        play.connect(0)
        play.region(0, 64)
        yield play


def test_a_mark_that_nobody_was_told_of_is_told(mute: Asking) -> None:
    mute.flawed(0, "marked", number=1 << 2)
    mute.settle()
    mute.flawed(0, "marked", number=3 << 2)
    with pytest.raises(CaseFailed, match="no notification came") as failure:
        mute.settle()
    assert differed(failure.value) == ("CNP-04",)


def test_a_queue_pair_that_failed_owes_no_notification(mute: Asking) -> None:
    mute.request(0, "WRITE", 8, offset=60)
    mute.flawed(0, "marked", number=3 << 2)
    mute.settle()
    assert not mute.serves(0)


@pytest.mark.parametrize(("changed", "told"), [(0x02, None), (0x20, "tos: want"), (0x80, "tos")])
def test_answers_have_the_dscp_of_their_queue_pair_and_any_ecn(
    changed: int, told: str | None
) -> None:
    def other(frame: bytes, _time_ns: int) -> list[bytes]:
        def edit(packet: bytearray) -> None:
            packet[15] ^= changed

        return [edited(frame, edit) if parse(frame) else frame]

    with opener(ModelFactory(corrupt_sent=other))(1, None) as bench:
        play = Asking(bench)
        play.connect(0)
        play.region(0, 64)
        play.request(0, "WRITE", 8)
        with pytest.raises(CaseFailed, match=told) if told else nullcontext():
            play.settle()


def test_a_datagram_that_is_lost_is_told(model: ModelFactory) -> None:
    with opener(model)(1, None) as bench:
        play = Asking(bench)
        play.connect(0, service="UD", path_mtu=256, qkey=5)
        play.region(0, 64)
        play.receive(0, 400, count=2)
        play.request(0, "SEND", 8)
        play.request(0, "SEND", 8, key_mask=1)
        play.settle()
        (known,) = play.qps.values()
        known.send(UD_SEND_ONLY(psn=2, payload=8, qkey=5).corrupted(bad_icrc()))
        known.frames[-1] = known.qp.frame(UD_SEND_ONLY(psn=2, payload=8, qkey=5))
        with pytest.raises(CaseFailed, match="want  receives completed"):
            play.settle()


def test_a_key_that_outlives_its_end_is_told(model: ModelFactory) -> None:
    """The device is asked to invalidate another key than the one that the oracle hears of."""
    with opener(model)(1, None) as bench:
        play = Asking(bench)
        play.connect(0)
        for _ in range(3):
            play.region(0, 64)
        play.receive(0)
        (known,) = play.qps.values()
        honest = known.key_to_kill

        def kill_the_other(request: Request, keys: Collection[int]) -> int:
            named = honest(request, keys)
            for state in known.oracle.states:
                state.memory.invalidate(known.places[1].region.rkey)
            return named

        known.key_to_kill = kill_the_other
        play.request(0, "SEND_INV", 8, kills=-1)
        play.request(0, "WRITE", 8, region=1)
        refused = r"want  NAK psn=.1 syndrome=0x62 .*\n.*\n.*WRITE ONLY at .1"
        with pytest.raises(CaseFailed, match=refused):
            play.settle()


def test_another_request_at_the_psn_of_one_that_found_no_receive_is_none_of_the_device(
    model: ModelFactory,
) -> None:
    """An observer takes its answer for that of the request before."""
    with opener(model)(1, None) as bench:
        play = Asking(bench)
        play.connect(0)
        play.region(0)
        play.connect(0, rq_psn=0x7FE)
        play.request(0)
        play.connect(0, rq_psn=0xFFFFF0)
        play.late(0)
        play.request(0, "SEND_INV", 326, ask="none", solicited=True, kills=7, offset=1371)
        play.receive(0, 1829, count=3)
        play.request(0, "READ", 12, ask="none", offset=386)
        play.finish()


@pytest.mark.sim
def test_streams_pause_until_what_was_sent_is_taken(responder: HdlFactory) -> None:
    with opener(responder)(1, None) as bench:
        target, seen = bench.target, []
        honest = target.disturb

        def disturb(**percent: int) -> None:
            seen.append((percent.get("rx_gap", 0), len(target.taken_ns())))
            honest(**percent)

        target.disturb = disturb
        play = Asking(bench)
        play.connect(0)
        play.region(0)
        play.disturb(rx_gap=60)
        play.request(0, "WRITE", 8)
        play.settle()
        assert seen == [(60, 0), (0, 1)]


def test_a_receive_that_does_not_tell_which_key_is_dead_is_told(model: ModelFactory) -> None:
    with opener(model)(1, None) as bench:
        play = Asking(bench)
        play.connect(0)
        for _ in range(2):
            play.region(0, 64)
        play.receive(0)
        honest = bench.completions

        def mute(*args: Any, **options: Any) -> list[Outcome]:
            return [replace(each, invalidated=None) for each in honest(*args, **options)]

        bench.completions = mute
        play.request(0, "SEND_INV", 8)
        with pytest.raises(CaseFailed, match="invalidates 0x"):
            play.settle()


class TakesReceivesLate(ForwardingTarget):
    """What waits for room in a queue comes in behind the restart that makes room."""

    def __init__(self, target: Target) -> None:
        super().__init__(target)
        self._waiting: list[dict[str, Any]] = []

    def post_receive(self, qp: Qp, *, may_wait: bool = False, **said: Any) -> None:
        if may_wait:
            self._waiting.append(said)
        else:
            super().post_receive(qp, **said)

    def reopen(self, qp: Qp, spec: QpSpec) -> Qp:
        fresh = super().reopen(qp, spec)
        for said in self._waiting:
            super().post_receive(fresh, **said)
        self._waiting.clear()
        return fresh


def test_receives_that_waited_for_room_may_come_into_the_next_life() -> None:
    factory = ModelFactory()
    factory.claims = replace(factory.claims, receives=4)
    with opener(factory, TakesReceivesLate)(1, None) as bench:
        play = Asking(bench)
        play.connect(key=0)
        play.region(key=0)
        play.overfill(key=0, more=3)
        play.connect(key=0, access=["remote_atomic"])
        play.finish()


def test_a_queue_that_has_just_failed_is_not_filled() -> None:
    factory = ModelFactory()
    factory.claims = replace(factory.claims, receives=4)
    with opener(factory)(1, None) as bench:
        play = Asking(bench)
        play.connect(key=0)
        play.region(key=0)
        play.request(0, "FETCH_ADD", 8, offset=1)
        play.overfill(key=0, more=2)
        play.finish()
