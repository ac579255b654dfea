# SPDX-License-Identifier: BSD-2-Clause
"""A correct requester: a window, go-back-N, timeouts, RNR waits, READs in order.

One object is the send side of one queue pair. What it does with PSNs is left to
its registers, so that it reacts to a peer's answers in the same way whatever PSN
fault is planted.
"""

from collections import deque
from dataclasses import dataclass

from roceproof.conformance.faults.conversation.envelope import Envelope
from roceproof.conformance.faults.conversation.messages import Part, Sent, all_parts
from roceproof.conformance.faults.conversation.network import Fate, Port, Sending
from roceproof.conformance.faults.conversation.plan import Connection
from roceproof.conformance.faults.psn.counting import Counting, ahead
from roceproof.conformance.wire.codec import Packet
from roceproof.conformance.wire.psn import PSN_MODULUS
from roceproof.verbs.service import Service

TIMEOUT_NS = 2_000_000  # 1.9 times that of code 8
WINDOW = 64
_RETRIES = 3
_READ_DEPTH = 4
_ACK, _RNR, _NAK = 0, 1, 3
_SEQUENCE_ERROR = 0
_HUNDREDTHS_MS = (
    *(65536, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256),
    *(384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152),
)
_NS_PER_HUNDREDTH_MS = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Trouble:
    """Accidents on the way of first transmissions, by their number in the queue pair."""

    lost: frozenset[int] = frozenset()
    corrupted: frozenset[int] = frozenset()

    def fate(self, number: int) -> Fate:
        """What becomes of that transmission."""
        if number in self.corrupted:
            return Fate.CORRUPTED
        return Fate.LOST if number in self.lost else Fate.DELIVERED


class Requester:
    """The send side of one end of a connection."""

    def __init__(
        self,
        port: Port,
        connection: Connection,
        side: int,
        counting: Counting,
        trouble: Trouble,
        *,
        rereads_whole: bool,
    ) -> None:
        self._port = port
        self._service = connection.service
        self._path_mtu = connection.path_mtu
        self._envelope = Envelope(connection, side)
        self._counting = counting
        end, peer = connection.ends[side], connection.ends[1 - side]
        self.name = counting.name(connection, end)
        counting.load(connection, end, peer)
        self._trouble = trouble
        self._rereads_whole = rereads_whole
        self._waiting = deque(all_parts(connection, side))
        self._sent: list[Sent] = []  # not acknowledged, oldest first
        self._retired: deque[Sent] = deque(maxlen=WINDOW)
        self._resend: int | None = None  # index of the next copy to send
        self._copies = 0
        self._recovery_from: Sent | None = None
        self._missing: Sent | None = None  # whose data a recovery under way asks for
        self._transmissions = 0
        self._paused_for = -1
        self._new_from = connection.start_ns
        self._any_from = connection.start_ns
        self._retries = _RETRIES
        self._deadline: int | None = None
        self.failed = False
        port.attach(self)
        port.wake(connection.start_ns)

    # sending

    def next_packet(self, now: int) -> Sending | None:
        """The next request packet, copies first, if one may leave now."""
        if self.failed or now < self._any_from:
            return None
        if self._resend is not None:
            return Sending(self._next_copy(self._resend))
        if not self._waiting or self._must_wait(self._waiting[0], now):
            return None
        return self._next_new(self._waiting.popleft(), now)

    def _next_copy(self, index: int) -> Packet:
        entry = self._sent[index]
        self._copies += 1
        self._counting.again(self.name, entry, 0)
        entry.asks = entry.asks or entry.part.closes
        self._point_at(index + 1)
        self._arm()
        return self._packet(entry)

    def _point_at(self, index: int) -> None:
        self._resend = index
        if index >= len(self._sent):
            self._resend = None
            if self._recovery_from is not None:
                self._counting.repeated(self.name, self._recovery_from, self._copies)

    def _must_wait(self, part: Part, now: int) -> bool:
        if part.message.pause_ns and self._paused_for != part.number and part.opens:
            self._paused_for = part.number
            self._new_from = now + part.message.pause_ns
            self._port.wake(self._new_from)
        if now < self._new_from or len(self._sent) >= WINDOW:
            return True
        if not part.message.kind.awaits_data:
            return False
        return sum(entry.part.message.kind.awaits_data for entry in self._sent) >= _READ_DEPTH

    def _next_new(self, part: Part, now: int) -> Sending:
        value = self._counting.take(self.name, part, now)
        entry = Sent(value % PSN_MODULUS, self._counting.word(value), part, part.asks)
        fate = self._trouble.fate(self._transmissions)
        self._transmissions += 1
        if self._service is Service.RC:
            self._sent.append(entry)
            self._arm()
        return Sending(self._packet(entry), fate)

    def _packet(self, entry: Sent) -> Packet:
        part, word = entry.part, entry.word
        if entry.received:
            part = part.remainder(entry.received, self._path_mtu)
            word = self._counting.word((entry.psn + entry.received) % PSN_MODULUS)
        asks = entry.asks and self._service is Service.RC
        return self._envelope.request(part, word, asks=asks)

    # recovery

    def _arm(self) -> None:
        running = self._deadline is not None
        self._deadline = self._port.network.now + TIMEOUT_NS
        if not running:
            self._port.network.at(self._deadline, self._tick)

    def _tick(self) -> None:
        deadline, self._deadline = self._deadline, None
        if self.failed or not self._sent or deadline is None:
            return
        late = max(deadline, self._any_from + TIMEOUT_NS)
        if self._port.network.now < late:
            self._deadline = late
            self._port.network.at(late, self._tick)
        elif self._retries == 0:
            self.failed = True
        else:
            self._retries -= 1
            self._go_back(0)

    def _go_back(self, index: int) -> None:
        self._resend = index
        self._copies = 0
        self._recovery_from = entry = self._sent[index]
        if self._rereads_whole:
            entry.received = 0
        for later in self._sent[index + 1 :]:
            later.received = 0
        self._arm()
        self._port.wake(self._port.network.now)

    # responses

    def receive(self, packet: Packet) -> None:
        if self.failed or not self._sent:
            return
        self._counting.answered(self.name)
        psn = self._counting.heard(packet.bth.psn)
        aeth = packet.aeth
        kind = _ACK if aeth is None else aeth.syndrome >> 5
        value = 0 if aeth is None else aeth.syndrome & 31
        if self._counting.distance(psn, self._sent[-1].last_psn) > 0:
            return
        if kind == _ACK and packet.bth.opcode == 0x11:
            self._acknowledge(psn)
        elif kind == _ACK:
            self._take_data(psn)
        elif self._counting.distance(psn, self._sent[0].psn) >= 0:
            self._refused(psn, kind, value)

    def _refused(self, psn: int, kind: int, value: int) -> None:
        if not self._acknowledge((psn - 1) % PSN_MODULUS) or not self._sent:
            return
        if kind == _NAK and value != _SEQUENCE_ERROR:
            self.failed = True
            return
        if kind == _RNR:
            self._any_from = self._port.network.now + wait_ns(value)
            self._port.wake(self._any_from)
            self._go_back(0)
        else:
            index = self._restart(psn)
            while index < 0:
                self._sent.insert(0, self._retired.pop())
                index += 1
            self._go_back(index)

    def _restart(self, nak: int) -> int:
        """Index of the packet to start again with; -k is the k-th last retired one."""
        sent = self._sent
        right = next((i for i, entry in enumerate(sent) if ahead(nak, entry.last_psn) <= 0), 0)
        index = self._counting.restart(right)
        if self._counting.restarts_messages:
            number = sent[right].part.number
            before = (*self._retired, *sent[:right])
            index -= sum(entry.part.number == number for entry in before)
        return max(-len(self._retired), min(index, len(sent) - 1))

    def _acknowledge(self, psn: int) -> bool:
        """Retire all up to `psn`; False if data that should have come first are missing."""
        while self._sent and self._counting.distance(self._sent[0].last_psn, psn) <= 0:
            if self._sent[0].part.message.kind.awaits_data:
                self._missed(self._sent[0])
                return False
            self._retire()
        return True

    def _take_data(self, psn: int) -> None:
        if not self._acknowledge_before_data(psn) or not self._sent:
            return
        entry = self._sent[0]
        if not entry.part.message.kind.awaits_data:
            return
        place = ahead(psn, entry.psn) - entry.received
        if place > 0:
            self._missed(entry)
        elif place == 0:
            entry.received += 1
            self._progress()
            if entry.received == entry.part.span:
                self._retire()

    def _acknowledge_before_data(self, psn: int) -> bool:
        return self._acknowledge((psn - 1) % PSN_MODULUS) if self._sent else False

    def _missed(self, entry: Sent) -> None:
        """An implied NAK; one restart per recovery."""
        if self._resend is None and self._missing is not entry:
            self._missing = entry
            self._go_back(self._sent.index(entry))

    def _retire(self) -> None:
        self._retired.append(self._sent.pop(0))
        if self._resend is not None:
            self._point_at(max(0, self._resend - 1))
        self._progress()

    def _progress(self) -> None:
        self._retries = _RETRIES
        self._missing = None
        if self._sent:
            self._arm()
        self._port.wake(self._port.network.now)


def wait_ns(code: int) -> int:
    """The least time between an RNR NAK with that code and the next attempt."""
    return _HUNDREDTHS_MS[code] * _NS_PER_HUNDREDTH_MS
