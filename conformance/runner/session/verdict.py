# SPDX-License-Identifier: BSD-2-Clause
"""The verdict on a case that has ended: what is judged behind it, what is blamed, what is kept."""

import traceback
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from roceproof.common.printable import printable_lines
from roceproof.conformance.rules.table import breaks_a_must, is_warning
from roceproof.conformance.runner.attribution.control import works_anew
from roceproof.conformance.runner.attribution.first_difference import first_difference
from roceproof.conformance.runner.attribution.rule_attribution import Blame, blame
from roceproof.conformance.runner.findings.observations import observed
from roceproof.conformance.runner.judging.bench_law import hold_to_the_law
from roceproof.conformance.runner.judging.evidence import explained, keep, keep_requests, names_of
from roceproof.conformance.runner.judging.scoreboard import Judgement, complained, judgement
from roceproof.conformance.runner.outcomes import HUNG, NOT_REACHED, WARNING
from roceproof.conformance.runner.session.factories import controls_of, factory_of, widths_asked
from roceproof.conformance.runner.session.items import (
    SEEN,
    broken_on_purpose,
    rules_of,
    unjudged_by,
    width_of,
)
from roceproof.conformance.runner.session.names import file_name, short_name
from roceproof.conformance.runner.session.options import Options
from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.checks.comparison import compared
from roceproof.conformance.suite.checks.strays import with_strays
from roceproof.conformance.suite.reporting.failure import CaseFailed
from roceproof.conformance.suite.reporting.failure_heads import head_of
from roceproof.conformance.suite.reporting.failure_site import Kind, Stop
from roceproof.conformance.suite.reporting.transcript import Entry
from roceproof.conformance.targets.interface import DeviceDied, NoEnd
from roceproof.dpi.session.streams import STREAMS

_ALIVE = "LIVE-01"
REQUESTS = "requests"
"""The folder of what a device has asked for, which another one can be asked, too."""
_EXPLAINED = pytest.StashKey[int]()
_MOST_EXPLAINED = 24
"""Failing cases of a process that `explain` looks at; it costs more than the cases do."""


def conclude(item: pytest.Function, bench: Bench, options: Options, own: CaseFailed | None) -> None:
    """Judge a case whose own end was this failure, or none; raise what stands against the device.

    Whatever the verdict, the report gets what the case has seen.
    """
    if bench.plans:
        item.user_properties.append(("plans", bench.plans))
    own = None if own is None else with_strays(bench, _taken_first(bench, own))
    judged = _judged(bench, item, own)
    failures = [*([] if own is None else [own]), *judged.failures]
    is_accused = not all(is_warning(each.rules) for each in failures)
    hold_to_the_law(bench, judged.unsaid, broken_on_purpose(item), is_accused=is_accused)
    blamed = _blamed(item, bench, failures) if failures else None
    item.stash[SEEN] = observed(
        bench,
        judged.predicted,
        findings=judged.findings,
        stop=blamed.stop if blamed is not None else None,
        streams=streams_of(failures[0]) if failures else (),
        failures=[*([] if own is None else [own]), *judged.others],
        against=_against(failures, judged) if is_accused else None,
        lost=judged.lost,
    )
    path = options.captures / file_name(short_name(item.nodeid))
    if options.keep_requests and width_of(item) == widths_asked(options)[0]:
        keep_requests(bench.transcript, options.captures / REQUESTS / path.name)
    if blamed is None and not options.keep_all:
        return
    replay = options.replay(item.nodeid)
    capture = keep(bench.transcript, path, replay=replay, simulated=options.simulated)
    if blamed is not None:
        raise _verdict(item, bench, options, failures, blamed, capture) from None


def warned(report: pytest.TestReport) -> pytest.TestReport:
    """The report of a failure; a case that was reached and breaks no must has passed, warned."""
    said = dict(report.user_properties)
    broken = str(said.get("broken", "")).split()
    if is_warning(broken) and NOT_REACHED not in said:
        report.outcome, report.longrepr = "passed", None
        report.user_properties.append((WARNING, str(said["head"])))
    return report


def ended_by(death: DeviceDied, bench: Bench, path: Path) -> CaseFailed:
    """The failure of a case that its device has ended, or that has no end; with the place."""
    kind = Kind.NO_END if isinstance(death, NoEnd) else Kind.DEATH
    rules = [] if isinstance(death, NoEnd) and death.is_late else [death.rule]
    failure = bench.failed(f"{death.said}: {death}", rules=rules, stop=Stop(kind))
    return located(failure.with_traceback(death.__traceback__), path)


def located(failure: CaseFailed, path: Path) -> CaseFailed:
    """The failure with the line of the case in front."""
    places = [f for f in traceback.extract_tb(failure.__traceback__) if f.filename == str(path)]
    head = f"{path.name}:{places[-1].lineno}: {places[-1].line}\n" if places else ""
    return failure.retold(printable_lines(f"{head}{failure}"))


def streams_of(failure: CaseFailed) -> list[str]:
    """How the streams of a device stood that did not go on."""
    _, begun, behind = str(failure).partition(f"\n{STREAMS}")
    return f"{STREAMS}{behind}".splitlines() if begun else []


def _taken_first(bench: Bench, own: CaseFailed) -> CaseFailed:
    """The failure; where a device never took what it was told, what it shows comes of just that."""
    is_ended = own.stop is not None and own.stop.kind in (Kind.DEATH, Kind.NO_END)
    if is_ended or not (told := bench.target.not_taken):
        return own
    said, *streams = told
    text = "\n".join([said, bench.story(), *streams])
    return CaseFailed(text, rules=[_ALIVE], stop=Stop(Kind.NO_END))


def _against(failures: list[CaseFailed], judged: Judgement) -> list[Entry]:
    """The frames of a device that stand against it."""
    told = [entry for failure in failures for entry in failure.entries if entry.is_sent]
    return [*told, *(entry for _, entry in judged.findings if entry.is_sent)]


def _blamed(item: pytest.Function, bench: Bench, failures: list[CaseFailed]) -> Blame:
    """A case that was cut short and waited in vain is not reached."""
    if bench.target.waited_in_vain:
        item.user_properties.append((HUNG, True))
        if because := bench.target.cut_short:
            return Blame((_ALIVE,), because, failures[0].stop)
        factory_of(item.config, width_of(item)).hung()
    controls = controls_of(item.config, width_of(item))
    found = blame(bench, failures, own=rules_of(item), controls=controls)
    stop = found.stop
    if stop is None or not stop.stands_still or breaks_a_must(found.broken):
        return found
    lives = works_anew(bench, stop)
    return found if lives else replace(found, broken=(_ALIVE, *found.broken))


def _judged(bench: Bench, item: pytest.Item, own: CaseFailed | None) -> Judgement:
    if own is not None and own.stop is not None and own.stop.kind in (Kind.DEATH, Kind.NO_END):
        return Judgement([], list(compared(bench)), [], [], [])
    return judgement(bench, unjudged=unjudged_by(item), known=own)


def _verdict(
    item: pytest.Function,
    bench: Bench,
    options: Options,
    failures: list[CaseFailed],
    blamed: Blame,
    capture: Path,
) -> CaseFailed:
    replay = options.replay(item.nodeid)
    broken = blamed.broken
    properties: dict[str, Any] = {
        "broken": " ".join(broken),
        "capture": str(capture),
        "replay": replay,
        "head": head_of(failures[0]),
        "differed": " ".join(first_difference(bench, failures[0], blamed.stop)),
    }
    number = item.config.stash.get(_EXPLAINED, 0)
    diagnoses = []
    if number < _MOST_EXPLAINED and blamed.not_reached is None:
        diagnoses = explained(bench.transcript, broken, simulated=options.simulated)
    if diagnoses:
        item.config.stash[_EXPLAINED] = number + 1
        properties["explained"] = " ".join(map(names_of, diagnoses))
    head = ""
    if blamed.not_reached is not None:
        properties[NOT_REACHED] = blamed.not_reached
        head = f"not reached: because {blamed.not_reached}\n"
    item.user_properties.extend(properties.items())
    story = head + "\n\n".join(map(str, failures))
    if options.show:
        story = "\n\n".join([story, *(failure.shown() for failure in failures if failure.entries)])
    notes = [f"explain: {found.id} {found.text}" for found in diagnoses]
    if (complaint := complained(bench)) and complaint not in story:
        notes.append(f"beside it {complaint}")
    tail = [f"rules: {' '.join(broken)}", *notes, f"capture: {capture}", f"replay: {replay}"]
    return CaseFailed(
        "\n".join([f"{story}\n", *tail]),
        rules=broken,
        entries=[entry for failure in failures for entry in failure.entries],
        example=failures[0].example,
    )
