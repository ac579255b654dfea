# SPDX-License-Identifier: BSD-2-Clause
"""What an oracle wanted for an answer and what came, in the notation of packets."""

from collections import Counter
from collections.abc import Iterable, Sequence

from roceproof.conformance.model.codes import AethType
from roceproof.conformance.model.oracle import Unexplained
from roceproof.conformance.model.responder.rc_answers import ACKNOWLEDGE
from roceproof.conformance.model.segment import Segment
from roceproof.conformance.suite.notation import data_shown
from roceproof.conformance.wire.headers import Aeth, AtomicAckEth
from roceproof.conformance.wire.opcodes import name_of
from roceproof.conformance.wire.psn import distance
from roceproof.verbs.work import Outcome

MORE, FEWER = (f"{number} receives than were due have completed\n" for number in ("more", "fewer"))
_KINDS: dict[int, str] = {AethType.ACK: "ACK", AethType.RNR_NAK: "RNR", AethType.NAK: "NAK"}

_ENDS = 3


def told(wrong: Unexplained, start: int) -> str:
    """The answers that were allowed, and the one that came; PSNs count from the start."""
    came = "nothing in time" if wrong.got is None else shown(wrong.got, start)
    wanted = sorted({shown(each, start, is_wanted=True) for each in wrong.wanted})
    if not wanted:
        wanted = ["ACK for what asked for one" if wrong.got is None else "nothing more"]
    return f"want  {' or '.join(wanted)}\ngot   {came}"


def all_shown(answers: Iterable[Segment], start: int) -> str:
    return ", ".join(shown(each, start) for each in answers) or "nothing"


def shown(segment: Segment, start: int, *, is_wanted: bool = False) -> str:
    """An answer; of an ACK that is wanted any credits will do."""
    aeth, original = segment.extension(Aeth), segment.extension(AtomicAckEth)
    kind = None if aeth is None else _KINDS.get(aeth.syndrome >> 5)
    name = name_of(segment.bth.opcode).partition(" ")[2].replace(" ", "_")
    if segment.bth.opcode == ACKNOWLEDGE:
        name = kind or "ACKNOWLEDGE"
    words = [name, f"psn={distance(segment.bth.psn, start):+d}"]
    if aeth is not None:
        is_any = is_wanted and kind == "ACK"
        words += [f"syndrome={'ACK' if is_any else f'{aeth.syndrome:#04x}'}", f"msn={aeth.msn}"]
    if original is not None:
        words.append(f"original={original.original:#x}")
    if segment.bth.opcode != ACKNOWLEDGE and original is None:
        words.append(f"payload={data_shown(segment.payload)}")
    return " ".join(words)


def outcomes_told(outcomes: Sequence[Outcome]) -> str:
    """How receives ended, in their order."""
    return "; ".join(map(_outcome, outcomes)) or "none"


def wrong_outcomes(allowed: Iterable[Sequence[Outcome]], got: Sequence[Outcome]) -> str:
    """The completions of receives that were allowed, and those that came."""
    [(number, times)] = Counter(each.wr_id for each in got).most_common(1) or [(0, 0)]
    if times > 1:
        return completed_again("receive", [each for each in got if each.wr_id == number])
    lists = [*allowed]
    shown = " or ".join(sorted({outcomes_told(each) for each in lists}))
    by = {len(got) - len(each) for each in lists}
    count = MORE if min(by) > 0 else FEWER if max(by) < 0 else ""
    return f"{count}want  receives completed: {shown}\ngot   {outcomes_told(got)}"


def completed_again(what: str, outcomes: Sequence[Outcome]) -> str:
    """Of one work request or receive that has completed as often as this."""
    times, ends = len(outcomes), [each.status for each in outcomes]
    how = ", then ".join(ends[:_ENDS]) + ", and so on" * (times > _ENDS)
    return f"{what} {outcomes[0].wr_id:#x} completed {times} times, and may only once: {how}"


def _outcome(outcome: Outcome) -> str:
    killed = "" if outcome.invalidated is None else f" invalidates {outcome.invalidated:#x}"
    return f"{outcome.wr_id:#x} {outcome.status} {outcome.byte_len} {outcome.immediate}{killed}"
