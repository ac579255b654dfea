# SPDX-License-Identifier: BSD-2-Clause
"""Random stimulus finds nothing in healthy devices, and small cases in those that are not."""

from __future__ import annotations

from dataclasses import replace
from inspect import signature
from typing import Any

import pytest
from random_devices import opener

from roceproof.common.paths import REFERENCE_DUT
from roceproof.conformance.model.components import Components
from roceproof.conformance.model.requester.policy import RequesterPolicy, Unexpected
from roceproof.conformance.model.requester.rc import RcRequester
from roceproof.conformance.mutants.corrupting_target import CorruptingFactory
from roceproof.conformance.mutants.frames import with_stale_pad
from roceproof.conformance.mutants.wire import wire_mutants
from roceproof.conformance.stimulus.drawing.plans import draw_plan
from roceproof.conformance.stimulus.plan import Plan, Step
from roceproof.conformance.stimulus.requester.play import Play
from roceproof.conformance.stimulus.run_plan import Finding, try_seed
from roceproof.conformance.stimulus.shrinking.shrink import Reduction
from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.reporting.failure import CaseFailed
from roceproof.conformance.targets.forwarding import ForwardingTarget
from roceproof.conformance.targets.hdl.factory import HdlFactory
from roceproof.conformance.targets.interface import Arrival, CasePlace, Target
from roceproof.conformance.targets.model.device import ModelFactory
from roceproof.conformance.targets.model.limited import LimitedModelFactory
from roceproof.conformance.wire import frame_edits
from roceproof.conformance.wire.codec import parse
from roceproof.dpi.manifest.dut import load_manifest
from roceproof.verbs.queue_pair import Qp, State
from roceproof.verbs.work import Outcome, Work

FEW, MANY = range(6), range(1000, 1200)
MOST_STEPS = 12


class OddKeys(ForwardingTarget):
    """Sends a key wrongly when four of its bits are set."""

    def receive(self, timeout_ns: int) -> Arrival | None:
        """A frame, perhaps with another key."""
        arrival = super().receive(timeout_ns)
        if arrival is None:
            return None
        packet = parse(arrival.frame)
        if packet is None or packet.reth is None or packet.reth.rkey & 0xF0 != 0xF0:
            return arrival
        frame = bytearray(arrival.frame)
        frame_edits.flip_udp(8 + 12 + 8, 1)(frame)
        frame_edits.reseal(frame)
        return arrival._replace(frame=bytes(frame))


class LosesAWord(ForwardingTarget):
    """Says nothing of work whose number ends with three ones, once it is told."""

    def completions(self, qp: Qp, *, count: int, timeout_ns: int) -> list[Outcome]:
        """All but those."""
        found = super().completions(qp, count=count, timeout_ns=timeout_ns)
        return [outcome for outcome in found if outcome.wr_id & 0b111 != 0b111]


class SwapsLanes(ForwardingTarget):
    """Takes the wrong bytes of a message that begins in lane 5 behind another one."""

    _before = 0

    def post(self, qp: Qp, work: Work) -> None:
        """Work, perhaps with another payload."""
        changes: dict[str, Any] = {}
        if work.offset == 5 and self._before and len(work.data) > 1:
            changes["data"] = work.data[1:] + work.data[:1]
        self._before = work.offset
        super().post(qp, Work(**{**vars(work), **changes}))


FAULTS = [OddKeys, LosesAWord, SwapsLanes]


def test_a_seed_gives_the_same_plan_again(model: ModelFactory) -> None:
    first, again = (draw_plan(7, model.claims) for _ in range(2))
    assert first == again != draw_plan(8, model.claims)


@pytest.mark.sim
@pytest.mark.parametrize("seed", FEW)
def test_a_healthy_endpoint_passes(endpoint: HdlFactory, seed: int) -> None:
    assert_passes(endpoint, seed)


@pytest.mark.parametrize("seed", FEW)
def test_a_healthy_model_passes(model: ModelFactory, seed: int) -> None:
    assert_passes(model, seed)


@pytest.mark.parametrize("seed", FEW)
def test_a_healthy_model_that_says_migreq_0_passes(seed: int) -> None:
    assert_passes(ModelFactory(components=Components(is_migrated=False)), seed)


@pytest.mark.slow
@pytest.mark.sim
def test_a_healthy_endpoint_passes_many(endpoint: HdlFactory, subtests: pytest.Subtests) -> None:
    for seed in MANY:
        with subtests.test(seed=seed):
            assert_passes(endpoint, seed)


@pytest.mark.slow
def test_a_healthy_model_passes_many(model: ModelFactory, subtests: pytest.Subtests) -> None:
    for seed in MANY:
        with subtests.test(seed=seed):
            assert_passes(model, seed)


@pytest.mark.sim
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_becomes_a_small_case_that_fails(fault: type[Target]) -> None:
    factory = HdlFactory(load_manifest(REFERENCE_DUT), data_width=64)
    open_bench = opener(factory, fault)
    findings = (try_seed(seed, factory.claims, open_bench, seconds=15) for seed in range(40))
    finding = next(found for found in findings if found is not None)
    assert len(finding.plan.steps) <= MOST_STEPS, finding.told()
    with pytest.raises(CaseFailed):
        run_printed(finding, open_bench)
    run_printed(finding, opener(factory))


@pytest.mark.parametrize(
    "name",
    [
        "ud-source-is-destination",
        "ud-q-key-as-given",
        "ud-immediate-in-front",
        "ud-psn-stands-still",
    ],
)
def test_a_fault_of_datagrams_is_found(name: str) -> None:
    mutant = wire_mutants()[name]
    components = mutant.components() if mutant.components else Components()
    factory = CorruptingFactory(ModelFactory(components=components), mutant)
    findings = (try_seed(seed, factory.claims, opener(factory)) for seed in range(40))
    assert any(found is not None for found in findings)


@pytest.mark.parametrize("anew", ["RC", "UC", "UD"])
def test_a_queue_pair_of_datagrams_stays_one(model: ModelFactory, anew: str) -> None:
    """What waits may be taken in the next life, and says itself where it goes."""
    with opener(model)(1, None) as bench:
        play = Play(bench)
        play.connect(0, service="UD", qkey=5, remote_qpn=0x111)
        play.post(0, "SEND_IMM", 9, count=3, rkey=0x80000000)
        play.connect(0, service=anew, qkey=6, remote_qpn=0x222)
        play.post(0, "SEND", 9000)
        play.finish()
        sent = [parse(frame) for frame in bench.frames_sent()]
    assert {packet.bth.dest_qpn for packet in sent if packet} == {0x111}


class AlwaysMarked(ForwardingTarget):
    """Sets a bit beside BECN in every packet."""

    spoilt = staticmethod(frame_edits.flip_udp(8 + 4, 1))

    def receive(self, timeout_ns: int) -> Arrival | None:
        """A frame with it."""
        arrival = super().receive(timeout_ns)
        if arrival is None or parse(arrival.frame) is None:
            return arrival
        frame = bytearray(arrival.frame)
        self.spoilt(frame)
        frame_edits.reseal(frame)
        return arrival._replace(frame=bytes(frame))


def stale_pad(frame: bytearray) -> None:
    """The pad is not zero."""
    packet = parse(bytes(frame))
    assert packet is not None
    frame[:] = with_stale_pad(bytes(frame), packet.bth.pad_count)


class StalePads(AlwaysMarked):
    """Its pads are never zero, as no must asks them to be."""

    spoilt = staticmethod(stale_pad)


@pytest.mark.parametrize(
    ("device", "said"), [(AlwaysMarked, "BTH-08"), (StalePads, "pad bytes: want")]
)
def test_what_is_wrong_in_all_packets_alike_hides_nothing_else(
    model: ModelFactory, device: type[Target], said: str
) -> None:
    plan = draw_plan(3, model.claims)
    has_ended = False
    with (
        pytest.raises(CaseFailed, match=said),
        opener(model, device)(3, plan.host) as bench,
    ):
        plan.play(bench)
        has_ended = bench.aside is not None
    assert has_ended


def run_printed(finding: Finding, open_bench: Any) -> None:
    """Run the text of the case, as if it had been pasted into a file."""
    text = finding.plan.case("printed", rules=finding.failure.rules or ["FUZZ-16"])
    names: dict[str, Any] = {}
    exec(compile(text, "printed", "exec"), names)
    marks = {mark.name: mark.kwargs for mark in names["test_printed"].pytestmark}
    assert ("identity" in marks) == (finding.plan.host is not None)
    with open_bench(finding.seed, finding.plan.host) as bench:
        names["test_printed"](bench)


def assert_passes(factory: HdlFactory | ModelFactory, seed: int) -> None:
    finding = try_seed(seed, factory.claims, opener(factory))
    assert finding is None, finding.told()


MINE = 7


class FailsAnother(ForwardingTarget):
    """The work of the queue pair that is asked next ends as work of the one before."""

    _ended: tuple[int, Outcome] | None = None

    def completions(self, qp: Qp, *, count: int, timeout_ns: int) -> list[Outcome]:
        """With a refusal of another one."""
        found = super().completions(qp, count=count, timeout_ns=timeout_ns)
        refused = [(qp.qpn, each) for each in found if each.status.startswith("rem_")]
        if self._ended is not None and self._ended[0] != qp.qpn:
            found, self._ended = [replace(self._ended[1], wr_id=MINE)], None
        self._ended = next(iter(refused), self._ended)
        return found


@pytest.mark.sim
def test_work_that_ends_as_another_queue_pairs_is_told_with_that_one(endpoint: HdlFactory) -> None:
    with opener(endpoint, FailsAnother)(1, None) as bench:
        play = Play(bench)
        for key in range(2):
            play.connect(key=key, local_qpn=0x100 + key)
            play.post(key=key, wr_id=MINE * key)
        play.until(frames=2, within=4000)
        with pytest.raises(CaseFailed, match=r"which waits .*\n.*rem_.*\nas work ends of qp 0x100"):
            play.answer(key=0, syndrome=0x61)
            play.finish()


class NotesResets(ForwardingTarget):
    """Knows which queue pairs were made inactive."""

    def __init__(self, target: Target) -> None:
        super().__init__(target)
        self.reset: list[int] = []

    def set_state(self, qp: Qp, state: State) -> None:
        """One more."""
        self.reset.append(qp.qpn)
        super().set_state(qp, state)


@pytest.mark.sim
def test_no_two_are_active_in_one_place_whatever_a_reduced_plan_leaves_out(
    endpoint: HdlFactory,
) -> None:
    with endpoint.device(CasePlace(name="places", seed=1)) as target:
        noted = NotesResets(target)
        play = Play(Bench(noted, endpoint.claims, seed=1))
        for key, qpn in enumerate((8, 9, 8 + 16, 9 + 32)):
            play.connect(key=key, local_qpn=qpn)
        assert noted.reset == [8, 9]
        play.connect(key=0, local_qpn=8)
        assert noted.reset == [8, 9, 8 + 16]


@pytest.mark.parametrize("names", [("idle", "connect"), ("connect", "idle"), ("connect",) * 2])
@pytest.mark.sim
def test_a_number_is_that_of_one_queue_pair(endpoint: HdlFactory, names: tuple[str, str]) -> None:
    with opener(endpoint)(1, None) as bench:
        play = Play(bench)
        for key, name in enumerate(names):
            getattr(play, name)(key=key, local_qpn=17)
            play.post(key=key)
        play.finish()
        assert list(play.scene.qps) == [0]


@pytest.mark.sim
def test_a_timeout_may_be_told_behind_frames_whose_payload_is_held_back(
    endpoint: HdlFactory,
) -> None:
    with opener(endpoint)(1, None) as bench:
        play = Play(bench)
        for key in range(2):
            play.connect(key=key, ack_timeout=2)
        play.connect(key=2, path_mtu=4096)
        play.post(key=0)
        play.disturb(payload_gap=99)
        play.post(key=1)
        play.post(key=2, size=4 * 4096)
        play.expire()
        play.finish()


def test_a_plan_that_is_made_smaller_can_still_be_played() -> None:
    flaws = [("icrc", 3), ("opcode", 22)]
    steps = (
        Step("salvo", {"key": 0, "flaws": flaws, "oldest": 1, "apart": 50}),
        Step("endless", {"key": 0, "op": "WRITE", "length": 1 << 20, "immediate": 7}),
    )

    def fails(plan: Plan) -> bool:
        for step in plan.steps:
            signature(getattr(Play, step.name)).bind(None, **step.fields)
        return len(plan.steps) == len(steps)

    least = Reduction(Plan(steps=steps), fails, seconds=60).run()
    assert [sorted(step.fields) for step in least.steps] == [
        ["flaws", "key"],
        ["key", "length", "op"],
    ]


def play_reserved(unexpected: Unexpected) -> None:
    """A reserved syndrome answers two messages of a device that never retransmits."""
    habits = Components(requester_policy=RequesterPolicy(unexpected=unexpected))
    factory = LimitedModelFactory(load_manifest(REFERENCE_DUT), habits)
    with opener(factory)(1, None) as bench:
        play = Play(bench)
        play.connect(0)
        play.post(0, "WRITE", 4, count=2)
        play.until(2)
        play.answer(0, syndrome=0x65)
        play.finish()


@pytest.mark.parametrize("unexpected", Unexpected)
def test_a_reserved_syndrome_is_ignored_or_ends_the_queue_pair(unexpected: Unexpected) -> None:
    play_reserved(unexpected)


def test_what_stands_before_a_reserved_syndrome_may_be_done(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The answer names the second message."""
    monkeypatch.setattr(
        RcRequester,
        "unexpected",
        lambda own: own.progress((own.window.fresh - 1) % (1 << 24), now_ns=0),
    )
    play_reserved(Unexpected.IGNORED)


def test_a_reserved_syndrome_acknowledges_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        RcRequester, "unexpected", lambda own: own.progress(own.window.fresh, now_ns=0)
    )
    with pytest.raises(CaseFailed):
        play_reserved(Unexpected.IGNORED)
