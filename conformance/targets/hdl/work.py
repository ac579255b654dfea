# SPDX-License-Identifier: BSD-2-Clause
"""Work as a simulated device is handed it: the record, and what comes on the payload stream."""

from roceproof.conformance.targets.hdl.memory import HdlRegion
from roceproof.conformance.targets.interface import TargetError
from roceproof.dpi.contract.records import Operands, Operation, WorkRequest
from roceproof.dpi.session.payload import PatternPayload
from roceproof.verbs.limit_table import LONGEST_MESSAGE
from roceproof.verbs.queue_pair import Qp
from roceproof.verbs.service import Service
from roceproof.verbs.work import Op, Work

ANSWERED = frozenset({Op.READ, Op.CMP_SWAP, Op.FETCH_ADD})
"""What is answered with data, which go to memory."""


def record_of(qp: Qp, work: Work) -> WorkRequest:
    is_datagram = qp.spec.service is Service.UD
    return WorkRequest(
        wr_id=work.wr_id,
        qpn=qp.qpn,
        operation=Operation[work.op.name],
        length=work.size,
        remote_addr=work.datagram_qpn if is_datagram else work.remote_addr,
        rkey=work.datagram_qkey if is_datagram else work.rkey,
        immediate=work.immediate,
        solicited=work.solicited,
        payload_offset=0 if work.op in ANSWERED else work.offset,
    )


def payload_of(work: Work) -> bytes | PatternPayload:
    """What to send, some pattern where data fall short of it; or where to put what is returned."""
    if work.op in ANSWERED:
        return _operands_of(work).pack()
    if len(work.data) < work.size <= LONGEST_MESSAGE:
        return PatternPayload(seed=work.wr_id, length=work.size)
    return work.data


def _operands_of(work: Work) -> Operands:
    if not isinstance(work.into, HdlRegion):
        raise TargetError(f"{work.op.name} needs memory of the same device: register it there")
    return Operands(
        address=work.into.addr + work.into_offset,
        lkey=work.into.lkey,
        compare=work.compare,
        swap_or_add=work.swap_or_add,
    )
