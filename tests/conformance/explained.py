# SPDX-License-Identifier: BSD-2-Clause
"""Helpers of the explain tests: captures as records, and what the ICRC half says of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from roceproof.conformance.capture.record import Flow, Record
from roceproof.conformance.diagnosis.icrc.diagnosis import explain_icrcs
from roceproof.conformance.diagnosis.icrc.parts.crc_input import CrcInput, crc_inputs
from roceproof.conformance.diagnosis.observation import observe
from roceproof.conformance.diagnosis.result import Diagnosis
from roceproof.conformance.faults.catalogue import plant
from roceproof.conformance.faults.conversation.traffic import Conversation
from roceproof.conformance.wire.framing import locate


def records(frames: Iterable[bytes]) -> list[Record]:
    return [
        Record("port", 1_000 * number, Flow.UNKNOWN, frame, number=number)
        for number, frame in enumerate(frames, 1)
    ]


def explain(frames: Iterable[bytes], facts: Mapping[str, Any] | None = None) -> list[Diagnosis]:
    return explain_icrcs(list(observe(records(frames))), facts)


def planted(
    fault: str | tuple[str, ...], seed: int, *, variant: int = 0, run: int = -1
) -> list[bytes]:
    captures = plant(fault, Conversation(seed=seed), variant=variant)
    return [frame for _, frame in captures[run].frames]


def healthy(seed: int, **options: object) -> list[bytes]:
    talk = replace(Conversation(seed=seed), **options)  # type: ignore[arg-type]
    return [frame for _, frame in talk.frames()]


def cases_of(frames: Iterable[bytes]) -> list[CrcInput]:
    return crc_inputs(observe(records(frames)))


def with_icrc(frame: bytes, value: int) -> bytes:
    """The frame with another value in the ICRC's place, first byte least significant."""
    layout = locate(frame)
    assert layout is not None
    return frame[: layout.end - 4] + value.to_bytes(4, "little") + frame[layout.end :]


def corrupt(frames: list[bytes], rule: Callable[[CrcInput], int | None]) -> list[bytes]:
    """Frames whose ICRC is what the rule makes of each packet; None leaves it."""
    made = []
    for case in cases_of(frames):
        value = rule(case)
        made.append(case.seen.frame if value is None else with_icrc(case.seen.frame, value))
    return made
