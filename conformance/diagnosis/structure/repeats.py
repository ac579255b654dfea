# SPDX-License-Identifier: BSD-2-Clause
"""Where a sender may go back to what it has sent, so that no message goes on, whatever its PSN."""

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise
from statistics import median
from zlib import crc32

from roceproof.conformance.diagnosis.observation import Observation
from roceproof.conformance.diagnosis.psn.timeline import ACKNOWLEDGE, SEQUENCE_NAK
from roceproof.conformance.wire.opcodes import OPCODES

_LONG = 5  # times the pause that half of the packets do not reach


def repeats(observations: Iterable[Observation]) -> set[int]:
    """The requests that were sent before, with new PSNs or old, and begin a repetition.

    That is behind a sequence NAK, for whichever QP between two hosts, or a long pause.
    """
    naks: Counter[tuple[bytes, bytes]] = Counter()
    flows: dict[tuple[int, bytes, bytes, int], list[tuple[Observation, int]]] = {}
    for seen in observations:
        row = OPCODES.get(seen.bth.opcode)
        ends = seen.source, seen.destination
        if row is not None and not row.is_response:
            flow = flows.setdefault((seen.interface, *ends, seen.bth.dest_qpn), [])
            flow.append((seen, naks[ends]))
        elif _is_sequence_nak(seen):
            naks[ends[::-1]] += 1
    return {number for flow in flows.values() for number in _begun_again(flow)}


def _is_sequence_nak(seen: Observation) -> bool:
    return seen.bth.opcode == ACKNOWLEDGE and seen.body[:1] == bytes([SEQUENCE_NAK])


def _begun_again(flow: Sequence[tuple[Observation, int]]) -> Iterable[int]:
    """Those among the requests of one flow, each of which comes with the NAKs in front of it."""
    pauses = [after.time_ns - before.time_ns for (before, _), (after, _) in pairwise(flow)]
    long = _LONG * median(pauses or [0])
    known: set[int] = set()
    answered = 0
    for (seen, naks), pause in zip(flow, [0, *pauses], strict=True):
        content = crc32(seen.body, seen.bth.opcode)
        if content in known and (naks > answered or pause > long):
            yield seen.number
            answered = naks
        known.add(content)
