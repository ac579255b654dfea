# SPDX-License-Identifier: BSD-2-Clause
"""Queue pairs, work and responses for tests of the requester side, with little to write."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from responder_bench import OWN_QPN, PEER, PEER_QPN, START, pattern

from roceproof.conformance.model.requester.base import Requester
from roceproof.conformance.model.requester.policy import RequesterPolicy
from roceproof.conformance.model.requester.rc import RcRequester
from roceproof.conformance.model.segment import Segment
from roceproof.conformance.wire.headers import Aeth, AtomicAckEth, Bth
from roceproof.conformance.wire.psn import PSN_MODULUS
from roceproof.verbs.queue_pair import QpSpec
from roceproof.verbs.service import Service
from roceproof.verbs.work import Op, Work

T_CODE = 8
T_NS = 4096 << T_CODE


def qp(service: Service = Service.RC, **fields: Any) -> QpSpec:
    """A queue pair at path MTU 256 whose first PSN is START."""
    usual: dict[str, Any] = {
        "path_mtu": 256,
        "sq_psn": START,
        "local_qpn": OWN_QPN,
        "ack_timeout": T_CODE,
        "max_rd_atomic": 4,
    }
    return QpSpec(service=service, remote=PEER, remote_qpn=PEER_QPN, **(usual | fields))


def work(op: Op = Op.WRITE, length: int = 10, wr_id: int = 1, **fields: Any) -> Work:
    """A work request; READs and atomics carry no data."""
    usual: dict[str, Any] = {"remote_addr": 0x10_0000_1003, "rkey": 0x5EED}
    if op is Op.READ:
        usual["length"] = length
    elif op not in (Op.CMP_SWAP, Op.FETCH_ADD):
        usual["data"] = pattern(length, wr_id)
    return Work(wr_id=wr_id, op=op, **(usual | fields))


def oversized(wr_id: int = 1) -> Work:
    """A WRITE that claims one byte more than any message may have."""
    return replace(work(wr_id=wr_id), data=b"", length=(1 << 31) + 1)


def requester(
    *works: Work, policy: RequesterPolicy | None = None, now_ns: int | None = None, **fields: Any
) -> RcRequester:
    """An RC requester with work; at `now_ns`, if given, all that can leave has left."""
    made = RcRequester(qp(**fields), policy)
    for item in works:
        made.post(item)
    if now_ns is not None:
        drain(made, now_ns)
    return made


def psn(offset: int) -> int:
    """The PSN so far behind START."""
    return (START + offset) % PSN_MODULUS


def ack(offset: int, syndrome: int = 0x1F, msn: int = 0) -> Segment:
    """An ACKNOWLEDGE for that PSN, counted from START; NAKs, too, by their syndrome."""
    return response(0x11, offset, Aeth(syndrome, msn))


def nak(offset: int, code: int = 0) -> Segment:
    """A NAK; code 0 is a sequence error."""
    return ack(offset, 0x60 | code)


def rnr_nak(offset: int, code: int) -> Segment:
    """An RNR NAK with that timer code."""
    return ack(offset, 0x20 | code)


def read_response(opcode: int, offset: int, payload: bytes, syndrome: int = 0x1F) -> Segment:
    """A READ response; MIDDLE has no AETH."""
    extensions = () if opcode == 0x0E else (Aeth(syndrome, 0),)
    return response(opcode, offset, *extensions, payload=payload)


def atomic_ack(offset: int, original: int = 0, syndrome: int = 0x1F) -> Segment:
    """An ATOMIC ACK."""
    return response(0x12, offset, Aeth(syndrome, 0), AtomicAckEth(original))


def response(opcode: int, offset: int, *extensions: Any, payload: bytes = b"") -> Segment:
    """Any packet to the requester."""
    header = Bth(opcode, OWN_QPN, psn(offset), pad_count=-len(payload) % 4)
    return Segment(header, extensions, payload)


def run(requester: Requester, now_ns: int, until_ns: int) -> list[tuple[int, Segment]]:
    """Serve a requester's deadlines up to a time; what it sent, and when."""
    sent = []
    while (due := requester.next_deadline()) is not None and max(due, now_ns) <= until_ns:
        now_ns = max(due, now_ns)
        requester.expire(now_ns)
        sent += [(now_ns, segment) for segment in requester.take(now_ns)]
    return sent


def drain(requester: Requester, now_ns: int, for_ns: int = 100_000) -> list[Segment]:
    """What leaves within a time far below any timeout."""
    return [segment for _, segment in run(requester, now_ns, now_ns + for_ns)]


def psns(segments: Iterable[Segment]) -> list[int]:
    """PSNs, counted from START."""
    return [(segment.bth.psn - START) % PSN_MODULUS for segment in segments]


def opcodes(segments: Iterable[Segment]) -> list[int]:
    """Opcodes."""
    return [segment.bth.opcode for segment in segments]


def plain(segment: Segment) -> Segment:
    """Without AckReq, in which a copy may differ."""
    return replace(segment, bth=replace(segment.bth, ack_req=False))


def statuses(requester: Requester) -> list[tuple[int, str]]:
    """How work ended so far."""
    return [(outcome.wr_id, outcome.status) for outcome in requester.outcomes]
