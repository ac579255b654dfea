# SPDX-License-Identifier: BSD-2-Clause
"""What a requester does after a loss: P11, P17, P18, P19."""

from __future__ import annotations

from collections.abc import Iterator

from roceproof.conformance.diagnosis.psn_stream import Recovery, Stream
from roceproof.conformance.diagnosis.psn_timeline import PSN_MODULUS, Reply, Sent, distance
from roceproof.conformance.opcodes import Family, Position

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


def wrong_restarts(stream: Stream) -> list[tuple[Reply, Sent]]:
    """P17: the first jump back behind a sequence NAK goes elsewhere than to its PSN."""
    found = []
    naks = list(_naks(stream))
    for at, nak in enumerate(naks):
        until = naks[at + 1].number if at + 1 < len(naks) else float("inf")
        jump = next(
            (each for each in stream.recoveries if nak.number < each.jump.number < until), None
        )
        if jump is not None and _goes_astray(stream, nak, jump.jump):
            found.append((nak, jump.jump))
    return found


def _goes_astray(stream: Stream, nak: Reply, jump: Sent) -> bool:
    if jump.psn == nak.psn or jump.time_ns - nak.time_ns > _PROMPT_NS:
        return False
    if jump.row.family is Family.READ:
        return False  # its responses were lost
    if distance(jump.psn, nak.psn) > 0 and any(
        sent.psn == nak.psn and sent.number > nak.number for sent in stream.side.requests
    ):
        return False  # the first of the resend was lost in front of the capture
    return _neighbour(stream, nak, jump)


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
    """P19: near PSN 0 or 2^23 acknowledged requests are sent again."""
    found: list[Sent] = []
    for recovery in stream.recoveries:
        acked = [
            reply
            for reply in stream.side.answers
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
            found += recovery.repeats
    return found


def _naks(stream: Stream) -> Iterator[Reply]:
    return (reply for reply in stream.side.answers if reply.is_sequence_nak)


def _neighbour(stream: Stream, nak: Reply, jump: Sent) -> bool:
    """Whether the jump goes one beside the PSN asked for, or to the start of its message."""
    if distance(jump.psn, nak.psn) in (1, -1):
        return True
    start = None
    for sent in stream.side.requests:
        if distance(sent.psn, nak.psn) <= 0 and sent.row.position & Position.FIRST:
            start = sent.psn
        if sent.number >= jump.number:
            break
    return start == jump.psn
