# SPDX-License-Identifier: BSD-2-Clause
"""Static ICRC faults against worked values, and what may be said about two of them at once."""

from __future__ import annotations

import json
from importlib import resources
from itertools import combinations
from pathlib import Path

import pytest

from roceproof.conformance.faults.icrc.catalogue import STATIC, compose, engine_of
from roceproof.conformance.faults.icrc.packet import packet_of
from roceproof.conformance.faults.icrc.unit import IcrcUnit
from roceproof.conformance.wire import icrc
from roceproof.conformance.wire.framing import locate

VECTORS = {
    row["name"]: bytes.fromhex(row["frame"])
    for row in json.loads(
        (resources.files("roceproof.conformance") / "vectors" / "icrc.json").read_text()
    )
}
WORKED = json.loads((Path(__file__).parent / "wrong_icrcs.json").read_text())


def computed(unit: IcrcUnit, frame: bytes) -> bytes:
    layout = locate(frame)
    assert layout is not None
    return unit.compute(packet_of(frame, layout))


def fingerprint(unit: IcrcUnit | None) -> tuple[bytes, ...]:
    assert unit is not None
    return tuple(computed(unit, frame) for frame in VECTORS.values())


def test_the_untouched_unit_is_the_right_icrc() -> None:
    assert fingerprint(IcrcUnit()) == tuple(map(icrc.compute, VECTORS.values()))


def test_every_static_fault_has_a_worked_value() -> None:
    assert [row["fault"] for row in WORKED] == list(STATIC) == [f"S{n:02}" for n in range(1, 53)]


@pytest.mark.parametrize("row", WORKED, ids=lambda row: str(row["fault"]))
def test_fault_gives_the_worked_wrong_value(row: dict[str, str]) -> None:
    frame = VECTORS[row["vector"]]
    corrupted = engine_of(row["fault"]).transmit(0, frame)
    layout = locate(corrupted)
    assert layout is not None
    assert corrupted[layout.end - 4 : layout.end].hex() == row["icrc"]
    assert icrc.check(corrupted).judgement is icrc.Judgement.BAD
    assert icrc.reseal(corrupted) == frame


def test_only_s25_and_s27_are_the_same_function_over_the_vectors() -> None:
    seen: dict[tuple[bytes, ...], list[str]] = {}
    for fault in STATIC:
        seen.setdefault(fingerprint(compose(fault)), []).append(fault)
    assert [faults for faults in seen.values() if len(faults) > 1] == [["S25", "S27"]]


def test_a_composed_pair_differs_from_both_of_its_parts() -> None:
    pairs = {pair: made for pair in combinations(STATIC, 2) if (made := compose(*pair))}
    assert len(pairs) > 900
    alone = {fault: fingerprint(compose(fault)) for fault in STATIC}
    for (first, second), made in pairs.items():
        assert fingerprint(made) not in (alone[first], alone[second]), (first, second)


def test_unmasked_ttl_and_swapped_bytes_compose() -> None:
    made = compose("S01", "S26")
    assert made is not None
    assert computed(made, VECTORS["A"]) == bytes.fromhex("5783d1d6")[::-1]


@pytest.mark.parametrize(
    "pair",
    [
        ("S26", "S28"),
        ("S01", "S06"),
        ("S20", "S21"),
        ("S46", "S26"),
        ("S05", "S08"),
        ("S11", "S12"),
        ("S43", "S38"),
    ],
)
def test_faults_that_exclude_or_swallow_each_other_do_not_compose(pair: tuple[str, str]) -> None:
    assert compose(*pair) is None
