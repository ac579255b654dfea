# SPDX-License-Identifier: BSD-2-Clause
"""The ladder: stations side by side, one row for each packet, findings where they belong."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from roceproof.conformance.review.caption import caption
from roceproof.conformance.review.story import Flow, Kind, Step


@dataclass(frozen=True, slots=True)
class Mark:
    """A finding as the ladder shows it."""

    rule: str
    severity: str
    text: str


@dataclass(frozen=True, slots=True)
class Row:
    """One packet between two stations, given by their places in `Ladder.stations`."""

    number: int
    seconds: float
    source: int
    destination: int
    flow: int
    kind: Kind
    psn: int | None
    copy: bool
    bad_icrc: bool
    caption: str
    marks: Sequence[Mark] = ()


@dataclass(slots=True)
class Ladder:
    """All rows with the stations and flows that they name."""

    stations: list[str] = field(default_factory=list)
    flows: list[Flow] = field(default_factory=list)
    answered: list[int | None] = field(default_factory=list)
    """For each flow the place of the one whose requests its responses answer."""
    rows: list[Row] = field(default_factory=list)


def draw(
    steps: Iterable[Step],
    findings: Mapping[int, Sequence[Mark]],
    counterparts: Mapping[Flow, Flow],
    *,
    start: int | None = None,
) -> Ladder:
    """Lay a story out; `findings` by frame number.

    Seconds count from `start`, or from the first step.
    """
    ladder = Ladder()
    stations: dict[str, int] = {}
    flows: dict[Flow, int] = {}
    for step in steps:
        start = step.time_ns if start is None else start
        flow = step.flow
        ladder.rows.append(
            Row(
                number=step.number,
                seconds=(step.time_ns - start) / 1e9,
                source=stations.setdefault(flow.source, len(stations)),
                destination=stations.setdefault(flow.destination, len(stations)),
                flow=flows.setdefault(flow, len(flows)),
                kind=step.kind,
                psn=step.psn,
                copy=bool(step.copy),
                bad_icrc=step.icrc_ok is False,
                caption=caption(step),
                marks=tuple(findings.get(step.number, ())),
            )
        )
    ladder.stations, ladder.flows = list(stations), list(flows)
    ladder.answered = [
        flows.get(counterparts[flow]) if flow in counterparts else None for flow in flows
    ]
    return ladder
