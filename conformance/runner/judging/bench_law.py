# SPDX-License-Identifier: BSD-2-Clause
"""The bench keeps the rules it holds a device to, but for those that it says it means to break.

Behind a case its frames are judged by the same observer. What a responder may say depends on what
the device has asked, so responses count only where nothing stands against the device; requests,
and what a frame shows by itself, count always, and before the device is accused of anything.
"""

from collections.abc import Collection, Sequence

from roceproof.common.errors import RoceproofError
from roceproof.conformance.rules.findings import Direction, Finding
from roceproof.conformance.rules.table import Severity
from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.intent import OUT_OF_ORDER, OUT_OF_SEQUENCE
from roceproof.conformance.suite.reporting.transcript import Entry
from roceproof.conformance.targets.capability import Capability
from roceproof.conformance.wire.codec import parse
from roceproof.conformance.wire.opcodes import OPCODES


class CaseBreaks(RoceproofError):
    """A case breaks a rule by what it sends, and does not say that it means to."""


def is_unsaid(finding: Finding, entry: Entry) -> bool:
    """Whether a finding is held against the bench, as far as its frame says."""
    return (
        finding.direction is Direction.RECEIVED
        and finding.severity is not Severity.INFO
        and finding.rule.id not in entry.breaks
    )


def hold_to_the_law(
    bench: Bench,
    unsaid: Sequence[tuple[Finding, Entry]],
    declared: Collection[str],
    *,
    is_accused: bool,
) -> None:
    """Raise what a case has broken without saying so, on a clock that stands still.

    Elsewhere frames pass each other, and what the bench knew when it sent one is not known.
    """
    if Capability.LOCKSTEP not in bench.claims.capabilities:
        return
    for finding, entry in unsaid:
        if finding.rule.id in declared or (is_accused and _follows_the_device(finding, entry)):
            continue
        rule = finding.rule.id
        raise CaseBreaks(
            f"the case itself breaks {rule} at {entry.time_ns} ns: {finding.message}; "
            f'send what keeps it, or say breaks=["{rule}"] in @case'
        )


def _follows_the_device(finding: Finding, entry: Entry) -> bool:
    """Whether what the bench may send there depends on what the device has answered."""
    if finding.rule.id in OUT_OF_SEQUENCE | OUT_OF_ORDER:
        return True
    packet = parse(entry.frame)
    row = OPCODES.get(packet.bth.opcode) if packet is not None else None
    return row is not None and row.is_response
