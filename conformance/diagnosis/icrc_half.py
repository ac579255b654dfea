# SPDX-License-Identifier: BSD-2-Clause
"""The ICRC half of the diagnosis: transmitter by transmitter."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from roceproof.conformance.diagnosis.observation import Observation, Station, by_mac
from roceproof.conformance.diagnosis.result import UNDECIDED, Diagnosis


def explain_icrcs(
    observations: list[Observation], _facts: Mapping[str, Any] | None
) -> list[Diagnosis]:
    """Explain the wrong ICRCs of every transmitter; the configuration has no say in it."""
    return [
        found for station, seen in by_mac(observations).items() for found in _explain(station, seen)
    ]


def _explain(station: Station, seen: list[Observation]) -> list[Diagnosis]:
    wrong = tuple(each.number for each in seen if each.sound and each.wrong)
    if not wrong:
        return []
    text = f"{station}: no hypothesis predicts these ICRCs."
    return [Diagnosis(UNDECIDED, (), wrong, 0, len(wrong), text, "Capture more traffic.")]
