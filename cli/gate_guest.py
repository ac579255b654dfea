# SPDX-License-Identifier: BSD-2-Clause
"""A device meets a real receiver: Soft-RoCE, as the demonstration has it."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from roceproof.common.errors import RoceproofError
from roceproof.common.progress import Progress
from roceproof.conformance.runner.outcomes import FAILED, PASSED, SKIPPED
from roceproof.demo import demonstrate
from roceproof.demo_meeting import Demonstration, Wanted
from roceproof.demo_report import MessageResult
from roceproof.dpi import SimulationError
from roceproof.rxe_env.errors import AgentError, PeerDied

CAPTURE = "guest"
_AFTER_THE_START = (SimulationError, AgentError, PeerDied)
"""What may be the device's doing; other errors are those of the machine."""
_MOST_FINDINGS = 10


@dataclass(kw_only=True)
class Landed:
    """What came of it: by service, path MTU and operation, how many of how many landed."""

    outcome: str = SKIPPED
    words: str = ""
    rows: list[dict[str, Any]] = field(default_factory=list)
    findings: list[str] = field(default_factory=list)
    capture: str | None = None
    details: list[str] = field(default_factory=list)
    """Of how it ended: streams and last frames of a device that stands still."""


def meet_guest(
    dut: Path, *, kernel: str | None, data_width: int, seed: int, out: Path, progress: Progress
) -> Landed:
    """Send short messages of every kind into the receiver's memory."""
    place = out / CAPTURE
    place.mkdir(exist_ok=True)
    wanted = Wanted(
        dut=dut,
        backend="auto",
        kernel=kernel,
        data_width=data_width,
        seed=seed,
        out=place,
        waves=False,
        short=True,
        command=f"roceproof gate --width {data_width} --seed {seed}",
    )
    shown = Demonstration(capture=place / "capture.pcapng")
    try:
        demonstrate(wanted, shown, progress)
        words, details = "", []
    except _AFTER_THE_START as error:
        if shown.facts is None:
            return Landed(words=_first_line(error))
        words, details = _first_line(error), str(error).splitlines()[1:]
    except RoceproofError as error:
        return Landed(words=_first_line(error))
    return Landed(
        outcome=PASSED if shown.ok and not words else FAILED,
        words=words,
        rows=_rows(shown.results),
        findings=shown.findings[:_MOST_FINDINGS],
        details=details,
        capture=str(shown.capture.relative_to(out)) if shown.capture.exists() else None,
    )


def _rows(results: list[MessageResult]) -> list[dict[str, Any]]:
    groups: dict[tuple[str, int, str], list[bool]] = defaultdict(list)
    for each in results:
        groups[each.service, each.pmtu, each.operation].append(each.ok)
    return [
        {
            "service": service,
            "path_mtu": mtu,
            "operation": operation,
            "landed": sum(group),
            "messages": len(group),
        }
        for (service, mtu, operation), group in groups.items()
    ]


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
