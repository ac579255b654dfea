# SPDX-License-Identifier: BSD-2-Clause
"""What a requester does after a loss: P11, P17, P18, P19."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from functools import partial
from itertools import accumulate, pairwise, zip_longest
from typing import NamedTuple

from roceproof.conformance.diagnosis.budget import Budget
from roceproof.conformance.diagnosis.psn.steps import Recovery
from roceproof.conformance.diagnosis.psn.stream import Stream
from roceproof.conformance.diagnosis.psn.timeline import Reply, Sent, Side, behind
from roceproof.conformance.wire.opcodes import Family, Position
from roceproof.conformance.wire.psn import PSN_MODULUS, distance

_NEAR = 256
_MANY, _MOST = 5, 0.8  # of so many restarts that share is a habit
_LEAST_AGAIN = 3
_LEAST_MESSAGES = 2
_LONG = 5  # times the longest pause between packets that were posted one after the other
_PROMPT_NS = 500_000  # later than that a time-out may have done it, because the NAK was lost
_CORNERS = (0, 1 << 23)


def new_psns(side: Side, budget: Budget) -> list[Sent]:
    """P11: behind a sequence NAK, what was sent from that PSN on comes again under new PSNs."""
    found: dict[Sent, None] = {}
    requests = side.requests
    by_psn: dict[int, list[int]] = {}
    by_content: dict[int, list[int]] = {}
    budget.spend(len(requests) if side.naks else 0)
    for place, sent in enumerate(requests if side.naks else ()):
        by_psn.setdefault(sent.psn, []).append(place)
        by_content.setdefault(sent.content, []).append(place)
    for nak in side.naks:
        now = behind(requests, nak.number)
        asked = by_psn.get(nak.psn, [now])
        if asked[0] >= now or asked[-1] >= now:
            continue
        alike = by_content[requests[asked[0]].content]
        begin = bisect_left(alike, now)
        if begin == len(alike):
            continue
        lost = requests[asked[0] : now]
        again = requests[alike[begin] : alike[begin] + len(lost)]
        budget.spend(len(again))
        same = all(one.content == other.content for one, other in zip(again, lost, strict=False))
        new = all(by_psn[one.psn][0] >= now for one in again)
        once = [one for one in again if bisect_left(by_content[one.content], now) == 1]
        telling = len(once) > 1 or any(one.reth is not None for one in once)
        if same and new and telling:  # it does not merely go on with packets that are all alike
            found.update(dict.fromkeys(again))
    return [*found]


def new_psns_unanswered(stream: Stream) -> list[Sent]:
    """P11 where nobody answers: after a long pause all comes again under new PSNs, and never else.

    A healthy requester repeats under the old PSNs what is not acknowledged.
    """
    requests = stream.requests
    if not stream.side.reliable or stream.side.answers or stream.recoveries:
        return []
    first = requests[0].content
    count = next((n for n, sent in enumerate(requests) if n and sent.content == first), 0)
    lost, again = requests[:count], requests[count : 2 * count]
    if len({sent.content for sent in again}) < _LEAST_AGAIN:
        return []
    if sum(bool(sent.row.position & Position.LAST) for sent in lost) < _LEAST_MESSAGES:
        return []  # an application may send one message twice
    if any(one.content != other.content for one, other in zip(again, lost, strict=False)):
        return []
    pause = again[0].time_ns - lost[-1].time_ns
    longest = max(after.time_ns - before.time_ns for before, after in pairwise(lost))
    return again if pause > _LONG * longest else []


class Restart(NamedTuple):
    """Where a requester went back to when a sequence NAK asked for its PSN."""

    nak: Reply
    jump: Sent
    message: int
    """The PSN at which the message that the NAK asks for begins."""
    beside: int | None
    """0 where it is right; 1 and -1 for the packet behind or in front of the right one."""
    doubtful: bool
    """Whether the network in front of the capture may have made it look wrong."""
    is_first: bool
    """Whether nothing could be sent again in front of what the NAK asks for."""


def restarts(stream: Stream, budget: Budget) -> list[Restart]:
    """For P17: every prompt jump back behind a sequence NAK; those to a lost READ left out."""
    found = []
    naks = stream.side.naks if stream.recoveries else []
    last = {sent.psn: sent for sent in stream.requests} if naks else {}
    before = 0
    for jump in (recovery.jump for recovery in stream.recoveries if naks):
        asked = behind(naks, jump.number)
        nak = naks[asked - 1] if asked else None
        first, before = before, jump.number
        if nak is None or nak.number < first or jump.time_ns - nak.time_ns > _PROMPT_NS:
            continue
        if nak.psn not in last:
            continue  # nothing was sent there: the NAK is wrong, or what it asks for was not seen
        if jump.psn == nak.psn or jump.row.family is not Family.READ:
            asked_for = last[nak.psn]
            doubtful = asked_for.number > nak.number or distance(jump.psn, nak.psn) < 0
            message = _message_start(stream, nak, jump, budget)
            beside = _beside(stream, asked_for, jump)
            is_first = asked_for.psn == stream.first.psn
            found.append(Restart(nak, jump, message, beside, doubtful, is_first))
    return found


def restarts_wrongly(found: Sequence[Restart]) -> bool:
    """P17, from all restarts of a device: one wrong rule fits them all, beyond bad luck."""
    wrong = [each for each in found if each.jump.psn != each.nak.psn]
    free = [each for each in found if each.beside or not each.is_first]
    if not wrong or (len(free) <= 1 and wrong[0].doubtful):
        return False
    if all(each.jump.psn == each.message for each in found):
        return True
    beside = Counter(each.beside for each in free)
    many = len(free) >= _MANY
    return any(beside[way] >= (_MOST if many else 1) * len(free) > 0 for way in (1, -1))


def _beside(stream: Stream, right: Sent, jump: Sent) -> int | None:
    if jump.psn == right.psn:
        return 0
    if distance(jump.psn, right.psn) == (stream.span(right) or 1):
        return 1
    return -1 if distance(right.psn, jump.psn) == (stream.span(jump) or 1) else None


def wrong_returns(stream: Stream) -> list[Recovery]:
    """P18: behind the repeats the stream does not go on behind the newest PSN."""
    found = []
    for recovery, following in zip_longest(stream.recoveries, stream.recoveries[1:]):
        step = recovery.resumed
        if step is None or step.after.damaged or not recovery.repeats:
            continue
        if not step.wrong or stream.excused(step):
            continue  # right, of unknown length, or packets were lost that came later
        if not recovery.sends_again or distance(recovery.jump.psn, recovery.before.psn) > 0:
            continue  # nothing was sent again; what comes late was only overtaken
        if following and following.before is step.after and following.goes_on:
            continue  # a repeat among others that was changed on the way, then or now
        start, due = recovery.repeats[0].psn, recovery.due
        copies = len(recovery.repeats)
        moved = {distance(due, start), copies} if copies > 1 else {distance(due, start)}
        wrong = {start + 1, *(due + count for count in moved)}
        if step.after.psn in {psn % PSN_MODULUS for psn in wrong} - {due}:
            found.append(recovery)
    return found


def corner_replays(stream: Stream, budget: Budget) -> list[Sent]:
    """P19: near PSN 0 or 2^23 acknowledged requests are sent again, more than once.

    Not so a READ and what follows: its responses may have been lost, whatever is acknowledged.
    """
    crossing = [
        recovery
        for recovery in stream.recoveries
        if recovery.jump.row.family is not Family.READ
        and any(
            distance(recovery.jump.psn, corner) < 0 < distance(recovery.due, corner) < _NEAR
            for corner in _CORNERS
        )
    ]
    if not crossing:
        return []
    heard = [reply for reply in stream.side.heard if reply.is_positive]
    asked = {nak.psn for nak in stream.side.naks}
    budget.spend(len(heard))
    newest = list(accumulate(heard, partial(_newer, stream.first.psn)))
    found: dict[int, list[Sent]] = {}
    for recovery in crossing:
        jump = recovery.jump
        acked = behind(heard, recovery.before.number - 1)
        if acked and jump.psn not in asked and distance(newest[acked - 1].psn, jump.psn) >= 0:
            found.setdefault(jump.psn, []).append(jump)
    return [sent for jumps in found.values() if len(jumps) > 1 for sent in jumps]


def _newer(first: int, one: Reply, other: Reply) -> Reply:
    return other if distance(other.psn, first) > distance(one.psn, first) else one


def _message_start(stream: Stream, nak: Reply, jump: Sent, budget: Budget) -> int:
    for place in range(behind(stream.requests, jump.number - 1) - 1, -1, -1):
        budget.spend(1)
        sent = stream.requests[place]
        if distance(sent.psn, nak.psn) <= 0 and sent.row.position & Position.FIRST:
            return sent.psn
    return nak.psn
