# SPDX-License-Identifier: BSD-2-Clause
"""Judges every case by all rules that a capture can decide, and by signs of life."""

from collections.abc import Collection, Sequence
from functools import partial
from typing import NamedTuple

from roceproof.conformance.observer.checker import Checker
from roceproof.conformance.observer.facts import Facts
from roceproof.conformance.rules.findings import Direction, Finding
from roceproof.conformance.rules.table import Severity
from roceproof.conformance.runner.attribution.unreadable import instead_of_a_packet
from roceproof.conformance.runner.judging.bench_law import hold_to_the_law, is_unsaid
from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.checks.comparison import Predicted, compared
from roceproof.conformance.suite.notation import Mismatch, got
from roceproof.conformance.suite.packets import described, example
from roceproof.conformance.suite.reporting.failure import (
    STRAY,
    STRAY_COMPLETION,
    STRAY_RECEIVE,
    CaseFailed,
    rule_of,
)
from roceproof.conformance.suite.reporting.failure_heads import COMPLAINT
from roceproof.conformance.suite.reporting.transcript import Entry
from roceproof.conformance.targets.capability import Capability
from roceproof.conformance.targets.interface import DeviceDied
from roceproof.conformance.targets.ping import answers_another, wrong_answer
from roceproof.conformance.wire.neighbours import is_advertised
from roceproof.verbs.work import Outcome

_STEPS = ("PSN-02", "PSN-18")
"""Rules that a packet breaks by being left out, or by coming as a frame that nobody can read."""
_TOLD = 8
"""Findings that a failure tells one by one."""


class Judged(NamedTuple):
    """What the observer holds against the device."""

    broken: list[tuple[Finding, Entry]]
    """With the frame that shows it."""
    unsaid: list[tuple[Finding, Entry]]
    """What the bench has broken without saying that it means to."""
    lesser: list[tuple[Finding, Entry]]
    """What a device should not do; of a must that it may have kept nothing is said."""


class Judgement(NamedTuple):
    """What stands against a device whose case is over, and what it was seen in."""

    failures: list[CaseFailed]
    predicted: list[Predicted]
    findings: list[tuple[Finding, Entry]]
    others: list[CaseFailed]
    """Those of the failures that neither predicted packets nor the observer show."""
    unsaid: list[tuple[Finding, Entry]]
    """What the bench itself has broken, and did not mean to."""
    lost: str | None = None
    """The question behind the case that had no answer; empty if each had, None if not asked."""


def observe(bench: Bench, *, unjudged: Collection[str] = ()) -> Judged:
    """Every rule of role O over all that passed and counts, in each epoch by itself."""
    found: list[tuple[Finding, Entry]] = []
    for epoch in bench.transcript.epochs:
        checker = Checker(Facts.from_json(epoch.facts()))
        entries = [entry for entry in epoch.entries if not entry.is_void]
        findings: list[Finding] = []
        for entry in entries:
            direction = Direction.SENT if entry.is_sent else Direction.RECEIVED
            findings += checker.feed(entry.frame, direction)
        findings += checker.finish()
        found += [(finding, entries[finding.frame - 1]) for finding in findings]
    ours = [
        (finding, entry)
        for finding, entry in found
        if finding.direction is Direction.SENT and finding.rule.id not in unjudged
    ]
    return Judged(
        [each for each in ours if each[0].severity is Severity.MUST],
        [each for each in found if is_unsaid(*each)],
        [each for each in ours if each[0].severity is each[0].rule.severity is Severity.SHOULD],
    )


def judge(bench: Bench, *, breaks: Collection[str] = ()) -> list[CaseFailed]:
    """What stands against a device whose plan is over; empty if nothing does.

    A plan that itself breaks another rule than it says is `CaseBreaks`.
    """
    judged = judgement(bench)
    hold_to_the_law(bench, judged.unsaid, breaks, is_accused=bool(judged.failures))
    return judged.failures


def judgement(
    bench: Bench, *, unjudged: Collection[str] = (), known: CaseFailed | None = None
) -> Judgement:
    """The same with what it was seen in; of a field that the case has told nothing more is."""
    unjudged = {*unjudged, *bench.unjudged}
    predicted = list(compared(bench))
    judged = observe(bench, unjudged=unjudged)
    told = {each.field for each in known.stop.fields} if known and known.stop else set[str]()
    failures = _as_asked(bench, predicted, unjudged=unjudged, told=told)
    others = [each for each in (bench.aside,) if each and unjudged.isdisjoint(each.rules)]
    steps = [each for each in judged.broken if each[0].rule.id in _STEPS]
    if steps and (cause := instead_of_a_packet(bench)):
        judged = judged._replace(broken=[each for each in judged.broken if each not in steps])
        others.append(CaseFailed(f"a packet is missing, and {cause.words}", rules=cause.rules))
    if judged.broken:
        failures.append(_observed(judged.broken))
    if bench.strays and "BTH-10" not in unjudged:
        flow = bench.connections[0].from_device if bench.connections else None
        shown = got(bench.strays[0], flow) if flow else "a frame"
        due = {f"{each.spec.remote_qpn:#x}" for each in bench.connections}
        wanted = f"; the only one is {due.pop()}" if len(due) == 1 else ""
        text = f"{STRAY}: {shown} qpn={bench.strays[0].bth.dest_qpn:#x}{wanted}"
        others.append(CaseFailed(text, rules=["BTH-10"]))
    if strays := bench.target.stray_completions():
        others.append(_stray_completion(strays[0]))
    if contradictions := bench.target.contradictions():
        others.append(CaseFailed("\n".join(contradictions), rules=["CM-05"]))
    lost = None
    if Capability.PING in bench.claims.capabilities and "LIVE-01" not in unjudged:
        lost, failure = _lost(bench)
        others += [] if failure is None else [failure]
    if (complaint := complained(bench)) and not (known or failures or others):
        others.append(CaseFailed(complaint, rules=["LIVE-01"]))
    if not (known or failures or others or "RETH-12" in unjudged):
        others += _stray_writes(bench)
    found = judged.broken
    if judged.lesser and not (known or failures or others):  # it passes, and that is told
        found = judged.lesser
        failures.append(_observed(found))
    return Judgement([*failures, *others], predicted, found, others, judged.unsaid, lost)


def _observed(found: Sequence[tuple[Finding, Entry]]) -> CaseFailed:
    text = "\n".join(dict.fromkeys(finding.message for finding, _ in found[:_TOLD]))
    rules = [finding.rule.id for finding, _ in found]
    entries = list(dict.fromkeys(entry for _, entry in found[:_TOLD]))
    return CaseFailed(f"the observer says:\n{text}", rules=rules, entries=entries)


def _stray_completion(stray: Outcome) -> CaseFailed:
    text, rule = f"{STRAY_COMPLETION}: work {stray.wr_id:#x}; look at qpn of cpl_o", "QPS-06"
    if stray.is_receive:
        text = f"{STRAY_RECEIVE}: {stray.wr_id:#x}; look at what is taken, and qpn of rcp_o"
        rule = "RQ-01"
    return CaseFailed(text, rules=[rule])


def _stray_writes(bench: Bench) -> list[CaseFailed]:
    """What was written where nobody may write."""
    strays = [f"{address:#x}" for address in bench.target.stray_writes()]
    text = f"memory was written to that no region has, from {', '.join(strays)} on"
    return [CaseFailed(text, rules=["RETH-12"])] if strays else []


def complained(bench: Bench) -> str:
    """That an assertion inside the device has failed, which nobody else's device says."""
    said = bench.target.complaint()
    return f"{COMPLAINT}: {said}" if said else ""


def _as_asked(
    bench: Bench, predicted: Sequence[Predicted], *, unjudged: set[str], told: set[str]
) -> list[CaseFailed]:
    """Packets whose fields are not what the work and the queue pair asked for, by the field."""
    found: dict[str, list[tuple[Predicted, Mismatch]]] = {}
    for each in predicted:
        for wrong in each.wrong:
            if wrong.field not in told and rule_of(wrong) not in {None, *unjudged}:
                found.setdefault(wrong.field, []).append((each, wrong))
    return [_wrong_field(bench, several) for several in found.values()]


def _wrong_field(bench: Bench, several: list[tuple[Predicted, Mismatch]]) -> CaseFailed:
    first, wrong = several[0]
    count = f"{len(several)} packets" if len(several) > 1 else "a packet"
    text = (
        f"{count} of posted work came otherwise\nwant  {described(first.pattern)}\n"
        f"got   {got(first.packet, first.life.codec, first.pattern)}\n"
        f"      {wrong.field}: want {wrong.want}, got {wrong.got}"
    )
    rules = [rule for _, each in several if (rule := rule_of(each)) is not None]
    return CaseFailed(
        f"{text}\n{bench.story()}",
        rules=rules,
        entries=[first.entry],
        example=partial(example, first.pattern, first.life.codec),
    )


def _lost(bench: Bench) -> tuple[str, CaseFailed | None]:
    """The question that the device does not answer any more, and the failure."""
    try:
        bench.drain()
        asked_ns = bench.target.now_ns
        lives, asides = _pings(bench)
        if any(map(answers_another, asides)):  # it may drop a question while it does
            lives, asides = _pings(bench)
    except DeviceDied as error:
        return "", CaseFailed(f"{error.said}: {error}", rules=[error.rule])
    if lives:
        return "", None
    lost, when = (
        "ARP or ping",
        "while it still sends" if _sends(bench, asked_ns) else "behind the case",
    )
    text = f"the device does not answer ARP and ping {when}"
    if Capability.LOCKSTEP in bench.claims.capabilities:
        own = bench.target.host.ip
        if wrong := wrong_answer(asides):
            return wrong, CaseFailed(f"{wrong} {when}", rules=["LIVE-01"])
        lost = "ping" if any(is_advertised(frame, own) for frame in asides) else "ARP"
        text += f": {lost} is lost"
    return lost, CaseFailed(text, rules=["LIVE-01"])


def _pings(bench: Bench) -> tuple[bool, list[bytes]]:
    """Whether it answers ARP and ping, and what came besides."""
    target, answer_ns = bench.target, bench.target.patience.answer_ns
    lives = target.ping(bench.peers[0], timeout_ns=answer_ns)
    is_told = Capability.LOCKSTEP in bench.claims.capabilities
    return lives, target.asides() if is_told and not lives else []


def _sends(bench: Bench, since_ns: int) -> bool:
    """Whether more of what it was given has come since then."""
    while (arrival := bench.target.receive(0)) is not None:
        if arrival.time_ns > since_ns:
            return True
    return False
