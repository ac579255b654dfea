# SPDX-License-Identifier: BSD-2-Clause
"""A device meets a real peer: Soft-RoCE, as the demonstrations have it, in both directions."""

from collections import defaultdict
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from roceproof.common.errors import RoceproofError, first_line
from roceproof.common.progress import Progress
from roceproof.conformance.demo.meeting import Demonstration, Wanted
from roceproof.conformance.demo.receive import demonstrate_receiving
from roceproof.conformance.demo.report import MessageResult
from roceproof.conformance.demo.send import Play, demonstrate
from roceproof.conformance.runner.outcomes import FAILED, PASSED, SKIPPED
from roceproof.dpi import SimulationError
from roceproof.dpi.manifest.dut import load_manifest
from roceproof.rxe_env.errors import AgentError, PeerDied

CAPTURE, RECEIVED = "guest", "guest-sends"
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
    is_broken: bool = False
    """Whether it began to start and did not: the machine can, and the manifest lets it."""
    details: list[str] = field(default_factory=list)
    """Of how it ended: streams and last frames of a device that stands still."""


@dataclass(frozen=True, kw_only=True)
class _Meeting:
    """One direction: where it is kept, what is played, and what its rows are called."""

    place: str
    play: Play
    suffix: str = ""


def meet_guest(
    dut: Path, *, kernel: str | None, data_width: int, seed: int, out: Path, progress: Progress
) -> Landed:
    """Send short messages of every kind into the guest's memory, and from there to a responder."""
    meetings = [_Meeting(place=CAPTURE, play=demonstrate)]
    if load_manifest(dut).responder is not None:
        sends = _Meeting(place=RECEIVED, play=demonstrate_receiving, suffix=" received")
        meetings.append(sends)
    wanted = Wanted(
        dut=dut,
        backend="auto",
        kernel=kernel,
        data_width=data_width,
        seed=seed,
        out=out,
        waves=False,
        short=True,
        command=f"roceproof gate --width {data_width} --seed {seed}",
    )
    return _together([_met(each, wanted, progress) for each in meetings])


def _met(meeting: _Meeting, wanted: Wanted, progress: Progress) -> Landed:
    place = wanted.out / meeting.place
    place.mkdir(exist_ok=True)
    shown = Demonstration(capture=place / "capture.pcapng")
    try:
        meeting.play(replace(wanted, out=place), shown, progress)
        words, details = "", []
    except _AFTER_THE_START as error:
        if shown.facts is None:
            return Landed(words=first_line(error), is_broken=True)
        words, details = first_line(error), str(error).splitlines()[1:]
    except RoceproofError as error:
        return Landed(words=first_line(error))
    return Landed(
        outcome=PASSED if shown.ok and not words else FAILED,
        words=words,
        rows=_rows(shown.results, meeting.suffix),
        findings=shown.findings[:_MOST_FINDINGS],
        details=details,
        capture=str(shown.capture.relative_to(wanted.out)) if shown.capture.exists() else None,
    )


def _together(met: list[Landed]) -> Landed:
    """The worst outcome, and its capture; what was not tried counts only where nothing was."""
    outcome = min((each.outcome for each in met), key=(FAILED, PASSED, SKIPPED).index)
    worst = [each for each in met if each.outcome == outcome]
    return Landed(
        outcome=outcome,
        words="; ".join(filter(None, (each.words for each in worst))),
        rows=[row for each in met for row in each.rows],
        findings=[finding for each in met for finding in each.findings][:_MOST_FINDINGS],
        details=[line for each in met for line in each.details],
        capture=worst[0].capture,
        is_broken=any(each.is_broken for each in met),
    )


def _rows(results: list[MessageResult], suffix: str) -> list[dict[str, Any]]:
    groups: dict[tuple[str, int, str], list[bool]] = defaultdict(list)
    for each in results:
        groups[each.service, each.pmtu, each.operation].append(each.ok)
    return [
        {
            "service": service,
            "path_mtu": mtu,
            "operation": f"{operation}{suffix}",
            "landed": sum(group),
            "messages": len(group),
        }
        for (service, mtu, operation), group in groups.items()
    ]
