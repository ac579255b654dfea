# SPDX-License-Identifier: BSD-2-Clause
"""Requesters that send other packets again than they have sent."""

from dataclasses import replace

from roceproof.conformance.model.segment import Segment
from roceproof.conformance.model.segmentation import ahead
from roceproof.conformance.mutants.faulty import faulty_rc_requester
from roceproof.conformance.mutants.faulty_requesters import CopiesDiffer
from roceproof.conformance.wire.headers import ImmDt, Reth


@faulty_rc_requester("rtx-middle-becomes-first", expected=["RTX-03", "RTX-02", "NAK-06"])
class RelabelsFirst(CopiesDiffer):
    """The first packet of a replay is labelled FIRST, wherever it stood."""

    def corrupted(self, segment: Segment) -> Segment:
        value = {0x07: 0x06, 0x01: 0x00}.get(segment.bth.opcode, segment.bth.opcode)
        extensions = (Reth(0, 0, 0),) if value == 0x06 and not segment.extensions else None
        bth = replace(segment.bth, opcode=value)
        return replace(segment, bth=bth, extensions=extensions or segment.extensions)


@faulty_rc_requester("rtx-last-flag-of-another", expected=["RTX-14", "RTX-03"])
class LosesLast(CopiesDiffer):
    """The last flag of a replayed packet is that of the work request at the queue's head."""

    def corrupted(self, segment: Segment) -> Segment:
        value = {0x08: 0x07, 0x02: 0x01}.get(segment.bth.opcode, segment.bth.opcode)
        return replace(segment, bth=replace(segment.bth, opcode=value))


@faulty_rc_requester("rtx-replay-buffer-overwritten", expected=["RTX-16", "RTX-03"])
class LosesPayload(CopiesDiffer):
    """The replay buffer holds one packet less than the window."""

    def corrupted(self, segment: Segment) -> Segment:
        return replace(segment, payload=segment.payload[:-1] + b"\xee" * bool(segment.payload))


@faulty_rc_requester("rtx-immediate-of-another", expected=["IMM-06"])
class OtherImmediate(CopiesDiffer):
    """A replayed packet carries the immediate of the work request at the queue's head."""

    def corrupted(self, segment: Segment) -> Segment:
        changed = tuple(ImmDt(0) if isinstance(e, ImmDt) else e for e in segment.extensions)
        return replace(segment, extensions=changed)


@faulty_rc_requester("rtx-takes-new-psns", expected=["PSN-06"])
class NewPsns(CopiesDiffer):
    """A packet that is sent again takes the next free PSN."""

    def corrupted(self, segment: Segment) -> Segment:
        return replace(segment, bth=replace(segment.bth, psn=ahead(segment.bth.psn, 64)))
