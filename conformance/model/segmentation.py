# SPDX-License-Identifier: BSD-2-Clause
"""Which request packets a work request becomes, once its first PSN is known.

A message of L bytes at path MTU P leaves as N = max(1, ceil(L / P)) packets with
consecutive PSNs. A READ leaves as one packet and uses the N PSNs of its responses; it can
be asked for again from any of them. A packet depends on nothing but the queue pair, the
work and its place, so that a copy is the same packet made again.
"""

from dataclasses import dataclass

from roceproof.conformance.model.segment import Segment
from roceproof.conformance.wire.headers import AtomicEth, Bth, Deth, Extension, Ieth, ImmDt, Reth
from roceproof.conformance.wire.opcodes import OPCODES, Position
from roceproof.conformance.wire.psn import PSN_MODULUS, distance, packet_count
from roceproof.verbs.queue_pair import QpSpec
from roceproof.verbs.service import Service
from roceproof.verbs.work import ATOMICS, Op, Work

LONGEST_MESSAGE = 1 << 31
AWAIT_DATA = (Op.READ, *ATOMICS)
"""Operations that are answered with data and not by an acknowledgement."""
TAKE_RECEIVE = (Op.SEND, Op.SEND_IMM, Op.SEND_INV, Op.WRITE_IMM)
"""Those that use up a receive of the other end."""

_FIRST, _MIDDLE, _LAST, _ONLY = Position.FIRST, Position.MIDDLE, Position.LAST, Position.ONLY
_QKEY_OF_QP = 1 << 31
_ADDRESSES = 1 << 64

# fmt: off
_OPCODE = {  # of RC; UC adds its service in bits 7:5
    Op.SEND:      {_FIRST: 0x00, _MIDDLE: 0x01, _LAST: 0x02, _ONLY: 0x04},
    Op.SEND_IMM:  {_FIRST: 0x00, _MIDDLE: 0x01, _LAST: 0x03, _ONLY: 0x05},
    Op.SEND_INV:  {_FIRST: 0x00, _MIDDLE: 0x01, _LAST: 0x16, _ONLY: 0x17},
    Op.WRITE:     {_FIRST: 0x06, _MIDDLE: 0x07, _LAST: 0x08, _ONLY: 0x0A},
    Op.WRITE_IMM: {_FIRST: 0x06, _MIDDLE: 0x07, _LAST: 0x09, _ONLY: 0x0B},
    Op.READ:      {_ONLY: 0x0C},
    Op.CMP_SWAP:  {_ONLY: 0x13},
    Op.FETCH_ADD: {_ONLY: 0x14},
}
# fmt: on
_DATAGRAM = {Op.SEND: 0x64, Op.SEND_IMM: 0x65}


def ahead(psn: int, steps: int) -> int:
    """The PSN that many steps on."""
    return (psn + steps) % PSN_MODULUS


@dataclass(frozen=True, slots=True)
class Message:
    """A work request on a queue pair, and the first of the PSNs that are its own."""

    spec: QpSpec
    work: Work
    first_psn: int

    @property
    def awaits_data(self) -> bool:
        """Whether only data can answer it."""
        return self.work.op in AWAIT_DATA

    @property
    def span(self) -> int:
        """How many PSNs it uses."""
        if self.work.op in ATOMICS:
            return 1
        return packet_count(self.work.size, self.spec.path_mtu)

    @property
    def packets(self) -> int:
        """How many request packets it is when it first leaves."""
        return 1 if self.awaits_data else self.span

    @property
    def end(self) -> int:
        """The first PSN behind it."""
        return ahead(self.first_psn, self.span)

    def offset(self, psn: int) -> int:
        """Where a PSN lies in it; one of its own if that is 0 to `span` - 1."""
        return distance(psn, self.first_psn)

    def request(self, offset: int) -> Segment:
        """The request packet at that offset; of a READ, the request for the rest from there on."""
        row = OPCODES[self._opcode_at(offset)]
        data = self._payload_at(offset) if not self.awaits_data else b""
        return Segment(
            Bth(
                opcode=row.value,
                dest_qpn=self._dest_qpn,
                psn=ahead(self.first_psn, offset),
                solicited=self.work.solicited and row.may_solicit,
                pad_count=-len(data) % 4,
                ack_req=self.spec.service is Service.RC and bool(row.position & Position.LAST),
            ),
            tuple(self._extension(kind, offset) for kind in row.headers),
            data,
        )

    def _opcode_at(self, offset: int) -> int:
        if self.spec.service is Service.UD:
            return _DATAGRAM[self.work.op]
        last = self.packets - 1
        position = _ONLY if self.awaits_data else Position((offset == 0) | (offset == last) << 1)
        return _OPCODE[self.work.op][position] | self.spec.service << 5

    def _payload_at(self, offset: int) -> bytes:
        """Bytes of the packet; a length beyond the data stands for zeros."""
        start = offset * self.spec.path_mtu
        stop = min(start + self.spec.path_mtu, self.work.size)
        return self.work.data[start:stop].ljust(stop - start, b"\0")

    @property
    def _dest_qpn(self) -> int:
        is_datagram = self.spec.service is Service.UD
        return self.work.datagram_qpn if is_datagram else self.spec.remote_qpn

    def _extension(self, kind: type[Extension], offset: int) -> Extension:
        work = self.work
        if kind is Reth:
            passed = offset * self.spec.path_mtu
            address = (work.remote_addr + passed) % _ADDRESSES
            return Reth(address, work.rkey, work.size - passed)
        if kind is AtomicEth:
            return AtomicEth(work.remote_addr, work.rkey, work.swap_or_add, work.compare)
        if kind is Ieth:
            return Ieth(work.invalidate)
        if kind is Deth:
            return Deth(datagram_qkey(self.spec, work), self.spec.local_qpn)
        return ImmDt(work.immediate)


def datagram_qkey(spec: QpSpec, work: Work) -> int:
    """The Q_Key that leaves: the queue pair's own if the work's has its top bit set."""
    return spec.qkey if work.datagram_qkey & _QKEY_OF_QP else work.datagram_qkey


def refusal(spec: QpSpec, work: Work) -> str | None:
    """The status with which a work request ends before it has used a PSN, if it must."""
    if spec.service is Service.UD:
        return None if work.op in _DATAGRAM else "loc_qp_op_err"
    reliable_only = work.op in AWAIT_DATA or work.op is Op.SEND_INV
    if spec.service is Service.UC and reliable_only:
        return "loc_qp_op_err"
    if work.op in AWAIT_DATA and spec.max_rd_atomic == 0:
        return "loc_qp_op_err"
    return "loc_len_err" if work.size > LONGEST_MESSAGE else None
