# SPDX-License-Identifier: BSD-2-Clause
"""Stages around the ICRC unit by the signature that they deserve."""

from __future__ import annotations

from roceproof.conformance.calibration.beat_faults import (
    DeadLane,
    NextBeat,
    Stalls,
    WrongEnables,
    WrongLastTable,
)
from roceproof.conformance.calibration.memory_faults import (
    Late,
    LaterEdit,
    MaskAgain,
    MaskLeaks,
    NotSeeded,
    OnlyLast,
    PartLatched,
    Stage,
)

MEMORY_FAULTS: dict[str, type[Stage]] = {
    "S53": Late,
    "S54": NotSeeded,
    "S55": LaterEdit,
    "S56": MaskLeaks,
    "S57": WrongEnables,
    "S58": DeadLane,
    "S59": Stalls,
    "S61": MaskAgain,
    "S62": OnlyLast,
    "S63": PartLatched,
    "S64": WrongLastTable,
    "S66": NextBeat,
}
