# SPDX-License-Identifier: BSD-2-Clause
"""Which ACKs a right responder may send, or leave out, although a case does not say so.

A request that does not ask for an ACK may have one (ACK-04), also in the middle of a message; a
duplicate may have one; and an ACK that was asked for may be left to a later response, which stands
for everything before it (ACK-01, ACK-05). Whether such an ACK says the right thing is judged behind
the case.
"""

from collections import deque

from roceproof.conformance.model.responder.rc_answers import ACKNOWLEDGE, held_span
from roceproof.conformance.suite.pattern import Pattern
from roceproof.conformance.wire.codec import Packet
from roceproof.conformance.wire.opcodes import OPCODES, Family
from roceproof.conformance.wire.psn import distance

_ACKNOWLEDGED = (Family.SEND, Family.WRITE)
_SEQUENCE_ERROR = 0x60
_NAK = 3


class Acknowledgements:
    """Of one life of a reliable queue pair; PSNs count from the first that the device expects."""

    def __init__(self, start: int, path_mtu: int) -> None:
        self._start = start
        self._path_mtu = path_mtu
        self._next = 0
        self._open: set[int] = set()
        """SENDs and WRITEs that no ACK has named or passed yet."""
        self._oldest = deque[int]()
        """The same in their order."""
        self._unasked: set[int] = set()
        self._duplicates: list[int] = []
        self._missing: int | None = None
        """The PSN of the sequence NAK that is out."""
        self._is_over = False
        """Whether a NAK has ended this life: behind it nothing may come."""

    def sent(self, request: Packet) -> None:
        """A request that the case does not call void is on its way to the device."""
        row, psn = OPCODES.get(request.bth.opcode), self._relative(request)
        if row is None or row.is_response or psn > self._next or self._is_over:
            return
        is_duplicate = psn < self._next
        if not is_duplicate:
            self._next += held_span(request, row, self._path_mtu)
        if row.family not in _ACKNOWLEDGED:
            return
        if is_duplicate:
            # Before the first request only the PSN in front of that may be named.
            self._duplicates.append(psn if self._next else max(psn, -1))
            return
        self._open.add(psn)
        self._oldest.append(psn)
        if not request.bth.ack_req:
            self._unasked.add(psn)

    def may_come(self, packet: Packet) -> bool:
        """Whether nobody has to wait for this ACK; each such request draws one at most."""
        if not _is_positive(packet) or packet.bth.opcode != ACKNOWLEDGE:
            return False
        psn = self._relative(packet)
        if psn in self._unasked and psn in self._open:
            self.came(packet)
            return True
        repeated = next((each for each in self._duplicates if each <= psn < self._next), None)
        if repeated is not None:
            self._duplicates.remove(repeated)
        return repeated is not None

    def came(self, packet: Packet) -> None:
        """A response is there for which somebody has waited, or which may come."""
        psn = self._relative(packet)
        if _is_positive(packet):
            while self._oldest and self._oldest[0] <= psn:
                self._open.remove(self._oldest.popleft())
            if self._missing is not None and self._missing <= psn:
                self._missing = None
        elif _is_of_a_gap(packet):
            self._missing = psn
        elif _is_fatal(packet):
            self._is_over = True
            self._unasked.clear()
            self._duplicates.clear()

    def is_told_again(self, packet: Packet) -> bool:
        """Whether it is the sequence NAK that is out, once more: a gap draws one."""
        return _is_of_a_gap(packet) and self._relative(packet) == self._missing

    def stands_for(self, packet: Packet, wanted: Pattern) -> bool:
        """Whether a response to a later request takes the place of the ACK that is wanted."""
        if not self.is_later(packet, wanted) or not _is_positive(packet):
            return False
        return packet.bth.opcode != ACKNOWLEDGE or self._relative(packet) in self._open

    def is_later(self, packet: Packet, wanted: Pattern) -> bool:
        """Whether an ACK is wanted, and this answers a request behind the one it is for.

        A NAK that names the PSN expected next stands behind all that was executed.
        """
        if wanted.opcode != ACKNOWLEDGE or not _says_ack(wanted.said.get("syndrome")):
            return False
        psn = wanted.said.get("psn")
        last = psn if isinstance(psn, int) else max(psn, default=None) if psn else None
        end = self._next + (not _is_positive(packet))
        return last in self._open and last < self._relative(packet) < end

    def _relative(self, packet: Packet) -> int:
        """Half of all PSNs lie behind the one that is expected next, whatever was the first."""
        return self._next + distance(packet.bth.psn, self._start + self._next)


def _is_positive(packet: Packet) -> bool:
    row = OPCODES.get(packet.bth.opcode)
    if row is None or not row.is_response:
        return False
    return packet.aeth is None or packet.aeth.syndrome >> 5 == 0


def _is_fatal(packet: Packet) -> bool:
    if packet.bth.opcode != ACKNOWLEDGE or packet.aeth is None:
        return False
    return packet.aeth.syndrome >> 5 == _NAK and packet.aeth.syndrome != _SEQUENCE_ERROR


def _is_of_a_gap(packet: Packet) -> bool:
    said = packet.aeth.syndrome if packet.aeth is not None else None
    return packet.bth.opcode == ACKNOWLEDGE and said == _SEQUENCE_ERROR


def _says_ack(syndrome: object) -> bool:
    return syndrome == "ACK" or (isinstance(syndrome, int) and syndrome >> 5 == 0)
