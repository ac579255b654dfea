# SPDX-License-Identifier: BSD-2-Clause
"""Completions that are seen before what explains them, on devices whose order nobody knows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from roceproof.common.paths import REFERENCE_DUT
from roceproof.conformance.model.components import Components
from roceproof.conformance.model.requester.policy import RequesterPolicy, Reread
from roceproof.conformance.stimulus.requester import requester_checker
from roceproof.conformance.stimulus.requester.incarnation import Life
from roceproof.conformance.stimulus.requester.play import Play
from roceproof.conformance.stimulus.requester.requester_checker import Track
from roceproof.conformance.stimulus.requester.state import Response
from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.reporting.failure import CaseFailed
from roceproof.conformance.targets.capability import Capability
from roceproof.conformance.targets.interface import CasePlace, TargetError
from roceproof.conformance.targets.model.device import ModelFactory, ModelTarget
from roceproof.conformance.targets.model.limited import LimitedModelFactory
from roceproof.dpi.manifest.dut import load_manifest
from roceproof.verbs.queue_pair import Qp
from roceproof.verbs.work import Op, Outcome, Work

TOO_LONG = 1 << 31 | 1


def healthy(components: Components | None = None) -> ModelFactory:
    """A model that does not retransmit, so that its completions are tracked."""
    factory = ModelFactory(components=components)
    mute = factory.claims.capabilities - {Capability.RETRANSMISSION}
    factory.claims = replace(factory.claims, capabilities=mute)
    return factory


def configured(**fields: Any) -> Life:
    """The life of a queue pair with these fields, its device gone."""
    factory = healthy()
    with factory.device(CasePlace(name="early", seed=1)) as target:
        play = Play(Bench(target, factory.claims, seed=1))
        play.connect(key=1, **fields)
        return play.scene.qps[1].life


def test_work_may_be_refused_before_work_that_a_nak_leaves_unsent_is_flushed() -> None:
    slow = Components(requester_policy=RequesterPolicy(packet_interval_ns=10_000))
    factory = healthy(slow)
    with factory.device(CasePlace(name="early", seed=1)) as target:
        play = Play(Bench(target, factory.claims, seed=1))
        play.connect(key=1)
        play.post(key=1, count=2)
        play.until(frames=1)
        play.answer(key=1, syndrome=0x61)
        play.post(key=1, length=TOO_LONG)
        play.finish()


def test_work_that_is_refused_early_decides_nothing_about_work_in_front() -> None:
    """Nobody knows whether the answer of a reserved kind has failed it: more of it may leave."""
    factory = healthy(Components(requester_policy=RequesterPolicy(packet_interval_ns=1000)))
    with factory.device(CasePlace(name="early", seed=1)) as target:
        play = Play(Bench(target, factory.claims, seed=1))
        play.connect(key=0, path_mtu=1024)
        play.post(key=0, size=7166)
        play.post(key=0, length=TOO_LONG)
        play.until(frames=1)
        play.answer(key=0, syndrome=0xD6)
        play.finish()


def test_a_refusal_is_no_proof_that_a_message_in_front_was_cut_short() -> None:
    """The answer may have failed the queue pair, or not; the message goes on, so it has not."""
    factory = healthy()
    with factory.device(CasePlace(name="early", seed=1)) as target:
        play = Play(Bench(target, factory.claims, seed=1))
        play.connect(key=6, path_mtu=512)
        play.post(key=6)
        play.until()
        play.post(key=6, size=1534)
        play.answer(key=6, flip=2, syndrome=0xD8)
        play.post(key=6, length=TOO_LONG)
        play.wait(ns=1)
        play.finish()


def test_what_is_refused_behind_work_that_is_not_flushed_is_told_all_the_same() -> None:
    manifest = load_manifest(REFERENCE_DUT)
    manifest = replace(manifest, limits=replace(manifest.limits, flushes=False))
    slow = Components(requester_policy=RequesterPolicy(packet_interval_ns=1000))
    factory = LimitedModelFactory(manifest, slow)
    with factory.device(CasePlace(name="early", seed=1)) as target:
        play = Play(Bench(target, factory.claims, seed=1))
        play.connect(key=0)
        play.post(key=0, op="WRITE", count=4)
        play.post(key=0, op="WRITE", length=TOO_LONG)
        play.wait(ns=1000)
        play.answer(key=0, syndrome=0x2F)
        play.finish()


def test_work_that_completes_out_of_its_order_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    completions = ModelTarget.completions

    def reversed_order(self: ModelTarget, qp: Qp, *, count: int, timeout_ns: int) -> list[Outcome]:
        return completions(self, qp, count=count, timeout_ns=timeout_ns)[::-1]

    monkeypatch.setattr(ModelTarget, "completions", reversed_order)
    factory = healthy()
    with factory.device(CasePlace(name="early", seed=1)) as target:
        play = Play(Bench(target, factory.claims, seed=1))
        play.connect(key=1)
        play.post(key=1, count=2)
        play.until(frames=2)
        with pytest.raises(CaseFailed):
            play.finish()


@pytest.mark.parametrize("is_posted_first", [True, False])
def test_an_answer_may_meet_what_has_left_its_queue_pair_and_not_yet_the_port(
    is_posted_first: bool,
) -> None:
    life = configured()
    track, work = Track(life), Work(wr_id=1, op=Op.SEND, data=b"")
    if is_posted_first:
        track.posted(work)
    track.answered(Response(life.spec.sq_psn, 0x1F, sent_ns=10, expires_ns=20))
    if not is_posted_first:
        track.posted(work)
    (frame,) = track.expected_frames()
    assert track.takes(frame, 30, begun_ns=25) == 0
    done = Outcome(wr_id=1, status="success", syndrome=0x1F)
    assert track.completes(done, 40) is is_posted_first


def test_whoever_loses_count_of_what_a_device_may_do_accuses_nobody(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(requester_checker, "_MOST_STATES", 2)
    life = configured()
    track = Track(life)
    track.posted(Work(wr_id=1, op=Op.SEND, data=b""))
    (frame,) = track.expected_frames()
    track.takes(frame, 30, begun_ns=25)
    with pytest.raises(TargetError, match="more than 2 states"):
        track.answered(Response(life.spec.sq_psn, 0xD6, sent_ns=40, expires_ns=50))


def failing_track(sizes: list[int]) -> tuple[Track, list[bytes]]:
    """A judge of SENDs whose first one has left and draws a NAK, and all their frames in order."""
    life = configured(path_mtu=256)
    track, other = Track(life), Track(life)
    frames = []
    for number, size in enumerate(sizes):
        work = Work(wr_id=number, op=Op.SEND, data=bytes(size))
        track.posted(work)
        other.posted(work)
        for _ in range(life.packets(work)):
            (frame,) = other.expected_frames()
            other.takes(frame, 30, begun_ns=25)
            frames.append(frame)
    track.takes(frames[0], 30, begun_ns=20)
    track.answered(Response(life.spec.sq_psn, 0x61, sent_ns=40, expires_ns=50))
    assert track.completes(Outcome(wr_id=0, status="rem_inv_req_err", syndrome=0x61), 60)
    return track, frames


@pytest.mark.parametrize("sizes", [[600, 5], [5, 5, 5]])
def test_a_frame_that_had_begun_when_a_failure_was_told_ends_and_is_the_last(
    sizes: list[int],
) -> None:
    track, frames = failing_track(sizes)
    assert track.takes(frames[1], 70, begun_ns=61) is None
    assert track.takes(frames[1], 70, begun_ns=55) == 0
    assert track.takes(frames[2], 80, begun_ns=55) is None
    for number in range(1, len(sizes)):
        assert track.completes(Outcome(wr_id=number, status="wr_flush_err", syndrome=None), 90)
    assert not track.owed()


def test_thousands_of_answers_take_effect_when_all_is_at_rest() -> None:
    life = configured()
    track = Track(life)
    track.posted(Work(wr_id=1, op=Op.SEND, data=b""))
    for time in range(3000):
        track.answered(Response(life.spec.sq_psn, 0x1F, sent_ns=time, expires_ns=time + 10))
    track.rested(since_ns=4000)
    assert track.owed()


def test_a_device_that_asks_for_addresses_knows_one_mac_for_each_ip() -> None:
    factory = ModelFactory(components=Components(resolves_addresses=True))
    for asks in (True, False):
        factory.claims = replace(factory.claims, resolves_addresses=asks)
        with factory.device(CasePlace(name="early", seed=1)) as target:
            play = Play(Bench(target, factory.claims, seed=1))
            play.connect(key=1, remote_mac="02:00:00:00:00:01", remote_ip="10.1.2.3")
            play.connect(key=2, remote_mac="02:00:00:00:00:02", remote_ip="10.1.2.3")
            macs = {known.life.spec.remote.mac for known in play.scene.qps.values()}
        assert len(macs) == (1 if asks else 2)


def test_a_read_that_is_asked_for_again_as_a_whole_is_answered_as_a_whole() -> None:
    wanted = RequesterPolicy(reread=Reread.WHOLE)
    factory = ModelFactory(components=Components(requester_policy=wanted))
    with factory.device(CasePlace(name="early", seed=1)) as target:
        play = Play(Bench(target, factory.claims, seed=1))
        play.connect(key=1, path_mtu=256, ack_timeout=2)
        play.post(key=1, op="READ", size=1024)
        play.until(frames=1)
        play.respond(key=1, packets=1)
        play.wait(ns=45_056)
        judge = play.scene.qps[1].judge
        start = judge.unanswered
        play.finish()
    assert start is not None and start[0] == play.scene.qps[1].life.spec.sq_psn
