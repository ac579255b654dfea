# SPDX-License-Identifier: BSD-2-Clause
"""Bits that changed on the way beside a habit of the sender: neither is taken for the other."""

from __future__ import annotations

from random import Random

import pytest
from explained import cases_of, explain, healthy, planted

from roceproof.conformance.diagnosis.budget import Budget
from roceproof.conformance.diagnosis.icrc.answer import Answer
from roceproof.conformance.diagnosis.icrc.scope import Scope
from roceproof.conformance.diagnosis.icrc.search import explain_wrong
from roceproof.conformance.diagnosis.icrc.strategies import corrupt
from roceproof.conformance.diagnosis.result import CORRUPT, UNDECIDED
from roceproof.conformance.wire.framing import locate


def own(frames: list[bytes]) -> list[bytes]:
    return [frame for frame in frames if frame[6:12] == frames[0][6:12]]


def flipped(frame: bytes, at: int, bit: int = 0) -> bytes:
    changed = bytearray(frame)
    changed[at] ^= 1 << bit
    return bytes(changed)


def udp_of(frame: bytes) -> int:
    layout = locate(frame)
    assert layout is not None
    return layout.udp


def test_a_copy_of_the_packet_as_it_was_bears_a_changed_bit_out() -> None:
    frames = own(healthy(1))[:30]
    (found,) = explain([*frames, flipped(frames[-2], udp_of(frames[-2]) + 10)])
    assert found.id == CORRUPT


@pytest.mark.parametrize("engine", ["S24", "S29"])
def test_one_changed_copy_adds_no_fault_to_that_of_the_engine(engine: str) -> None:
    frames = own(planted(engine, 1))[:40]
    copy = flipped(frames[-2], udp_of(frames[-2]) + 10)
    found = explain([*frames, copy])
    assert found[0].id == engine
    assert {each.id for each in found[1:]} <= {CORRUPT, UNDECIDED}


def test_changed_bits_anywhere_in_the_ip_header_are_no_habit() -> None:
    rng = Random(1)
    frames = own(healthy(1, ip_versions=(6,), tagged=(False,)))[:60]
    for place, at in zip((5, 17, 29, 41), rng.sample(range(22, 54), 4), strict=True):
        frames[place] = flipped(frames[place], at, place % 8)
    scope = Scope(cases_of(frames), Budget(), "")
    found = corrupt(scope)
    assert found is not None and found.name == CORRUPT


def test_a_pad_count_that_looks_like_a_changed_bit_everywhere_is_a_habit() -> None:
    frames = own(planted("S50", 1))[:60]
    wrong = next(n for n, case in enumerate(cases_of(frames)) if n > 5 and case.seen.wrong)
    frames[wrong] = flipped(frames[wrong], udp_of(frames[wrong]) + 13)  # another QP, only here
    found = explain(frames)
    assert found[0].id == "S50"
    blamed = [number for each in found if each.id == CORRUPT for number in each.frames]
    assert blamed in ([], [wrong + 1])


def test_what_is_solved_for_does_not_beat_what_predicts_exact_values(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    frames = own(healthy(1))[:20]
    cases = cases_of([flipped(frame, udp_of(frame) + 19) for frame in frames])

    def exact(scope: Scope) -> Answer:
        return Answer(UNDECIDED, scope, scope.wrong, ("S65",))

    def fields(scope: Scope) -> Answer:
        return Answer("S55", scope, scope.wrong)

    module = "roceproof.conformance.diagnosis.icrc.search"
    monkeypatch.setattr(f"{module}.one_field", fields)
    monkeypatch.setattr(f"{module}.STRATEGIES", {exact: "", fields: ""})
    (found,) = explain_wrong(cases, Budget(), "")
    assert (found.name, found.equivalent) == (UNDECIDED, ("S65", "S55"))
