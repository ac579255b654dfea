# SPDX-License-Identifier: BSD-2-Clause
"""One device of the calibration: its faults, its traffic, what the tap sees, and the truth."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from ipaddress import ip_address
from random import Random
from typing import Any

from roceproof.conformance.calibration.counting_faults import COUNTING_FAULTS
from roceproof.conformance.calibration.drawing import draw_plan
from roceproof.conformance.calibration.exchange import Captured, Exchange
from roceproof.conformance.calibration.plan import Needs, Plan, Richness
from roceproof.conformance.calibration.shape_faults import SHAPE_FAULTS, Shape
from roceproof.conformance.calibration.transmitter import Overflows, Overtakes, Results, Transmitter
from roceproof.conformance.faults.icrc.beats import MEMORY_FAULTS
from roceproof.conformance.faults.icrc.stages import Stage
from roceproof.conformance.faults.icrc.unit import IcrcUnit
from roceproof.conformance.faults.icrc.wirings import CLASHES, ONE_FUNCTION, UNITS, WIRINGS
from roceproof.conformance.faults.psn.counting import Counting

_RESULTS: dict[str, type[Results]] = {"S60": Overtakes, "S65": Overflows}
_STATIC = (*WIRINGS, *UNITS)
_MEMORY = (*MEMORY_FAULTS, *_RESULTS)
_NEEDS = {
    "S16": Needs(tagged=True),
    "S31": Needs(uneven=True),
    "S50": Needs(uneven=True),
    "S10": Needs(version=6),
    "S48": Needs(version=6),
    "S49": Needs(version=6),
    "S03": Needs(version=4),
    "S34": Needs(version=4),
    "S35": Needs(version=4),
    "S60": Needs(several=True, bursts=True),
    "S61": Needs(long=True),
    "S62": Needs(long=True),
    "S64": Needs(),
}


@dataclass(frozen=True)
class Device:
    """A capture with the truth about its sender."""

    number: int
    drawn: tuple[str, ...]
    """The faults that were built in."""
    faults: tuple[str, ...]
    """Those that show: without one of them, or without all, other frames would have left."""
    plan: Plan
    captured: Captured
    facts: dict[str, Any] | None

    def answers(self, fault: str) -> frozenset[str]:
        """The ids that name a fault."""
        if fault in SHAPE_FAULTS:
            return SHAPE_FAULTS[fault].rules
        return frozenset(ONE_FUNCTION.get(fault, {fault}))


def draw_device(number: int, seed: int) -> Device:
    """The device of that number: the same for the same seed, whatever else is drawn."""
    random = Random(f"device {seed} {number}")
    richness = random.choices([*Richness], weights=(3, 3, 4))[0]
    drawn = _faults(random)
    own = random.getrandbits(48)
    needs = needs_of(drawn)
    plan = draw_plan(own, richness, needs)
    captured = play(plan, drawn, own)
    shown = tuple(
        fault
        for fault in drawn
        if play(plan, [each for each in drawn if each != fault], own).frames != captured.frames
    )
    if shown != drawn and play(plan, shown, own).frames != captured.frames:
        shown = drawn  # each of two does what the other does
    if len(shown) > 1 and play(plan, (), own).frames == captured.frames:
        shown = ()  # one undoes the other, as a register of zeros does with four dummy bytes
    return Device(number, drawn, shown, plan, captured, _facts(plan) if plan.facts else None)


def play(plan: Plan, faults: Sequence[str], seed: int) -> Captured:
    """The capture of a device with those faults."""

    def design(name: str) -> Random:
        return Random(f"{name} {seed}")

    counting: Counting = Counting(design("counting"))
    unit, stage, results = IcrcUnit(), Stage(design("stage")), Results(design("results"))
    shapes: list[Shape] = []
    late: list[Shape] = []
    for fault in faults:
        random = design(fault)
        if fault in COUNTING_FAULTS:
            counting = random.choice(COUNTING_FAULTS[fault][0])(random)
        elif fault in UNITS:
            unit = UNITS[fault]()
        elif fault in WIRINGS:
            WIRINGS[fault](unit, random)
        elif fault in MEMORY_FAULTS:
            stage = MEMORY_FAULTS[fault](random)
        elif fault in _RESULTS:
            results = _RESULTS[fault](random)
        else:
            row = SHAPE_FAULTS[fault]
            behind = row.may_follow_icrc and random.random() < 0.4
            (late if behind else shapes).append(row.draw(random))
    return Exchange(plan, counting, Transmitter(unit, stage, results, shapes, late)).run()


def _faults(random: Random) -> tuple[str, ...]:
    """None, one, two or three faults that can live in one device."""
    count = random.choices((0, 1, 2, 3), weights=(3, 10, 4, 2))[0]
    kinds = random.sample(("static", "static", "memory", "slip", "psn", "psn", "shape"), count)
    chosen: list[str] = []
    for kind in kinds:
        fault = random.choice(_pool(kind))
        if _fits(fault, chosen):
            chosen.append(fault)
    return tuple(chosen)


def _pool(kind: str) -> tuple[str, ...]:
    return {
        "static": _STATIC,
        "memory": _MEMORY,
        "slip": ("S65",),
        "psn": (*COUNTING_FAULTS,),
        "shape": (*SHAPE_FAULTS,),
    }[kind]


def _fits(fault: str, chosen: Sequence[str]) -> bool:
    for other in chosen:
        rooms = (COUNTING_FAULTS, SHAPE_FAULTS, {**MEMORY_FAULTS, **_RESULTS})
        if fault == other or any(fault in room and other in room for room in rooms):
            return False
        if {fault, other} & {*UNITS} and fault[0] == other[0] == "S" and fault[1].isdigit():
            return False
        if any({fault, other} <= group for group in CLASHES):
            return False
        if fault in _hidden_by(other) or other in _hidden_by(fault):
            return False
        if _is_icrc(fault) and _is_icrc(other) and {fault, other} & {*MEMORY_FAULTS, *_RESULTS}:
            return False
    return True


def _hidden_by(fault: str) -> frozenset[str]:
    return SHAPE_FAULTS[fault].hides if fault in SHAPE_FAULTS else frozenset()


def _is_icrc(fault: str) -> bool:
    return fault in WIRINGS or fault in UNITS or fault in MEMORY_FAULTS or fault in _RESULTS


def needs_of(faults: Sequence[str]) -> Needs:
    """What all of them need together."""
    needs = Needs()
    for fault in faults:
        if fault in COUNTING_FAULTS:
            more = COUNTING_FAULTS[fault][1]
        elif fault in SHAPE_FAULTS:
            more = SHAPE_FAULTS[fault].needs
        else:
            more = _NEEDS.get(fault, Needs())
        changes = {f.name: getattr(more, f.name) for f in fields(Needs) if getattr(more, f.name)}
        needs = replace(needs, **changes)
    return needs


def _facts(plan: Plan) -> dict[str, Any]:
    """The document that `--qps` takes, for the device's ends."""
    rows = []
    for pair in plan.pairs:
        near, far = pair.ends
        rows.append(
            {
                "service": "RC" if pair.reliable else "UC",
                "address": str(ip_address(near.face.source)),
                "qpn": near.queue,
                "remote_address": str(ip_address(near.face.destination)),
                "remote_qpn": far.queue,
                "start_psn": near.start,
                "remote_start_psn": far.start,
                "path_mtu": pair.mtu,
            }
        )
    return {"schema": 1, "qps": rows}
