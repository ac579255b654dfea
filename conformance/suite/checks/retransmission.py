# SPDX-License-Identifier: BSD-2-Clause
"""Checks what a retransmitting requester sends: every packet must be one that it may send then.

On the wall's clock nobody knows what a device had heard when it sent; there nothing is judged.
"""

from roceproof.conformance.model.monitor.requester_monitor import MonitorTiming, RequesterMonitor
from roceproof.conformance.model.segment import Segment
from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.connection import Connection
from roceproof.conformance.suite.packet_flow import is_request
from roceproof.conformance.targets.capability import Capability
from roceproof.conformance.wire.codec import Packet, parse
from roceproof.conformance.wire.icrc import Judgement, check

_TIMING = MonitorTiming(reaction_ns=5_000)


def check_retransmissions(bench: Bench, qp: Connection) -> None:
    """Hold everything that passed on a queue pair against what a requester may do."""
    if Capability.LOCKSTEP not in bench.claims.capabilities:
        return
    watched = RequesterMonitor(qp.spec, timing=_TIMING)
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


def _is_whole(frame: bytes) -> bool:
    """Whether the device may heed a frame."""
    return check(frame).judgement is not Judgement.BAD


def _segment(packet: Packet) -> Segment:
    return Segment(packet.bth, packet.extensions, packet.payload)
