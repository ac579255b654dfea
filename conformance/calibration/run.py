# SPDX-License-Identifier: BSD-2-Clause
"""Draws devices, has them explained and judged; many at once in several processes."""

import gc
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context

from roceproof.conformance.calibration.device import Device, draw_device
from roceproof.conformance.calibration.judge import Judgement, Truth, Verdict, judge
from roceproof.conformance.capture.record import Flow, Record
from roceproof.conformance.diagnosis.report import explain
from roceproof.conformance.diagnosis.result import Diagnosis

_AT_ONCE = 8


@dataclass(frozen=True)
class Outcome:
    """What became of one device."""

    number: int
    richness: str
    faults: tuple[str, ...]
    hidden: tuple[str, ...]
    """Faults that it has, but that nothing in the capture shows."""
    verdict: Verdict
    reasons: tuple[str, ...]
    said: tuple[tuple[str, ...], ...]
    """Of each diagnosis the id, and what is said to be equivalent."""


def records_of(device: Device) -> list[Record]:
    """The capture as `explain` reads it."""
    return [
        Record("tap", time, Flow.UNKNOWN, frame, number=number)
        for number, (time, frame) in enumerate(device.captured.frames, 1)
    ]


def explained(device: Device) -> tuple[list[Diagnosis], Judgement]:
    """What is said of a device, and whether it is true."""
    diagnoses = explain(records_of(device), device.facts)
    return diagnoses, judge(Truth.of(device), diagnoses)


def outcome(number: int, seed: int) -> Outcome:
    """Draw a device, explain it, judge."""
    device = draw_device(number, seed)
    diagnoses, judgement = explained(device)
    hidden = tuple(fault for fault in device.drawn if fault not in device.faults)
    said = tuple((found.id, *found.equivalent) for found in diagnoses)
    richness = device.plan.richness.value
    return Outcome(
        number, richness, device.faults, hidden, judgement.verdict, judgement.reasons, said
    )


def outcomes(numbers: Sequence[int], seed: int, jobs: int) -> Iterator[Outcome]:
    """The outcomes of many devices, in the order of their numbers."""
    if jobs == 1:
        for number in numbers:
            yield outcome(number, seed)
        return
    with ProcessPoolExecutor(jobs, mp_context=get_context("fork"), initializer=gc.freeze) as pool:
        seeds = [seed] * len(numbers)
        yield from pool.map(outcome, numbers, seeds, chunksize=_AT_ONCE)
