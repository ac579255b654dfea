# SPDX-License-Identifier: BSD-2-Clause
"""Queue pairs as communication management sets them up over QP1."""

from collections.abc import Iterator
from dataclasses import dataclass
from struct import Struct

from roceproof.conformance.observer.datagram_rules import (
    CM_CLASS,
    CM_QPN,
    MAD_BYTES,
    UD_SEND_ONLY,
    mad_rules,
)
from roceproof.conformance.observer.flows import Flows
from roceproof.conformance.observer.observed import Observed
from roceproof.conformance.observer.psn import PATH_MTUS
from roceproof.conformance.rules.findings import FlowKey, Violation

_REQ, _REP = 0x10, 0x13
_U32 = Struct(">I").unpack_from
_MAD_HEADER_BYTES = 24
_TRANSACTION = slice(8, 16)


@dataclass
class _Asked:
    """A REQ, and the answers to it that have been heeded."""

    transaction: bytes
    qpn: int
    start_psn: int
    path_mtu: int | None
    answered: set[tuple[int, int, int]]


class Connections:
    """The REQs of a capture, waiting for their REPs."""

    def __init__(self, flows: Flows) -> None:
        self._flows = flows
        self._asked: dict[tuple[int, bytes, bytes, int], _Asked] = {}

    def take(self, packet: Observed, interface: int) -> Iterator[Violation]:
        """CM-03; learn from a trusted packet to QP1."""
        mad = packet.payload
        if packet.opcode != UD_SEND_ONLY or packet.dest_qpn != CM_QPN:
            return
        if len(mad) != MAD_BYTES or mad[1] != CM_CLASS or any(mad_rules(mad)):
            return
        attribute = int.from_bytes(mad[16:18], "big")
        if attribute == _REQ:
            yield from self._request(packet, interface, mad)
        elif attribute == _REP:
            self._reply(packet, interface, mad)

    def _request(self, packet: Observed, interface: int, mad: bytes) -> Iterator[Violation]:
        data = mad[_MAD_HEADER_BYTES:]
        key = (interface, packet.src, packet.dst, _U32(data, 0)[0])
        code = data[50] >> 4
        path_mtu = PATH_MTUS[code - 1] if 1 <= code <= len(PATH_MTUS) else None
        qpn, start_psn = _U32(data, 32)[0] >> 8, _U32(data, 44)[0] >> 8
        now = _Asked(mad[_TRANSACTION], qpn, start_psn, path_mtu, set())
        before = self._asked.get(key)
        if before is not None and before.transaction != now.transaction:
            wanted = f"transaction {before.transaction.hex()} in a repeated REQ"
            yield Violation("CM-03", wanted, now.transaction.hex())
        if before is None or (before.qpn, before.start_psn) != (qpn, start_psn):
            self._asked[key] = now
        else:
            before.transaction = now.transaction

    def _reply(self, packet: Observed, interface: int, mad: bytes) -> None:
        data = mad[_MAD_HEADER_BYTES:]
        asked = self._asked.get((interface, packet.dst, packet.src, _U32(data, 4)[0]))
        qpn, start_psn = _U32(data, 12)[0] >> 8, _U32(data, 20)[0] >> 8
        answer = (_U32(data, 0)[0], qpn, start_psn)
        if asked is None or answer in asked.answered:
            return
        asked.answered.add(answer)
        to_replier = self._flows.of(FlowKey(interface, packet.dst, packet.src, qpn))
        to_asker = self._flows.of(FlowKey(interface, packet.src, packet.dst, asked.qpn))
        if to_replier is not to_asker:
            to_replier.restart()
            to_asker.restart()
            to_replier.link(to_asker)
            to_replier.told(start_psn, asked.path_mtu)
            to_asker.told(asked.start_psn, asked.path_mtu)
