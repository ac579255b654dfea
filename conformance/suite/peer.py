# SPDX-License-Identifier: BSD-2-Clause
"""The other end of a connection as a healthy responder, for cases about what the device sends.

It says nothing to requests that are ahead, so that what a device leaves out stays visible, and
no NAK, so that a device which miscounts goes on and shows more than its first wrong packet.
"""

from collections.abc import Iterator
from random import Random

from roceproof.conformance.model.responder.rc_answers import held_span
from roceproof.conformance.suite.flow_codec import FlowCodec
from roceproof.conformance.suite.pattern import (
    ACK,
    ATOMIC_ACK,
    READ_RESP_FIRST,
    READ_RESP_LAST,
    READ_RESP_MIDDLE,
    READ_RESP_ONLY,
    Pattern,
)
from roceproof.conformance.wire.codec import Packet
from roceproof.conformance.wire.opcodes import OPCODES, Family, Position
from roceproof.conformance.wire.psn import distance

_RESPONSES = {
    Position.FIRST: READ_RESP_FIRST,
    Position.MIDDLE: READ_RESP_MIDDLE,
    Position.LAST: READ_RESP_LAST,
    Position.ONLY: READ_RESP_ONLY,
}


class Peer:
    """Acknowledges what asks for it, and answers READs and atomics with random data."""

    def __init__(
        self, flow: FlowCodec, *, path_mtu: int, random: Random, expected: int = 0
    ) -> None:
        self._flow = flow
        self._path_mtu = path_mtu
        self._random = random
        self._expected = expected
        self._msn = 0

    def __call__(self, packet: Packet) -> Iterator[Pattern]:
        """The responses to one packet, their PSNs relative as everywhere."""
        bth, reth = packet.bth, packet.reth
        row = OPCODES.get(bth.opcode)
        if row is None:
            return
        count = held_span(packet, row, self._path_mtu)
        psn = distance(bth.psn, self._flow.request_start)
        if psn > self._expected:
            return
        if psn == self._expected:
            self._expected += count
            self._msn += bool(row.position & Position.LAST)
        if row.family is Family.READ and reth is not None:
            yield from self._data(psn, reth.length, count)
        elif row.family is Family.ATOMIC:
            original = self._random.getrandbits(64)
            yield ATOMIC_ACK(psn=psn, msn=self._msn, original=original)
        elif bth.ack_req:
            yield ACK(psn=psn, msn=self._msn)

    def _data(self, psn: int, length: int, count: int) -> Iterator[Pattern]:
        for index in range(count):
            position = Position((index == 0) | (index == count - 1) << 1)
            size = min(self._path_mtu, length - index * self._path_mtu)
            make = _RESPONSES[position]
            fields = {} if position is Position.MIDDLE else {"msn": self._msn}
            yield make(psn=psn + index, payload=self._random.randbytes(size), **fields)
