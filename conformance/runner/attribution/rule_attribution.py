# SPDX-License-Identifier: BSD-2-Clause
"""Which rules a failing case accuses: its own only if it is its own assertion that has failed.

A case that stops at what every case takes for granted, a posted message that leaves, an ACK that
completes it, a fence that is served, says nothing about its own rules if the same stops on a fresh
device without anything that is special to the case (`control`). It was not reached, and accuses
what has stopped it; first of all the rule about the one thing without which it goes on
(`narrowing`), which may be the case's own.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from roceproof.conformance.runner.attribution.control import (
    Controls,
    Outcome,
    repeated,
    skeleton_of,
)
from roceproof.conformance.runner.attribution.narrowing import cause_of
from roceproof.conformance.runner.attribution.unreadable import unreadable
from roceproof.conformance.runner.findings.root import OF_ONE_FIELD, family
from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.checks.comparison import earliest_due
from roceproof.conformance.suite.connection import Connection
from roceproof.conformance.suite.expect.prediction import Posted
from roceproof.conformance.suite.reporting.divergence import is_vague, named, on_services
from roceproof.conformance.suite.reporting.failure import CaseFailed, rule_of
from roceproof.conformance.suite.reporting.failure_heads import HEEDED, head_of
from roceproof.conformance.suite.reporting.failure_site import Kind, Stop
from roceproof.conformance.targets.capability import Capability
from roceproof.conformance.wire import icrc
from roceproof.verbs.service import Service

_ALIVE, _WHOLE, _COMPLETES, _COMPLETES_ON_UC = "LIVE-01", "OPC-01", "ACK-08", "UC-01"
_BACK_PRESSURE, _WIRE_STALL = "ETH-07", "tx_stall"
_ICRC, _AGREED_PSN, _AGREED, _ANEW = "ICRC-", "CM-04", "CM-05", ("QPS-04", "PSN-09")


@dataclass(frozen=True)
class Blame:
    """The rules that are broken, and why the case was not reached, if it was not."""

    broken: tuple[str, ...]
    not_reached: str | None = None
    stop: Stop | None = None


def blame(
    bench: Bench, failures: Sequence[CaseFailed], *, own: Sequence[str], controls: Controls
) -> Blame:
    """What the failures of a case accuse, of which the first was the case's or its end's."""
    first = failures[0]
    stop = _stop_of(bench, first)
    theirs = [rule for failure in failures for rule in failure.rules]
    if stop is not None and stop.kind is Kind.NO_END:
        return Blame(_each_once(theirs), None, stop)
    if stop is not None and stop.kind is Kind.DEATH and (broken := named(head_of(first))):
        return Blame(_each_once([*broken, *theirs]), None, stop)
    if first.rules and (stop is None or stop.kind is not Kind.DEATH):
        about: list[str] = []
        if stop is not None and stop.kind is Kind.WRONG_PACKET:
            is_repeated = _is_plain(bench, stop, own, controls)
            about = [*_about(stop, theirs, own, is_repeated=is_repeated)]
        because = None if about else _predicted(first, theirs, own)
        return Blame(_each_once([*theirs, *about]), because, stop)
    if stop is not None and Capability.LOCKSTEP in bench.claims.capabilities:
        skeleton = skeleton_of(bench, stop)
        outcome = controls.of(skeleton)
        if (rules := _repeated(stop, outcome)) is not None:
            cause = unreadable(bench) if stop.kind is Kind.NO_PACKET else None
            cause = cause or cause_of(controls, skeleton)
            rules = (*(cause.rules if cause else ()), *rules)
            rules = (*rules, *_about(stop, rules, own, is_repeated=True))
            reached = not {*rules, *theirs}.isdisjoint(own)
            because = None if reached else _because(outcome, rules)
            if because and cause:
                because += f"; {cause.words}"
            root = replace(_root(bench, stop, outcome), cause=cause)
            return Blame(_each_once([*rules, *theirs]), because, root)
    fitting = _fitting(bench, stop, own)
    if is_vague(fitting):
        fitting = [*(on_services(named(head_of(first)), services_of(bench)) or fitting)]
    return Blame(_each_once([*fitting, *theirs]), None, stop)


def services_of(bench: Bench) -> set[str]:
    """Those of the queue pairs of a case."""
    return {each.spec.service.name for each in bench.connections}


def _stop_of(bench: Bench, failure: CaseFailed) -> Stop | None:
    """Where a case stopped, also if it has only counted what came.

    What waits behind a message that does not leave is not what was missing first.
    """
    stop = failure.stop
    if stop is None and not failure.rules:
        lacking = [each for each in bench.connections if each.lacks is not None]
        stop = Stop(lacking[0].lacks, lacking[0]) if lacking and lacking[0].lacks else None
    if stop is None or stop.is_first or stop.kind not in (Kind.NO_PACKET, Kind.NO_COMPLETION):
        return stop
    due = earliest_due(bench)
    if due is None:
        return stop if stop.message is not None else None
    if stop.message is not None and _turn(bench, due.message) > _turn(bench, stop.message):
        return stop
    return Stop(Kind.NO_PACKET, due.connection, due.message, due.packet)


def _turn(bench: Bench, message: Posted) -> int:
    return bench.turns[message.work.wr_id]


def _about(
    stop: Stop, theirs: Sequence[str], own: Sequence[str], *, is_repeated: bool
) -> Iterator[str]:
    """The case's own rules about the field that is wrong in a predicted packet.

    Those of the field's family, but of the very first packet of a queue pair none: nothing that
    the case does was before it. Where plain queue pairs have the field right, those about how
    this one came to be what it is.
    """
    if stop.kind is not Kind.WRONG_PACKET or stop.message is None:
        return
    lives = len(stop.at.lives) if isinstance(stop.at, Connection) else 1
    kin = {family(rule) for rule in theirs} & OF_ONE_FIELD
    if stop.packet or stop.message.ordinal > 1 or lives > 1:
        yield from (rule for rule in own if family(rule) in kin)
    if not is_repeated:
        told = {_AGREED_PSN if "PSN" in kin else _AGREED, *(_ANEW if lives > 1 else ())}
        yield from (rule for rule in own if rule in told)


def _predicted(failure: CaseFailed, theirs: Sequence[str], own: Sequence[str]) -> str | None:
    """A predicted packet came otherwise, which is not what the case is about."""
    is_said = failure.stop is None or failure.stop.kind is Kind.ASSERTION
    is_said |= any(words in head_of(failure) for words in HEEDED)
    if is_said or not set(theirs).isdisjoint(own):
        return None
    return f"{head_of(failure)}, which breaks {' '.join(failure.rules)}"


def _repeated(stop: Stop, outcome: Outcome) -> tuple[str, ...] | None:
    """The rules that are broken without the case, too; None if it takes the case to break any."""
    if stop.kind is Kind.WRONG_PACKET:
        wrong = {each.field for each in outcome.wrong}
        if outcome.failure is not None and outcome.failure.stop is not None:
            wrong |= {each.field for each in outcome.failure.stop.fields}
        if not {each.field for each in stop.fields} <= wrong:
            return None
        return _each_once(rule for each in stop.fields if (rule := rule_of(each)) is not None)
    if outcome.failure is None:
        return None
    return _each_once([*outcome.failure.rules, *_of_a_stop(outcome.failure.stop)])


def _is_plain(bench: Bench, stop: Stop, own: Sequence[str], controls: Controls) -> bool:
    """Whether a plain queue pair has the same fields wrong; where nobody can say, it has."""
    special = {_AGREED_PSN, _AGREED, *_ANEW}
    if special.isdisjoint(own) or Capability.LOCKSTEP not in bench.claims.capabilities:
        return True
    return _repeated(stop, controls.of(skeleton_of(bench, stop))) is not None


def _root(bench: Bench, stop: Stop, outcome: Outcome) -> Stop:
    """The place in the case at which the control has stopped: what stood still behind it waits."""
    first = outcome.failure.stop if outcome.failure is not None else None
    if first is None or first.message is None or not isinstance(stop.at, Connection):
        return stop
    tried = repeated(stop.at, stop)
    number = first.message.ordinal - 1
    if number >= len(tried):
        return stop
    return Stop(first.kind, stop.at, tried[number], first.packet, first.fields)


def _of_a_stop(stop: Stop | None) -> tuple[str, ...]:
    """What a message that goes no further shows broken."""
    if stop is None or stop.kind is Kind.WRONG_PACKET:
        return ()
    if stop.kind is Kind.NO_COMPLETION and stop.at is not None:
        return (_COMPLETES if stop.at.spec.service is Service.RC else _COMPLETES_ON_UC,)
    return (_WHOLE,) if stop.kind is Kind.NO_PACKET and stop.packet else (_ALIVE,)


def _because(outcome: Outcome, rules: Sequence[str]) -> str:
    if outcome.failure is None:
        fields = ", ".join(f"{m.field}: want {m.want}, got {m.got}" for m in outcome.wrong)
        return f"{fields} in plain messages to a fresh device, too, which breaks {' '.join(rules)}"
    stop = outcome.failure.stop
    told = (stop.words if stop is not None else None) or head_of(outcome.failure)
    return f"plain messages to a fresh device stop, too: {told}"


def _fitting(bench: Bench, stop: Stop | None, own: Sequence[str]) -> list[str]:
    """The case's own rules, of back-pressure where there was any.

    A completion that is missing tells of no ICRC but a received one.
    """
    if _WIRE_STALL not in bench.target.disturbed:
        own = [rule for rule in own if rule != _BACK_PRESSURE] or own
    if stop is None or stop.kind is not Kind.NO_COMPLETION or _was_offered_a_wrong_icrc(bench):
        return list(own)
    return [rule for rule in own if not rule.startswith(_ICRC)] or [_COMPLETES]


def _was_offered_a_wrong_icrc(bench: Bench) -> bool:
    offered = (entry.frame for entry in bench.transcript.entries() if not entry.is_sent)
    return any(icrc.check(frame).judgement is icrc.Judgement.BAD for frame in offered)


def _each_once(rules: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(rules))
