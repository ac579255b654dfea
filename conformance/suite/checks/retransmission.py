# SPDX-License-Identifier: BSD-2-Clause
"""Checks what a retransmitting requester sends: every packet must be one that it may send then.

On the wall's clock nobody knows what a device had heard when it sent; there nothing is judged.
"""

from itertools import pairwise

from roceproof.conformance.model.monitor.requester_monitor import MonitorTiming, RequesterMonitor
from roceproof.conformance.model.segment import Segment
from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.connection import Connection
from roceproof.conformance.suite.packet_flow import is_request
from roceproof.conformance.targets.capability import Capability
from roceproof.conformance.wire.codec import Packet, parse
from roceproof.conformance.wire.icrc import Judgement, check

_REACTION_NS, _STORED = 5_000, 4
"""What a device has read may still leave: for so long, or as long as so many of its frames take."""


def check_retransmissions(bench: Bench, qp: Connection) -> None:
    """Hold everything that passed on a queue pair against what a requester may do."""
    if Capability.LOCKSTEP not in bench.claims.capabilities:
        return
    reaction_ns = max(_REACTION_NS, _STORED * _longest_frame_ns(bench))
    watched = RequesterMonitor(qp.spec, timing=MonitorTiming(reaction_ns=reaction_ns))
    for entry in bench.transcript.entries():
        packet = parse(entry.frame)
        if packet is None:
            continue
        if entry.is_sent and packet.bth.dest_qpn == qp.spec.remote_qpn and is_request(packet):
            begun_ns = entry.time_ns - bench.target.patience.grain_ns
            watched.sent(_segment(packet), entry.time_ns, begun_ns=begun_ns)
        elif not entry.is_sent and packet.bth.dest_qpn == qp.qp.qpn and _is_whole(entry.frame):
            watched.heard(_segment(packet), entry.time_ns)
    if watched.violations:
        broken = watched.violations[0]
        raise bench.failed(
            f"want  {broken.expected}\ngot   {broken.got}",
            rules=[violation.rule for violation in watched.violations],
        )


def _longest_frame_ns(bench: Bench) -> int:
    """The least time from frame to frame among the longest that it has sent; 0 of one alone."""
    sent = [entry for entry in bench.transcript.entries() if entry.is_sent]
    longest = max((len(entry.frame) for entry in sent), default=0)
    times = (
        after.time_ns - before.time_ns
        for before, after in pairwise(sent)
        if len(after.frame) == longest
    )
    return min(times, default=0)


def _is_whole(frame: bytes) -> bool:
    """Whether the device may heed a frame."""
    return check(frame).judgement is not Judgement.BAD


def _segment(packet: Packet) -> Segment:
    return Segment(packet.bth, packet.extensions, packet.payload)
