# SPDX-License-Identifier: BSD-2-Clause
"""A correct RC responder: PSN regions, opcode sequence, memory, responses in order.

Judges a request in the order that the architecture prescribes: PSN, opcode
sequence, resources, length. Duplicates are acknowledged, READs executed again,
ATOMICs answered with the value kept.
"""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

from roceproof.conformance.faults.conversation.envelope import Envelope
from roceproof.conformance.faults.conversation.network import Port, Sending
from roceproof.conformance.faults.conversation.plan import REGION_BYTES, Connection
from roceproof.conformance.faults.psn.counting import Counting, ahead
from roceproof.conformance.wire.codec import Packet
from roceproof.conformance.wire.headers import Aeth, AtomicAckEth, AtomicEth, Reth
from roceproof.conformance.wire.opcodes import OPCODES, Family, Opcode, Position
from roceproof.conformance.wire.psn import PSN_MODULUS, packet_count

COALESCING_NS = 4_000
_ACKNOWLEDGE, _ATOMIC_ACK, _FETCH_ADD = 0x11, 0x12, 0x14
_READ_RESPONSE = {
    Position.FIRST: 0x0D,
    Position.MIDDLE: 0x0E,
    Position.LAST: 0x0F,
    Position.ONLY: 0x10,
}
_SEQUENCE_ERROR, _INVALID_REQUEST, _RNR = 0x60, 0x61, 0x20
_KEPT = 64


@dataclass(slots=True)
class _Answer:
    """A response that waits for its turn; an ACK may still grow until `due`."""

    packets: Iterator[Packet] | None
    psn: int = 0
    syndrome: int = 0
    msn: int = 0
    due: int = 0


@dataclass(slots=True)
class _Open:
    """The message of which FIRST was executed; `left` is what its RETH still promises."""

    family: Family
    at: int
    left: int | None


class Responder:
    """The receive side of one RC queue pair."""

    def __init__(
        self,
        port: Port,
        connection: Connection,
        side: int,
        counting: Counting,
        name: object,
        *,
        rnr_rate: float,
        seed: int,
    ) -> None:
        self._port = port
        self._end = connection.ends[side]
        self._path_mtu = connection.path_mtu
        self._envelope = Envelope(connection, side)
        self._counting, self._name = counting, name
        self._expected = counting.expected(connection.ends[1 - side].start_psn)
        self._random = Random(seed)
        self._rnr_rate = rnr_rate
        self._memory = bytearray(self._random.randbytes(REGION_BYTES))
        self._msn = 0
        self._refused = False  # a NAK or RNR NAK is pending
        self._dead = False
        self._spared: int | None = None  # the PSN that had its RNR NAK
        self._message: _Open | None = None
        self._reads: deque[tuple[int, Reth]] = deque(maxlen=_KEPT)
        self._originals: dict[int, int] = {}
        self._answers: deque[_Answer] = deque()
        port.attach(self)

    # requests

    def receive(self, packet: Packet) -> None:
        """Judge and execute a request."""
        row = OPCODES[packet.bth.opcode]
        psn = packet.bth.psn
        if self._dead:
            return
        off = ahead(psn, self._expected)
        if off < 0:
            self._duplicate(packet, row, psn)
        elif off > 0:
            self._out_of_sequence()
        else:
            self._refused = False
            self._in_order(packet, row, psn)

    def corrupted(self, packet: Packet) -> None:
        """A packet with a wrong ICRC arrived."""
        is_next = packet.bth.psn == self._expected
        is_request = not OPCODES[packet.bth.opcode].is_response
        if is_request and is_next and self._counting.believes_damaged():
            self._expected = self._counting.expected_behind(self._expected, 1)

    def _out_of_sequence(self) -> None:
        if not self._refused:
            self._refused = True
            self._acknowledge(self._expected, _SEQUENCE_ERROR)

    def _in_order(self, packet: Packet, row: Opcode, psn: int) -> None:
        if not self._fits(packet, row):
            self._dead = True
            self._acknowledge(psn, _INVALID_REQUEST)
        elif self._not_ready(row, psn):
            self._refused = True
            self._acknowledge(psn, _RNR | self._end.rnr_timer)
        else:
            self._execute(packet, row, psn)

    def _fits(self, packet: Packet, row: Opcode) -> bool:
        message, size = self._message, len(packet.payload)
        if row.position & Position.FIRST:
            return message is None
        if message is None or message.family is not row.family:
            return False
        if message.left is None:
            return True
        return size == message.left if row.position & Position.LAST else size < message.left

    def _not_ready(self, row: Opcode, psn: int) -> bool:
        send = row.family is Family.SEND and bool(row.position & Position.FIRST)
        if not send or self._spared == psn or self._random.random() >= self._rnr_rate:
            return False
        self._spared = psn
        return True

    def _execute(self, packet: Packet, row: Opcode, psn: int) -> None:
        span = 1
        if row.family is Family.READ and packet.reth is not None:
            span = packet_count(packet.reth.length, self._path_mtu)
        self._expected = self._counting.expected_behind(psn, span)
        self._counting.executed(self._name, (psn + span - 1) % PSN_MODULUS)
        if row.position & Position.LAST:
            self._msn = (self._msn + 1) % PSN_MODULUS
        if row.family is Family.READ:
            assert packet.reth is not None
            self._reads.append((psn, packet.reth))
            self._answer_read(psn, packet.reth)
        elif row.family is Family.ATOMIC:
            self._originals[psn] = self._operate(packet)
            self._answer_atomic(psn)
        else:
            self._place(packet, row)
            if packet.bth.ack_req:
                self._acknowledge(self._counting.acknowledged(psn), self._end.credit_code)

    def _duplicate(self, packet: Packet, row: Opcode, psn: int) -> None:
        if row.family is Family.READ:
            assert packet.reth is not None
            if any(_within(psn, packet.reth, *kept, self._path_mtu) for kept in self._reads):
                self._answer_read(psn, packet.reth)
        elif row.family is Family.ATOMIC:
            if psn in self._originals:
                self._answer_atomic(psn)
        elif packet.bth.ack_req:
            self._acknowledge(self._counting.acknowledged(psn), self._end.credit_code)

    # memory

    def _place(self, packet: Packet, row: Opcode) -> None:
        size = len(packet.payload)
        if row.position & Position.FIRST:
            reth = packet.reth
            at = reth.address - self._end.region if reth else 0
            self._message = _Open(row.family, at, reth.length if reth else None)
        message = self._message
        assert message is not None
        if row.family is Family.WRITE:
            self._memory[message.at : message.at + size] = packet.payload
        message.at += size
        message.left = None if message.left is None else message.left - size
        if row.position & Position.LAST:
            self._message = None

    def _operate(self, packet: Packet) -> int:
        header = packet.extension(AtomicEth)
        assert header is not None
        at = header.address - self._end.region
        original = int.from_bytes(self._memory[at : at + 8], "big")
        after = original
        if packet.bth.opcode == _FETCH_ADD:
            after = (original + header.swap_or_add) % (1 << 64)
        elif original == header.compare:
            after = header.swap_or_add
        self._memory[at : at + 8] = after.to_bytes(8, "big")
        return original

    # responses

    def next_packet(self, now: int) -> Sending | None:
        """The next response packet, if one is due."""
        while self._answers:
            answer = self._answers[0]
            if answer.packets is None:
                if now < answer.due:
                    return None
                self._answers.popleft()
                aeth = Aeth(answer.syndrome, answer.msn)
                return Sending(self._envelope.response(_ACKNOWLEDGE, answer.psn, (aeth,)))
            packet = next(answer.packets, None)
            if packet is not None:
                return Sending(packet)
            self._answers.popleft()
        return None

    def _acknowledge(self, psn: int, syndrome: int) -> None:
        now = self._port.network.now
        positive = syndrome == self._end.credit_code
        last = self._answers[-1] if self._answers else None
        grows = last is not None and last.packets is None and last.due > now
        if last is not None and grows and last.syndrome == syndrome:
            if ahead(psn, last.psn) > 0:
                last.psn, last.msn = psn, self._msn
            return
        self._counting.answering(self._name)
        due = now + COALESCING_NS if positive and self._end.coalesces else now
        self._answers.append(_Answer(None, psn, syndrome, self._msn, due))
        self._port.wake(due)

    def _answer_read(self, psn: int, reth: Reth) -> None:
        self._answers.append(_Answer(self._read_responses(psn, reth, self._msn)))
        self._port.wake(self._port.network.now)

    def _read_responses(self, psn: int, reth: Reth, msn: int) -> Iterator[Packet]:
        count, step = packet_count(reth.length, self._path_mtu), self._path_mtu
        start = reth.address - self._end.region
        data = bytes(self._memory[start : start + reth.length])
        for index in range(count):
            opcode = _READ_RESPONSE[Position((index == 0) * 1 | (index == count - 1) * 2)]
            headers = (Aeth(self._end.credit_code, msn),) if OPCODES[opcode].headers else ()
            part = data[index * step : (index + 1) * step]
            yield self._envelope.response(opcode, (psn + index) % PSN_MODULUS, headers, part)

    def _answer_atomic(self, psn: int) -> None:
        headers = (Aeth(self._end.credit_code, self._msn), AtomicAckEth(self._originals[psn]))
        packet = self._envelope.response(_ATOMIC_ACK, psn, headers)
        self._answers.append(_Answer(iter((packet,))))
        self._port.wake(self._port.network.now)


def _within(psn: int, reth: Reth, kept_psn: int, kept: Reth, path_mtu: int) -> bool:
    """Whether a READ asks for the rest of one that was executed, or for all of it again."""
    done = (psn - kept_psn) % PSN_MODULUS * path_mtu
    same_rest = reth.address == kept.address + done and reth.length == kept.length - done
    return reth.rkey == kept.rkey and same_rest
