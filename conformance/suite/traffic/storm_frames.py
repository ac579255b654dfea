# SPDX-License-Identifier: BSD-2-Clause
"""The frames of posted work to the last byte, at the price of a few microseconds each.

What does not change from packet to packet of a queue pair is packed once; a packet costs one
header, one checksum and one CRC. Over IPv4 and without VLAN tags only.
"""

from collections.abc import Iterator
from struct import Struct
from zlib import crc32

from roceproof.conformance.suite.expect.prediction import Posted, opcode_of, payload_of, qkey_of
from roceproof.conformance.wire.framing import ETHERNET_MINIMUM, ROCE_UDP_PORT
from roceproof.conformance.wire.ip import DONT_FRAGMENT
from roceproof.conformance.wire.psn import PSN_MODULUS
from roceproof.verbs.addresses import Host
from roceproof.verbs.queue_pair import QpSpec
from roceproof.verbs.service import Service
from roceproof.verbs.work import Op

_HEAD = Struct(">BBHHHBBHII HHHH BBHII")  # IPv4, UDP, BTH
_RETH, _IMMEDIATE, _DETH = Struct(">QII"), Struct(">I"), Struct(">II")
_UDP_BYTES, _BTH_BYTES, _ICRC_BYTES = 8, 12, 4
_ONES = crc32(b"\xff" * 8)
_ASKS = 1 << 31
_IDENTITIES = 1 << 16
_WRITES = (Op.WRITE, Op.WRITE_IMM)
_IMMEDIATES = (Op.SEND_IMM, Op.WRITE_IMM)
_PORT_PROTOCOL, _UC = 17, 0x20


class FrameMaker:
    """What a queue pair puts on the wire from the start of its life, message by message."""

    def __init__(
        self, spec: QpSpec, device: Host, *, local_qpn: int, identification_step: int = 1
    ) -> None:
        self._spec = spec
        self._local_qpn = local_qpn
        self._link = spec.remote.mac + device.mac + b"\x08\x00"
        self._src = int.from_bytes(device.ip, "big")
        self._dst = int.from_bytes(spec.remote.ip, "big")
        words = (0x4500 | spec.traffic_class, DONT_FRAGMENT, spec.hop_limit << 8 | _PORT_PROTOCOL)
        halves = (self._src >> 16, self._src & 0xFFFF, self._dst >> 16, self._dst & 0xFFFF)
        self._constant_sum = sum(words) + sum(halves)
        self._ident, self._step = spec.ip_id, identification_step

    def frames(self, message: Posted) -> Iterator[bytes]:
        spec, work = self._spec, message.work
        mtu, count = spec.path_mtu, message.end_psn - message.psn
        for index in range(count):
            is_last = index == count - 1
            payload = payload_of(work, index * mtu, mtu)
            yield self._frame(message, index, payload, is_last=is_last)

    def _frame(self, message: Posted, index: int, payload: bytes, *, is_last: bool) -> bytes:
        spec, work = self._spec, message.work
        value = opcode_of(spec, work, index, message.end_psn - message.psn)
        extensions, qpn = b"", spec.remote_qpn
        if spec.service is Service.UC:
            value |= _UC
        elif spec.service is Service.UD:
            extensions = _DETH.pack(qkey_of(spec, work), self._local_qpn)
            qpn = work.datagram_qpn
        if work.op in _WRITES and index == 0:
            extensions = _RETH.pack(work.remote_addr, work.rkey, work.size)
        if work.op in _IMMEDIATES and is_last:
            extensions += _IMMEDIATE.pack(work.immediate)
        pad = -len(payload) % 4
        flags = 0x40 | pad << 4
        if is_last and work.solicited and work.op is not Op.WRITE:
            flags |= 0x80
        psn = (spec.sq_psn + message.psn + index) % PSN_MODULUS
        if is_last and spec.service is Service.RC:
            psn |= _ASKS
        body = extensions + payload + bytes(pad)
        udp_length = _UDP_BYTES + _BTH_BYTES + len(body) + _ICRC_BYTES
        total, ident = udp_length + 20, self._ident
        self._ident = (ident + self._step) % _IDENTITIES
        head = self._head(total, ident, udp_length, (value, flags, qpn, psn))
        masked = _HEAD.pack(
            *(0x45, 0xFF, total, ident, DONT_FRAGMENT, 0xFF, _PORT_PROTOCOL, 0xFFFF),
            *(self._src, self._dst, spec.udp_sport, ROCE_UDP_PORT, udp_length, 0xFFFF),
            *(value, flags, 0xFFFF, 0xFF000000 | qpn, psn),
        )
        icrc = crc32(body, crc32(masked, _ONES)).to_bytes(_ICRC_BYTES, "little")
        return b"".join((self._link, head, body, icrc)).ljust(ETHERNET_MINIMUM, b"\0")

    def _head(
        self, total: int, ident: int, udp_length: int, bth: tuple[int, int, int, int]
    ) -> bytes:
        spec = self._spec
        value, flags, qpn, psn = bth
        folded = self._constant_sum + total + ident
        folded = (folded & 0xFFFF) + (folded >> 16)
        checksum = ~((folded & 0xFFFF) + (folded >> 16)) & 0xFFFF
        return _HEAD.pack(
            *(0x45, spec.traffic_class, total, ident, DONT_FRAGMENT, spec.hop_limit),
            *(_PORT_PROTOCOL, checksum, self._src, self._dst),
            *(spec.udp_sport, ROCE_UDP_PORT, udp_length, 0),
            *(value, flags, 0xFFFF, qpn, psn),
        )
