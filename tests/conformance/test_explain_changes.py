# SPDX-License-Identifier: BSD-2-Clause
"""Bits that changed on the way beside a habit of the sender: neither is taken for the other."""

from __future__ import annotations

from collections import Counter
from copy import copy
from dataclasses import replace
from random import Random

import pytest
from explained import cases_of, explain, healthy, planted

from roceproof.conformance.diagnosis.budget import Budget
from roceproof.conformance.diagnosis.icrc.answer import Answer
from roceproof.conformance.diagnosis.icrc.data_path.beats import ORIGINS
from roceproof.conformance.diagnosis.icrc.data_path.last_beat import Tail, wrong_tables
from roceproof.conformance.diagnosis.icrc.data_path.stalls import find_stall
from roceproof.conformance.diagnosis.icrc.parts.crc import ETHERNET, ONES
from roceproof.conformance.diagnosis.icrc.parts.crc_input import CrcInput
from roceproof.conformance.diagnosis.icrc.parts.engine import Engine
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


def test_a_wrong_table_is_learned_though_one_packet_was_changed() -> None:
    rng = Random(1)
    origin = ORIGINS[0]
    cases = cases_of(own(healthy(1, messages=(90, 0))))
    alike = Counter(Tail(8, 0, origin).size(case) for case in cases)
    ((size, count),) = alike.most_common(1)
    assert count > 40
    tail = Tail(8, size, origin)
    cases = [case for case in cases if tail.holds(case)]
    columns = [rng.getrandbits(32) for _ in range(8)]

    def wrong(case: CrcInput) -> CrcInput:
        byte, error = case.seen.frame[case.covered_end - 1], 0
        for bit, column in enumerate(columns):
            error ^= column if byte >> bit & 1 else 0
        made = copy(case)
        made.seen = replace(case.seen, found=case.right ^ error)
        return made

    learned = [wrong(case) for case in cases]
    assert [each.behind for each in wrong_tables(tail, learned)] == [0]
    spoilt = copy(learned[-1])
    spoilt.seen = replace(spoilt.seen, found=spoilt.found ^ 0x5A5A)
    assert [each.behind for each in wrong_tables(tail, [*learned, spoilt])] == [0]
    assert not [*wrong_tables(tail, [*learned[:8], spoilt, spoilt, spoilt])]


def test_a_last_beat_that_is_always_left_out_is_no_stall() -> None:
    origin = next(each for each in ORIGINS if each.lead(cases_of(own(healthy(1)))[0]) % 8)
    cases = [case for case in cases_of(own(healthy(1))) if (case.size + origin.lead(case)) % 8]

    def without(case: CrcInput, first: int, count: int) -> CrcInput:
        data = case.masked + case.seen.body
        made = copy(case)
        left = data[:first] + data[first + count :]
        made.seen = replace(case.seen, found=ETHERNET.run(left, Engine().start) ^ ONES)
        return made

    def rest(case: CrcInput) -> int:
        return (case.size + origin.lead(case)) % 8

    always = [without(case, case.size - rest(case), rest(case)) for case in cases]
    assert find_stall(always, Budget()) is None
    places = [8 * (n % 4) + -origin.lead(case) % 8 for n, case in enumerate(cases)]
    anywhere = [without(case, at, 8) for case, at in zip(cases, places, strict=True)]
    found = find_stall(anywhere, Budget())
    assert found is not None and found.kind == "is left out"
