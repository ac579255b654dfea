# SPDX-License-Identifier: BSD-2-Clause
"""What a failing case leaves behind: its capture, and what `explain` says of it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from roceproof import __version__
from roceproof.conformance.capture.origin import SIMULATED, Origin
from roceproof.conformance.suite.transcript import Transcript, records_of

if TYPE_CHECKING:
    from roceproof.conformance.diagnosis.result import Diagnosis

_EXPLAINABLE = ("ICRC-", "PSN-", "IP-05", "IP-06", "IP-07", "BTH-08")
"""What misimplementations of both break; a mask that leaks to the wire breaks the last four."""

_FRAMES_EXPLAINED = 2000


def keep(transcript: Transcript, path: Path, *, replay: str, simulated: bool) -> Path:
    """Write the capture with its facts beside it; the section says how to repeat it."""
    lines = [f"roceproof {__version__}", f"command {replay}"]
    if simulated:
        lines.insert(1, f"{SIMULATED}in lockstep")
    transcript.write(path, comment="\n".join(lines))
    return path


def explained(transcript: Transcript, broken: Iterable[str], *, simulated: bool) -> list[Diagnosis]:
    """Diagnoses of the device's frames, where rules of the ICRC or the PSN are broken.

    What a case sends is no evidence against anyone.
    """
    if not any(rule.startswith(_EXPLAINABLE) for rule in broken):
        return []
    # Not needed by those who pass.
    from roceproof.conformance.diagnosis.icrc.simulated import told_of_simulation
    from roceproof.conformance.diagnosis.report import explain

    entries = [*transcript.entries()][:_FRAMES_EXPLAINED]
    found = explain(records_of(entries), transcript.all_facts())
    ours = [d for d in found if any(entries[number - 1].is_sent for number in d.frames)]
    return [told_of_simulation(d, Origin.SENT) for d in ours] if simulated else ours


def names_of(diagnosis: Diagnosis) -> str:
    """Its signature and those that explain the frames as well: `S25=S27`."""
    return "=".join((diagnosis.id, *diagnosis.equivalent))
