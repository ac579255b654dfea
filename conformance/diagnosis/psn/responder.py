# SPDX-License-Identifier: BSD-2-Clause
"""What a responder expects: P20, P21, P22, read from the replies to one side's requests."""

from itertools import islice, pairwise

from roceproof.conformance.diagnosis.budget import Budget
from roceproof.conformance.diagnosis.psn.stream import Stream
from roceproof.conformance.diagnosis.psn.timeline import ACKNOWLEDGE, Reply, Side, behind
from roceproof.conformance.wire.opcodes import Family
from roceproof.conformance.wire.psn import PSN_MODULUS, distance

_LEAST_CASES = 4
_FAR = 64  # what a READ takes at most


def constant_offset(stream: Stream, budget: Budget) -> list[Reply]:
    """P20: up to the first recovery every ACK names the PSN beside that of the request.

    The first one names a PSN for which no acknowledgement was asked.
    """
    side = stream.side
    end = stream.recoveries[0].jump.number if stream.recoveries else None
    answers = side.answers if end is None else side.answers[: behind(side.answers, end)]
    budget.spend(len(side.requests) + len(answers))
    asking = [sent for sent in side.requests if sent.ack_req]
    offsets: list[tuple[int, Reply]] = []
    for reply in answers:
        asked = behind(asking, reply.number - 1)
        if asked and _acknowledges(reply):
            offsets.append((distance(reply.psn, asking[asked - 1].psn), reply))
    values = {offset for offset, _ in offsets}
    if len(offsets) < _LEAST_CASES or values not in ({1}, {-1}):
        return []
    first = offsets[0][1]
    if any(sent.psn == first.psn for sent in asking[: behind(asking, first.number)]):
        return []  # it may merely be late
    begins = stream.first is side.requests[0] and distance(stream.first.psn, first.psn) == 1
    if values == {-1} and not begins and all(sent.psn != first.psn for sent in side.requests):
        return []  # so it may, if what it names was sent and not seen
    return [reply for _, reply in offsets]


def moved_by_damage(side: Side, budget: Budget) -> list[Reply]:
    """P21: a request that came only with a wrong ICRC is acknowledged."""
    found = []
    came: dict[int, int] = {}
    psns: dict[int, set[int]] = {}
    budget.spend(len(side.requests))
    for sent in side.requests:
        if not sent.damaged:
            came.setdefault(sent.psn, sent.number)
            psns.setdefault(sent.content, set()).add(sent.psn)
    acknowledged = {reply.psn for reply in side.answers if _acknowledges(reply)}
    if acknowledged and came.keys().isdisjoint(acknowledged):
        return []  # it takes all for repeated, and READs of these are answered, too
    for before, bad in pairwise(side.requests):
        far = _FAR if before.row.family is Family.READ else 1
        if not bad.on_the_way or not 0 < distance(bad.psn, before.psn) <= far:
            continue  # not damaged, or not in the place where its PSN belongs
        if any((psn ^ bad.psn).bit_count() == 1 for psn in psns.get(bad.content, ())):
            continue  # it may be the PSN that was changed
        good = came.get(bad.psn)
        begin = behind(side.answers, bad.number - 1)
        end = len(side.answers) if good is None else behind(side.answers, good)
        for reply in islice(side.answers, begin, end):
            budget.spend(2)
            if reply.is_positive and 0 <= distance(reply.psn, bad.psn) < 1 << 16:
                found.append(reply)
                break
            if reply.is_sequence_nak and distance(reply.psn, bad.psn) == 1:
                found.append(reply)
                break
    return found


def _acknowledges(reply: Reply) -> bool:
    return reply.is_positive and reply.opcode == ACKNOWLEDGE


def short_reads(stream: Stream, budget: Budget) -> tuple[list[Reply], bool]:
    """P22: behind a READ of several packets the PSN after the request's own is asked for.

    And whether these replies count the READ: one that was taken for a repetition is answered, too,
    and what is asked for then only happens to lie in its range.
    """
    reads: dict[int, int] = {}
    budget.spend(len(stream.side.requests) + len(stream.side.answers))
    for sent in stream.side.requests:
        if sent.row.family is Family.READ and (stream.span(sent) or 1) > 1:
            reads.setdefault((sent.psn + 1) % PSN_MODULUS, sent.number)
    found = [
        reply
        for reply in stream.side.answers
        if reply.is_sequence_nak and reads.get(reply.psn, reply.number) < reply.number
    ]
    counted = [each for each in found if stream.completed.executed(each.psn - 1, each.msn)]
    return counted or found, bool(counted)
