# SPDX-License-Identifier: BSD-2-Clause
"""What a responder expects: P20, P21, P22, read from the replies to one side's requests."""

from __future__ import annotations

from roceproof.conformance.diagnosis.psn.stream import Stream
from roceproof.conformance.diagnosis.psn.timeline import (
    ACKNOWLEDGE,
    PSN_MODULUS,
    Reply,
    Side,
    distance,
)
from roceproof.conformance.wire.opcodes import Family

_LEAST_CASES = 3


def constant_offset(stream: Stream) -> list[Reply]:
    """P20: up to the first recovery every ACK names the PSN beside that of the request."""
    side = stream.side
    end = stream.recoveries[0].jump.number if stream.recoveries else None
    offsets: list[tuple[int, Reply]] = []
    for reply in side.answers:
        if end is not None and reply.number > end:
            break
        asked = [sent for sent in side.requests if sent.number < reply.number and sent.ack_req]
        if asked and reply.is_positive and reply.opcode == ACKNOWLEDGE:
            offsets.append((distance(reply.psn, asked[-1].psn), reply))
    values = {offset for offset, _ in offsets}
    if len(offsets) < _LEAST_CASES or values not in ({1}, {-1}):
        return []
    return [reply for _, reply in offsets]


def moved_by_damage(side: Side) -> list[Reply]:
    """P21: a request that came only with a wrong ICRC is acknowledged."""
    found = []
    for bad in [sent for sent in side.requests if sent.damaged]:
        for reply in side.answers:
            if reply.number < bad.number:
                continue
            good = any(
                sent.psn == bad.psn and sent.number < reply.number and not sent.damaged
                for sent in side.requests
            )
            if good:
                break
            if reply.is_positive and 0 <= distance(reply.psn, bad.psn) < 1 << 16:
                found.append(reply)
                break
            if reply.is_sequence_nak and distance(reply.psn, bad.psn) == 1:
                found.append(reply)
                break
    return found


def short_reads(stream: Stream) -> list[Reply]:
    """P22: behind a READ of several packets the PSN after the request's own is asked for."""
    reads = [
        sent
        for sent in stream.side.requests
        if sent.row.family is Family.READ and (stream.span(sent) or 1) > 1
    ]
    return [
        reply
        for reply in stream.side.answers
        if reply.is_sequence_nak
        and any(
            read.number < reply.number and reply.psn == (read.psn + 1) % PSN_MODULUS
            for read in reads
        )
    ]
