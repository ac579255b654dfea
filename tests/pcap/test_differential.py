# SPDX-License-Identifier: BSD-2-Clause
"""The C and the Python oracle say the same of every frame: rule, frame, severity, ICRC verdict.

They share the table of rules and docs/observer.md, and no code. A disagreement prints
what to replay: the fault or seed, and the frame in hex.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from ipaddress import ip_address
from pathlib import Path

import pytest
from roce_check import Open, Place, RoceCheck, Waiting

from roceproof.conformance.capture.reader import read
from roceproof.conformance.capture.record import Flow, Record
from roceproof.conformance.faults.catalogue import FAULTS, plant
from roceproof.conformance.faults.conversation.traffic import Conversation
from roceproof.conformance.observer.checker import Checker
from roceproof.conformance.observer.facts import Facts
from roceproof.conformance.wire import icrc
from roceproof.conformance.wire.framing import locate

STORED = sorted((Path(__file__).parents[1] / "captures").rglob("*.pcapng.gz"))
DISTURBANCES = (
    {},
    {"loss": 0.04, "unseen_loss": 0.03},
    {"rnr_rate": 0.3, "ce_rate": 0.3},
    {"reconnects": 2, "loss": 0.02},
    {"rereads_whole": True, "loss": 0.05},
)
SEEDS = range(1, 5)
MORE_SEEDS = range(5, 60)
MUTANT_SEEDS = range(6)
MORE_MUTANT_SEEDS = range(6, 80)


@pytest.fixture(scope="module")
def check(build: Path, tmp_path_factory: pytest.TempPathFactory) -> RoceCheck:
    return RoceCheck(build / "roce-check", tmp_path_factory.mktemp("differential"))


def in_python(
    records: Iterable[Record], facts: Facts | None
) -> tuple[list[Place], list[int], tuple[list[Open], list[Waiting]]]:
    """Findings, ICRC counts, unfinished messages and unanswered READs of the Python oracle."""
    checker = Checker(facts)
    found = []
    for record in records:
        found += checker.feed(
            record.frame,
            full_size=record.full_size,
            interface=record.interface_index,
            fcs_bytes=record.fcs_bytes,
        )
    found += checker.finish()
    counts = checker.counts
    places = sorted((each.frame, each.rule.id, str(each.severity)) for each in found)
    open_at_end = sorted(
        (str(ip_address(key.src)), key.dest_qpn, *told[:3], str(told.length), told.has_first)
        for key, told in checker.unfinished()
    )
    waiting = sorted(
        (str(ip_address(key.src)), key.dest_qpn, *told[:2], str(told.of))
        for key, told in checker.unanswered()
    )
    verdicts = [counts.icrc_ok, counts.icrc_bad, counts.icrc_unchecked]
    return places, verdicts, (open_at_end, waiting)


def agree(check: RoceCheck, frames: Sequence[bytes], what: str, facts: dict | None = None) -> None:
    spoken = check.frames(frames, "--max", "0", facts=facts)
    records = [Record("", 0, Flow.UNKNOWN, frame) for frame in frames]
    compare(spoken, records, what, None if facts is None else Facts.from_json(facts))


def compare(spoken, records: Sequence[Record], what: str, facts: Facts | None = None) -> None:
    places, counts, open_at_end = in_python(records, facts)
    for place in sorted({*places} ^ {*spoken.places}):
        who = "Python" if place in places else "C"
        pytest.fail(f"{what}: only {who} says {place}: {records[place[0] - 1].frame.hex()}")
    assert places == spoken.places, what
    assert open_at_end == (spoken.unfinished, spoken.unanswered), what
    verdicts = spoken.summary["icrc"]
    assert [verdicts[name] for name in ("ok", "bad", "unchecked")] == counts, what


def check_conversation(check: RoceCheck, seed: int, disturbance: dict) -> None:
    capture = Conversation(seed=seed, **disturbance).capture()
    frames = [timed.frame for timed in capture.frames]
    agree(check, frames, f"seed {seed} {disturbance}")
    agree(check, frames, f"seed {seed} {disturbance} with facts", capture.facts)


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize("disturbance", DISTURBANCES, ids=str)
@pytest.mark.parametrize("seed", SEEDS)
def test_both_agree_on_healthy_traffic(check: RoceCheck, seed: int, disturbance: dict) -> None:
    check_conversation(check, seed, disturbance)


@pytest.mark.slow
@pytest.mark.parametrize("disturbance", DISTURBANCES, ids=str)
def test_both_agree_on_much_healthy_traffic(
    check: RoceCheck, disturbance: dict, subtests: pytest.Subtests
) -> None:
    for seed in MORE_SEEDS:
        with subtests.test(seed=seed):
            check_conversation(check, seed, disturbance)


@pytest.mark.parametrize("path", STORED, ids=lambda path: path.stem)
def test_both_agree_on_stored_captures(check: RoceCheck, path: Path) -> None:
    compare(check.file(path, "--max", "0"), list(read(path)), path.name)


@pytest.mark.sampled(every=9)
@pytest.mark.parametrize("fault", FAULTS.values(), ids=lambda row: row.id)
def test_both_agree_on_planted_faults(check: RoceCheck, fault) -> None:
    for variant in range(fault.variants):
        for capture in plant((fault.id,), Conversation(seed=7), variant=variant):
            frames = [timed.frame for timed in capture.frames]
            agree(check, frames, f"{fault.id} variant {variant}")
            agree(check, frames, f"{fault.id} variant {variant} with facts", capture.facts)


def mutated(seed: int) -> list[bytes]:
    """A conversation in which one frame in four is bent, half of those with the ICRC mended."""
    rng = random.Random(seed)
    talk = Conversation(seed=seed, **DISTURBANCES[seed % len(DISTURBANCES)])
    return [
        bent(timed.frame, rng) if rng.random() < 0.25 else timed.frame for timed in talk.frames()
    ]


def bent(frame: bytes, rng: random.Random) -> bytes:
    data = bytearray(frame)
    match rng.randrange(4):
        case 0:
            data = data[: rng.randrange(len(data))]
        case 1:
            data += rng.randbytes(rng.randrange(1, 9))
        case _:
            for _ in range(rng.randrange(1, 4)):
                data[rng.randrange(min(len(data), 90))] ^= 1 << rng.randrange(8)
    layout = locate(bytes(data))
    if rng.random() < 0.5 and layout is not None and layout.fault is None:
        data[layout.end - 4 : layout.end] = icrc.compute_at(bytes(data), layout)
    return bytes(data)


@pytest.mark.parametrize("seed", MUTANT_SEEDS)
def test_both_agree_on_bent_frames(check: RoceCheck, seed: int) -> None:
    agree(check, mutated(seed), f"mutants of seed {seed}")


@pytest.mark.slow
def test_both_agree_on_many_bent_frames(check: RoceCheck, subtests: pytest.Subtests) -> None:
    for seed in MORE_MUTANT_SEEDS:
        with subtests.test(seed=seed):
            agree(check, mutated(seed), f"mutants of seed {seed}")
