# SPDX-License-Identifier: BSD-2-Clause
"""What a work request must put on the wire, as patterns with every decided field said."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from roceproof.conformance.suite.flow_codec import FlowCodec
from roceproof.conformance.suite.header_displacement import LONGEST
from roceproof.conformance.suite.notation import mismatches
from roceproof.conformance.suite.pattern import Pattern, opcode
from roceproof.conformance.wire.codec import Packet
from roceproof.conformance.wire.psn import PSN_MODULUS, packet_count
from roceproof.dpi.session.payload import PatternPayload
from roceproof.verbs.queue_pair import QpSpec
from roceproof.verbs.service import Service
from roceproof.verbs.work import Op, Work

_SEND = {Op.SEND: (0x04, 0x02), Op.SEND_IMM: (0x05, 0x03), Op.SEND_INV: (0x17, 0x16)}
_WRITE = {Op.WRITE: (0x0A, 0x08), Op.WRITE_IMM: (0x0B, 0x09)}
_ONLY_AND_LAST = _SEND | _WRITE
_ONE_PACKET = {Op.READ: 0x0C, Op.CMP_SWAP: 0x13, Op.FETCH_ADD: 0x14}
_UD = {Op.SEND: 0x64, Op.SEND_IMM: 0x65}
_SOLICITING = frozenset({0x02, 0x03, 0x04, 0x05, 0x09, 0x0B, 0x16, 0x17, 0x64, 0x65})
_OWN_QKEY_BIT = 31
_NEVER = {"tver": 0, "pkey": 0xFFFF, "fecn": 0, "becn": 0, "resv6": 0, "resv7": 0}


@dataclass(frozen=True)
class Posted:
    """A message that was posted: its place among the PSNs and the messages, and its packets."""

    spec: QpSpec
    work: Work
    psn: int
    end_psn: int
    ordinal: int

    @property
    def last_psn(self) -> int:
        """The PSN that an ACK of the whole message names."""
        return self.end_psn - 1

    @property
    def count(self) -> int:
        """How many packets it has."""
        return 1 if self.work.op in _ONE_PACKET else self.end_psn - self.psn

    def packet(self, index: int) -> Pattern:
        """One of its packets: all of them may be more than there is memory for."""
        return _part(self.spec, self.work, self.psn, index, self.count)

    def in_front_of(self, index: int) -> bytes:
        """The last bytes that the packet before it carries."""
        at = index * self.spec.path_mtu
        return payload_of(self.work, max(0, at - LONGEST), min(at, LONGEST))

    @cached_property
    def packets(self) -> tuple[Pattern, ...]:
        """Its packets, made when somebody looks: a storm compares bytes."""
        return tuple(map(self.packet, range(self.count)))


def predict(spec: QpSpec, work: Work, psn: int, *, ordinal: int = 1) -> Posted:
    """The message of a work request whose first packet has a relative PSN."""
    has_psns = work.op is Op.READ or work.op not in _ONE_PACKET
    used = packet_count(work.size, spec.path_mtu) if has_psns else 1
    if spec.service is Service.UD and used > 1:
        used = 0  # no datagram is as long: nothing is sent
    return Posted(spec, work, psn, psn + used, ordinal)


def _part(spec: QpSpec, work: Work, psn: int, index: int, count: int) -> Pattern:
    if work.op in _ONE_PACKET:
        return _packet(spec, _ONE_PACKET[work.op], psn, b"", is_last=True, work=work)
    return _packet(
        spec,
        opcode_of(spec, work, index, count),
        psn + index,
        payload_of(work, index * spec.path_mtu, spec.path_mtu),
        is_last=index == count - 1,
        work=work,
    )


def elsewhere(
    posted: Sequence[Posted], packet: Packet, flow: FlowCodec
) -> tuple[Posted, int] | None:
    """The message and place of a packet that is right where its PSN belongs."""
    psn = (packet.bth.psn - flow.request_start) % PSN_MODULUS
    found = bisect_right(posted, psn, key=lambda message: message.psn) - 1
    if found < 0 or psn >= posted[found].psn + posted[found].count:
        return None
    place = psn - posted[found].psn
    is_right = not mismatches(posted[found].packet(place), packet, flow)
    return (posted[found], place) if is_right else None


def payload_of(work: Work, at: int, size: int) -> bytes:
    """Bytes of a message from there on; those that cross no channel are made by the simulation."""
    if len(work.data) < work.size:
        return PatternPayload(seed=work.wr_id, length=work.size).read(at, size)
    return work.data[at : at + size]


def opcode_of(spec: QpSpec, work: Work, index: int, count: int) -> int:
    """The opcode of one of so many packets of a message, that of RC for RC and UC."""
    if spec.service is Service.UD:
        return _UD[work.op]
    only, last = _ONLY_AND_LAST[work.op]
    if count == 1:
        return only
    if index == count - 1:
        return last
    first = 0x06 if work.op in _WRITE else 0x00
    return first if index == 0 else first + 1


def qkey_of(spec: QpSpec, work: Work) -> int:
    """The Q_Key that a datagram carries: one with its top bit set stands for the queue pair's."""
    return spec.qkey if work.datagram_qkey >> _OWN_QKEY_BIT else work.datagram_qkey


def _packet(
    spec: QpSpec, value: int, psn: int, payload: bytes, *, is_last: bool, work: Work
) -> Pattern:
    said: dict[str, object] = {
        **_NEVER,
        "psn": psn,
        "qpn": spec.remote_qpn,
        "payload": payload,
        "pad": -len(payload) % 4,
        "se": int(work.solicited and is_last and value in _SOLICITING),
        "dst_mac": spec.remote.mac,
        "dst_ip": spec.remote.ip,
        "tos": spec.traffic_class,
        "ttl": spec.hop_limit,
    }
    if value in (0x06, 0x0A, 0x0B, 0x0C):
        said |= {"va": work.remote_addr, "rkey": work.rkey, "dmalen": work.size}
    if value in (0x13, 0x14):
        said |= {
            "va": work.remote_addr,
            "rkey": work.rkey,
            "swap": work.swap_or_add,
            "compare": work.compare,
        }
    if value in (0x03, 0x05, 0x09, 0x0B, 0x65):
        said["imm"] = work.immediate
    if value in (0x16, 0x17):
        said["inv"] = work.invalidate
    if value in (0x64, 0x65):
        said |= {"qpn": work.datagram_qpn, "qkey": qkey_of(spec, work)}
    if is_last and spec.service is Service.RC and value not in (0x0C, 0x13, 0x14):
        said["a"] = 1
    name = opcode(value).name.removeprefix("RC_")
    return Pattern(name, value, said, own_service=spec.service is not Service.UD)
