# SPDX-License-Identifier: BSD-2-Clause
"""One end of a queue pair: it sends its messages, repeats what was lost, and answers its peer.

Written from chapter 9 of the InfiniBand specification in the small: go back on a
NAK or a timeout, acknowledge where asked, one NAK for a gap, a READ again as a whole.
"""

from dataclasses import dataclass
from struct import pack

from roceproof.conformance.calibration.parts import Part, Sent, parts_of
from roceproof.conformance.calibration.plan import PSNS, Pair
from roceproof.conformance.faults.icrc.packet import Body, Packet, assemble, finish
from roceproof.conformance.faults.psn.counting import Counting, ahead

_ACK, _READ_FIRST, _READ_MIDDLE, _READ_LAST, _READ_ONLY, _CNP = 0x11, 0x0D, 0x0E, 0x0F, 0x10, 0x81
_ASK = 1 << 31
_NO_CREDITS, _SEQUENCE_NAK = 0x1F, 0x60
_WINDOW = 12
_TIMEOUT_NS = 300_000
_TRIES = 4
_BECN = 0x40


@dataclass(frozen=True)
class Meaning:
    """What a packet says, whatever its bytes became."""

    psn: int
    part: Part | None = None
    """Of a request."""
    syndrome: int | None = None
    closes: bool = True
    opens: bool = True


class QueuePair:
    """One end; `counting` is its device's."""

    def __init__(self, pair: Pair, side: int, counting: Counting, *, strict: bool) -> None:
        self.pair, self.end, other = pair, pair.ends[side], pair.ends[1 - side]
        self.remote = other.queue
        self.strict = strict
        self.counting = counting
        self.name = counting.name(pair, self.end)
        counting.load(pair, self.end, other)
        self._todo = [*parts_of(self.end, pair)]
        self._next = 0
        self._waiting: list[Sent] = []
        self._retired: Sent | None = None
        """The newest that was acknowledged."""
        self._resend: int | None = None
        self._deadline: int | None = None
        self._tries = 0
        self._copies = 0
        self._read_psn: int | None = None
        self.expected = counting.expected(other.start)
        self._refused = False
        self._messages = 0
        self.replies: list[Packet] = []
        self.ident = 0
        self.ident_step = 0

    # what it sends

    def wakes(self) -> int | None:
        """When it has something to do next, if nothing comes in."""
        times = [self._deadline] if self._deadline is not None else []
        if self._resend is not None:
            return 0
        if self._next < len(self._todo) and len(self._waiting) < _WINDOW and self._tries <= _TRIES:
            times.append(self._todo[self._next].at_ns)
        return min(times, default=None)

    def request(self, now: int) -> Packet | None:
        """The next request packet, new or again."""
        if self._deadline is not None and now >= self._deadline:
            self._time_out(now)
        if self._resend is not None:
            return self._repeat(now)
        ready = self._next < len(self._todo) and self._todo[self._next].at_ns <= now
        if not ready or len(self._waiting) >= _WINDOW or self._tries > _TRIES:
            return None
        part = self._todo[self._next]
        self._next += 1
        value = self.counting.take(self.name, part, now)
        sent = Sent(part, value % PSNS, part.span, self.counting.word(value))
        if self.pair.reliable:
            self._waiting.append(sent)
            if self._deadline is None:
                self._deadline = now + _TIMEOUT_NS
        return self._packet(sent)

    def _time_out(self, now: int) -> None:
        self._tries += 1
        self._deadline = None
        self._read_psn = None
        if self._tries > _TRIES or not self._waiting:
            self._waiting.clear()
            self._resend = None
            return
        self._go_back(0)
        self._deadline = now + _TIMEOUT_NS

    def _go_back(self, place: int) -> None:
        self._resend = place
        self._copies = 0

    def _repeat(self, now: int) -> Packet | None:
        assert self._resend is not None
        if self._resend >= len(self._waiting):
            self._resend = None
            return self.request(now)
        sent = self._waiting[self._resend]
        self.counting.again(self.name, sent, now)
        self._resend += 1
        self._copies += 1
        if self._resend >= len(self._waiting):
            self._resend = None
            self.counting.repeated(self.name, self._waiting[-self._copies :][0], self._copies)
        return self._packet(sent)

    def _packet(self, sent: Sent) -> Packet:
        part = sent.part
        word = sent.word | (_ASK if part.ask else 0)
        meaning = Meaning(sent.word & 0xFFFFFF, part, None, part.closes, part.opens)
        return self._made(part.opcode, word, Body(part.extension, part.payload), meaning)

    def _made(
        self, opcode: int, word: int, body: Body, meaning: Meaning, congestion: int = 0
    ) -> Packet:
        face = self.end.face
        packet = assemble(
            face,
            opcode=opcode,
            flags=0,
            queue=self.remote | congestion << 24,
            psn_word=word,
            ident=self.ident,
            body=body,
        )
        packet.queue = self.remote
        self.ident = self.ident + self.ident_step & 0xFFFF
        packet.meaning = meaning
        finish(packet)
        return packet

    def notification(self) -> Packet:
        packet = self._made(_CNP, 0, Body(bytes(16)), Meaning(0), _BECN)
        return packet

    # what it hears

    def hear(self, packet: Packet, now: int, *, damaged: bool) -> None:
        """Take a packet from the peer."""
        meaning = packet.meaning
        if not isinstance(meaning, Meaning) or packet.opcode == _CNP:
            return
        if meaning.part is None:
            if not damaged:
                self._hear_reply(meaning, packet.opcode, now)
        elif not damaged or self.counting.believes_damaged():
            self._hear_request(meaning, meaning.part)

    def _hear_reply(self, meaning: Meaning, opcode: int, now: int) -> None:
        distance = self.counting.distance
        if meaning.syndrome == _SEQUENCE_NAK:
            self._retire(meaning.psn - 1, now)
            place = next(
                (at for at, sent in enumerate(self._waiting) if sent.psn == meaning.psn), None
            )
            if self._waiting and place is not None and self._resend is None:
                self._restart(self.counting.restart(place))
            return
        self.counting.answered(self.name)
        if opcode != _ACK:
            if self._read_psn is not None and meaning.psn != self._read_psn and not meaning.opens:
                return
            self._read_psn = (meaning.psn + 1) % PSNS
            if not meaning.closes:
                return
            self._read_psn = None
        elif any(
            sent.span > 1 or sent.part.opcode == 12
            for sent in self._waiting
            if distance(sent.psn, meaning.psn) <= 0
        ):
            return  # an ACK behind unanswered READs: the responses were lost
        self._retire(meaning.psn, now)

    def _restart(self, place: int) -> None:
        if place < 0 and self._retired is not None:
            self._waiting.insert(0, self._retired)
            self._retired = None
            place = 0
        if place < len(self._waiting):
            self._go_back(max(0, place))

    def _retire(self, psn: int, now: int) -> None:
        count = 0
        for sent in self._waiting:
            if self.counting.distance(sent.psn + sent.span - 1, psn % PSNS) > 0:
                break
            count += 1
        if count:
            if self._resend is not None:
                self._resend = max(0, self._resend - count)
            self._retired = self._waiting[count - 1]
            self._waiting = self._waiting[count:]
            self._tries = 0
            self._deadline = now + _TIMEOUT_NS if self._waiting else None

    def _hear_request(self, meaning: Meaning, part: Part) -> None:
        off = ahead(meaning.psn, self.expected)
        if self.strict and off:
            if not self.pair.reliable:
                self.expected = (meaning.psn + 1) % PSNS
            elif off < 0:
                self._duplicate(meaning, part)
            elif not self._refused:
                self._refused = True
                self._reply(_ACK, self.expected, _SEQUENCE_NAK)
            return
        self._refused = False
        self.expected = self.counting.expected_behind(meaning.psn, part.span)
        self._messages += part.closes
        self.counting.executed(self.name, meaning.psn)
        if part.opcode == 12:
            self._read(meaning.psn, part)
        elif part.ask:
            self._reply(_ACK, meaning.psn, _NO_CREDITS)

    def _duplicate(self, meaning: Meaning, part: Part) -> None:
        if part.opcode == 12:
            self._read(meaning.psn, part)
        elif part.ask:
            self._reply(_ACK, (self.expected - 1) % PSNS, _NO_CREDITS)

    def _read(self, psn: int, part: Part) -> None:
        mtu, length = self.pair.mtu, part.length
        data = (part.address.to_bytes(8, "big") * (length // 8 + 1))[:length]
        pieces = [data[cut : cut + mtu] for cut in range(0, length, mtu)] or [b""]
        for place, piece in enumerate(pieces):
            opens, closes = place == 0, place == len(pieces) - 1
            opcode = (
                _READ_ONLY
                if opens and closes
                else _READ_FIRST
                if opens
                else _READ_LAST
                if closes
                else _READ_MIDDLE
            )
            self._reply(opcode, (psn + place) % PSNS, _NO_CREDITS, piece)

    def _reply(self, opcode: int, psn: int, syndrome: int, data: bytes = b"") -> None:
        aeth = pack(">I", syndrome << 24 | self._messages & 0xFFFFFF)
        body = Body(b"" if opcode == _READ_MIDDLE else aeth, data)
        meaning = Meaning(
            psn,
            None,
            syndrome,
            opcode in (_READ_LAST, _READ_ONLY, _ACK),
            opcode in (_READ_FIRST, _READ_ONLY),
        )
        self.counting.answering(self.name)
        word = self.answer_word(psn)
        self.replies.append(self._made(opcode, word, body, meaning))

    def answer_word(self, psn: int) -> int:
        """The PSN field of a reply."""
        return psn % PSNS
