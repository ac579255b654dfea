# SPDX-License-Identifier: BSD-2-Clause
"""What a case leaves behind: its capture where it fails, or what its device has asked for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from roceproof import __version__
from roceproof.conformance.capture.origin import SIMULATED, Origin
from roceproof.conformance.capture.pcapng_writer import write_pcapng
from roceproof.conformance.suite.reporting.transcript import Entry, Transcript, records_of
from roceproof.conformance.wire.codec import parse
from roceproof.conformance.wire.opcodes import OPCODES, REQUESTS

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


def keep_requests(transcript: Transcript, path: Path) -> None:
    """Write what the device has asked of others, an interface for each life of a connection."""
    asked = list(_requests(transcript))
    if not asked:
        return
    lives = {flow: life for life, flow in enumerate(dict.fromkeys(each.flow for each in asked))}
    path.parent.mkdir(parents=True, exist_ok=True)
    write_pcapng(
        path,
        (
            record._replace(interface=f"connection {lives[flow]}", interface_index=lives[flow])
            for record, flow in zip(records_of(asked), (each.flow for each in asked), strict=True)
        ),
        comment=f"roceproof {__version__}",
    )


def _requests(transcript: Transcript) -> Iterator[Entry]:
    for entry in transcript.entries():
        packet = parse(entry.frame) if entry.is_sent else None
        row = OPCODES.get(packet.bth.opcode) if packet else None
        if row is not None and row.family in REQUESTS:
            yield entry


def explained(transcript: Transcript, broken: Iterable[str], *, simulated: bool) -> list[Diagnosis]:
    """Diagnoses of the device's frames, where rules of the ICRC or the PSN are broken.

    Each is named once. What a case sends is no evidence against anyone, nor what is void; and
    where connections start anew, none is held to how it went on before.
    """
    if not any(rule.startswith(_EXPLAINABLE) for rule in broken):
        return []
    # Not needed by those who pass.
    from roceproof.conformance.diagnosis.icrc.simulated import told_of_simulation
    from roceproof.conformance.diagnosis.report import explain
    from roceproof.conformance.diagnosis.result import UNDECIDED

    entries = [*transcript.entries()][:_FRAMES_EXPLAINED]
    lives = [life for life, epoch in enumerate(transcript.epochs) for _ in epoch.entries]
    records = [
        record._replace(interface_index=life)
        for record, entry, life in zip(records_of(entries), entries, lives, strict=False)
        if not entry.is_void
    ]
    found = explain(records, transcript.all_facts())
    ours = [d for d in found if any(entries[number - 1].is_sent for number in d.frames)]
    named = [d for d in ours if d.id != UNDECIDED] or ours[:1]
    once = {names_of(d): d for d in reversed(named)}
    told = [once[name] for name in reversed(once)]
    return [told_of_simulation(d, Origin.SENT) for d in told] if simulated else told


def names_of(diagnosis: Diagnosis) -> str:
    """Its signature and those that explain the frames as well: `S25=S27`."""
    return "=".join((diagnosis.id, *diagnosis.equivalent))
