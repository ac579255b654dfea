# SPDX-License-Identifier: BSD-2-Clause
"""Random requests find nothing in healthy responders, and small cases in those that are not."""

from __future__ import annotations

from dataclasses import replace

import pytest
from random_devices import opener

from roceproof.common.paths import REPOSITORY, RESPONDER_DUT
from roceproof.conformance.mutants.corrupting_target import CorruptingFactory
from roceproof.conformance.mutants.wire import wire_mutants
from roceproof.conformance.stimulus.asking import Asking
from roceproof.conformance.stimulus.drawing import draw_plan
from roceproof.conformance.stimulus.drawn_requests import draw_requests
from roceproof.conformance.stimulus.trial import Finding, draws_of, try_seed
from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.failure import CaseFailed
from roceproof.conformance.targets.hdl_factory import HdlFactory
from roceproof.conformance.targets.interface import CasePlace, DeviceFactory
from roceproof.conformance.targets.limited_model import LimitedModelFactory
from roceproof.conformance.targets.model import ModelFactory
from roceproof.dpi.manifest import load_manifest
from roceproof.verbs.service import Service
from roceproof.verbs.work import Op

FEW, MANY = range(4), range(1000, 1100)
SMALL = REPOSITORY / "examples" / "byte_endpoint" / "dut.toml"
MOST_STEPS = 8


@pytest.fixture(scope="module")
def responder() -> HdlFactory:
    return HdlFactory(load_manifest(RESPONDER_DUT), data_width=64)


def tried(factory: DeviceFactory, seed: int) -> Finding | None:
    return try_seed(seed, factory.claims, opener(factory), draws=draw_requests, seconds=15)


def assert_passes(factory: DeviceFactory, seed: int) -> None:
    finding = tried(factory, seed)
    assert finding is None, finding.told()


def test_a_seed_gives_the_same_plan_again(model: ModelFactory) -> None:
    first, again = (draw_requests(7, model.claims) for _ in range(2))
    assert first == again != draw_requests(8, model.claims)


def test_of_a_device_that_serves_datagrams_only_nothing_is_asked(model: ModelFactory) -> None:
    claims = replace(model.claims, executes={Service.UD: frozenset({Op.SEND})})
    assert draw_requests(7, claims).steps == ()


@pytest.mark.parametrize("seed", FEW)
def test_a_healthy_model_passes(model: ModelFactory, seed: int) -> None:
    assert_passes(model, seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", MANY)
def test_a_healthy_model_passes_many(model: ModelFactory, seed: int) -> None:
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
@pytest.mark.parametrize("seed", MANY)
def test_a_healthy_responder_passes_many(responder: HdlFactory, seed: int) -> None:
    assert_passes(responder, seed)


def test_what_is_played_depends_on_what_the_device_claims(responder: HdlFactory) -> None:
    assert draws_of(responder.claims) == [draw_plan, draw_requests]
    small = HdlFactory(load_manifest(REPOSITORY / "examples" / "uc_writer" / "dut.toml"))
    assert draws_of(small.claims) == [draw_plan]


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
        (known,) = play._qps.values()
        tamper = request.pop("tamper")
        play.request(0, **request)
        bench.settle()
        tamper(bench, known)
        with pytest.raises(CaseFailed) as failure:
            play.settle()
        return str(failure.value)


def test_an_answer_that_lacks_is_told() -> None:
    told = played(op="WRITE", size=8, tamper=lambda _, known: known.qp.inbox.clear())
    assert "want  for frame 0, RC WRITE ONLY psn=+0: RC ACKNOWLEDGE psn=+0" in told


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
