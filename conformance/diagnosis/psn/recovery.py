# SPDX-License-Identifier: BSD-2-Clause
"""What a requester does after a loss: P11, P17, P18, P19."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from roceproof.conformance.diagnosis.psn.stream import Recovery, Stream
from roceproof.conformance.diagnosis.psn.timeline import PSN_MODULUS, Reply, Sent, distance
from roceproof.conformance.wire.opcodes import Family, Position

_NEAR = 256
_PROMPT_NS = 500_000  # later than that a time-out may have done it, because the NAK was lost
_CORNERS = (0, 1 << 23)


def new_psns(stream: Stream) -> list[Sent]:
    """P11: behind a sequence NAK, what was sent from that PSN on comes again under new PSNs."""
    found: list[Sent] = []
    requests = stream.side.requests
    for nak in _naks(stream):
        before = [sent for sent in requests if sent.number < nak.number]
        after = [sent for sent in requests if sent.number > nak.number]
        asked = next((at for at, sent in enumerate(before) if sent.psn == nak.psn), None)
        if asked is None or any(sent.psn == nak.psn for sent in after):
            continue
        lost = before[asked:]
        begin = next((at for at, sent in enumerate(after) if sent.content == lost[0].content), None)
        if begin is None:
            continue
        again = after[begin : begin + len(lost)]
        same = [
            one for one, other in zip(again, lost, strict=False) if one.content == other.content
        ]
        if len(same) == len(again):
            found += same
    return list(dict.fromkeys(found))


class Restart(NamedTuple):
    """Where a requester went back to when a sequence NAK asked for its PSN."""

    nak: Reply
    jump: Sent
    message: int
    """The PSN at which the message that the NAK asks for begins."""
    doubtful: bool
    """Whether the network in front of the capture may have made it look wrong."""


def restarts(stream: Stream) -> list[Restart]:
    """For P17: every prompt jump back behind a sequence NAK; those to a lost READ left out."""
    found = []
    naks = list(_naks(stream))
    for at, nak in enumerate(naks):
        until = naks[at + 1].number if at + 1 < len(naks) else float("inf")
        jump = next(
            (each.jump for each in stream.recoveries if nak.number < each.jump.number < until), None
        )
        if jump is None or jump.time_ns - nak.time_ns > _PROMPT_NS:
            continue
        if jump.psn == nak.psn or jump.row.family is not Family.READ:
            later = any(s.psn == nak.psn and s.number > nak.number for s in stream.requests)
            doubtful = later or distance(jump.psn, nak.psn) < 0
            found.append(Restart(nak, jump, _message_start(stream, nak, jump), doubtful))
    return found


def restarts_wrongly(found: Sequence[Restart]) -> bool:
    """P17, from all restarts of a device: one wrong rule fits them all, beyond bad luck."""
    wrong = [each for each in found if each.jump.psn != each.nak.psn]
    if not wrong or (len(found) == 1 and wrong[0].doubtful):
        return False
    offsets = {distance(each.jump.psn, each.nak.psn) for each in found}
    return offsets in ({1}, {-1}) or all(each.jump.psn == each.message for each in found)


def wrong_returns(stream: Stream) -> list[Recovery]:
    """P18: behind the repeats the stream does not go on behind the newest PSN."""
    found = []
    for recovery in stream.recoveries:
        onward = recovery.onward
        if onward is None or not recovery.repeats:
            continue
        start, due = recovery.repeats[0].psn, recovery.due
        wrong = ((start + 1) % PSN_MODULUS, (due + distance(due, start)) % PSN_MODULUS)
        if onward.psn in wrong and onward.psn != due:
            found.append(recovery)
    return found


def corner_replays(stream: Stream) -> list[Sent]:
    """P19: near PSN 0 or 2^23 acknowledged requests are sent again, more than once."""
    found: dict[int, list[Sent]] = {}
    for recovery in stream.recoveries:
        acked = [
            reply
            for reply in stream.side.heard
            if reply.is_positive and reply.number < recovery.before.number
        ]
        jump = recovery.jump
        if not acked or any(nak.psn == jump.psn for nak in _naks(stream)):
            continue
        newest = max(acked, key=lambda reply: distance(reply.psn, stream.first.psn))
        crossed = any(
            distance(jump.psn, corner) < 0 < distance(recovery.due, corner) < _NEAR
            for corner in _CORNERS
        )
        if crossed and distance(newest.psn, jump.psn) >= 0:
            found.setdefault(jump.psn, []).append(jump)
    return [sent for jumps in found.values() if len(jumps) > 1 for sent in jumps]


def _naks(stream: Stream) -> Iterator[Reply]:
    return (reply for reply in stream.side.heard if reply.is_sequence_nak)


def _message_start(stream: Stream, nak: Reply, jump: Sent) -> int:
    start = nak.psn
    for sent in stream.requests:
        if sent.number >= jump.number:
            break
        if distance(sent.psn, nak.psn) <= 0 and sent.row.position & Position.FIRST:
            start = sent.psn
    return start
