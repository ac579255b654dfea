# SPDX-License-Identifier: BSD-2-Clause
"""Hail: frames into a device's receive path, back to back, that must change nothing it sends.

Some it may answer (ARP, ping), the rest it must drop: broken ACKs that would acknowledge
everything under way, ACKs of strangers and to nobody, foreign traffic, the shortest and longest.
"""

from collections.abc import Callable

from roceproof.conformance.suite.pattern import ACK, CNP, Pattern
from roceproof.conformance.suite.traffic.background_traffic import broadcasts
from roceproof.conformance.suite.traffic.storm import Storm
from roceproof.conformance.suite.traffic.storm_stream import Stream
from roceproof.conformance.targets.capability import Capability
from roceproof.conformance.wire import frame_edits as edits
from roceproof.conformance.wire.icmp import broken_rule, icmp_frame, icmp_message, what_is_wrong
from roceproof.conformance.wire.neighbours import (
    UNASKED,
    is_advertised,
    is_question,
    reply_to_another,
    solicit,
    what_is_wrong_with_arp,
)
from roceproof.verbs.addresses import Host
from roceproof.verbs.service import Service

_LONGEST_ECHO = 1400
_ECHO_REQUEST, _ECHO_REPLY = 8, 0
_NUMBERS = slice(38, 42)  # in an echo over IPv4 without options: identifier and sequence number
_ARP, _EXPERIMENTAL = b"\x08\x06", b"\x88\xb5"


class Hail:
    """What falls on the device of a storm."""

    def __init__(self, storm: Storm) -> None:
        self._storm = storm
        self._bench = storm.bench
        self._random = storm.random
        self._foreign = broadcasts(storm.bench)
        self._echoes: dict[bytes, Host] = {}
        self._kinds: list[Callable[[Stream], None]] = [
            *(self._ask, self._ping, self._stray, self._foreigner),
            *(self._bad_icrc, self._padded_bad_icrc, self._truncated, self._stranger),
        ]
        if Capability.DAMAGE in storm.bench.claims.capabilities:
            self._kinds += [self._damaged, self._damaged]

    def fall(self, count: int) -> None:
        """So many frames of any kind."""
        for _ in range(count):
            self.one(self._random.choice(self._storm.streams))

    def one(self, stream: Stream) -> None:
        """One frame, which concerns this queue pair or none."""
        self._random.choice(self._kinds)(stream)

    def ask(self, count: int) -> None:
        """So many questions of ARP and ping from anybody."""
        for _ in range(count):
            self._random.choice((self._ask, self._ping))(self._storm.streams[0])

    def train(self, stream: Stream, size: int, count: int, *, is_answer: bool) -> None:
        """So many frames of one length without a gap, which change nothing."""
        peer = self._bench.peers[1]
        for _ in range(count):
            if is_answer:
                old = stream.qp.frame(ACK(psn=stream.acked_psn - 1, msn=0))
                frame = old + bytes(max(0, size - len(old)))
            else:
                frame = self._bench.target.host.mac + peer.mac + _EXPERIMENTAL
                frame += self._random.randbytes(size - len(frame))
            self._drop_or_answer(frame)

    @property
    def untaken(self) -> int:
        """Frames that still wait for the device."""
        return self._bench.target.untaken()

    def judge(self) -> None:
        """What the device has answered until now are right answers to what it was asked."""
        host = self._bench.target.host
        for frame in self._bench.target.asides():
            if not self._is_right(frame) and not is_question(frame, host):
                if to := reply_to_another(frame, self._bench.peers):
                    raise self._bench.failed(f"{UNASKED}: {to}", rules=["LIVE-03"])
                asked = self._asked(frame)
                if frame[12:14] == b"\x08\x06":
                    peers = self._bench.peers
                    asker = next((each for each in peers if each.mac == frame[:6]), peers[0])
                    told = what_is_wrong_with_arp(frame, host, asker)
                    wrong = f"a wrong answer to an ARP request{told}"
                else:
                    told = what_is_wrong(frame, asked)
                    wrong = f"a wrong answer to an echo request{told}"
                raise self._bench.failed(wrong, rules=[broken_rule(frame, asked)])

    def _asked(self, frame: bytes) -> bytes | None:
        """What the echo request carried that a wrong answer has the numbers of."""
        numbers = frame[_NUMBERS]
        return next((each for each in self._echoes if each.startswith(numbers)), None)

    # kinds

    def _ask(self, _stream: Stream) -> None:
        """ARP, half of them after somebody else."""
        own = self._bench.target.host.ip
        somebody = own[:-1] + bytes([own[-1] ^ 0x80])
        asker = self._random.choice(self._bench.peers)
        self._drop_or_answer(solicit(asker, self._random.choice((own, somebody))))

    def _ping(self, _stream: Stream) -> None:
        asker = self._random.choice(self._bench.peers)
        size = self._random.choice((0, 1, 2, 18, 48, self._random.randrange(_LONGEST_ECHO)))
        body = self._random.randbytes(4 + size)
        self._echoes[body] = asker
        self._drop_or_answer(icmp_frame(asker, self._bench.target.host, _ECHO_REQUEST, body))

    def _foreigner(self, _stream: Stream) -> None:
        self._drop_or_answer(self._random.choice(self._foreign))

    def _stray(self, stream: Stream) -> None:
        """Good for another station: MAC, address, queue pair or port."""
        draw = self._random.randrange(1, 1 << 24)
        self._void(
            stream,
            self._random.choice(
                (
                    self._everything(stream).but(qpn=stream.qp.qp.qpn ^ draw),
                    self._everything(stream).but(dst_mac=self._bench.peers[1].mac),
                    self._everything(stream).but(dst_ip=self._bench.peers[1].ip),
                    self._everything(stream).resealed(edits.set_udp(2, b"\x12\xb8")),
                )
            ),
        )

    def _stranger(self, stream: Stream) -> None:
        stranger = next(p for p in self._bench.peers if p.ip != stream.qp.spec.remote.ip)
        self._void(stream, self._everything(stream).but(src_ip=stranger.ip))

    def _bad_icrc(self, stream: Stream) -> None:
        mask = 1 << self._random.randrange(32)
        self._void(stream, self._everything(stream).corrupted(edits.bad_icrc(mask)))

    def _padded_bad_icrc(self, stream: Stream) -> None:
        """The wrong ICRC stands in front of bytes that no length counts."""
        tail = self._random.randbytes(self._random.randrange(1, 140))
        broken = self._everything(stream).corrupted(edits.bad_icrc(1 << self._random.randrange(32)))
        self._void(stream, broken.corrupted(edits.Trailer(tail)))

    def _truncated(self, stream: Stream) -> None:
        whole = stream.qp.frame(self._everything(stream))
        self._drop_or_answer(whole[: self._random.randrange(14, len(whole))].ljust(60, b"\0"))

    def _damaged(self, stream: Stream) -> None:
        """Right in every byte, but for the MAC."""
        frame = stream.qp.frame(self._everything(stream))
        self._bench.send_damaged(frame, flow=stream.qp.to_device)

    # their parts

    def _everything(self, stream: Stream) -> Pattern:
        """What would acknowledge all that was sent."""
        if stream.qp.spec.service is not Service.RC:
            return CNP() if self._random.random() < 0.5 else ACK(psn=stream.sent_psn - 1, msn=1)
        return ACK(psn=stream.sent_psn - 1, msn=1)

    def _void(self, stream: Stream, pattern: Pattern) -> None:
        flow = stream.qp.to_device
        self._bench.send(stream.qp.frame(pattern), flow=flow, is_void=True)

    def _drop_or_answer(self, frame: bytes) -> None:
        self._bench.send(frame, is_void=True)

    def _is_right(self, frame: bytes) -> bool:
        own = self._bench.target.host
        if frame[12:14] == _ARP:
            told = {(peer.mac, peer.mac + peer.ip) for peer in self._bench.peers}
            to = (frame[:6], frame[32:42])
            return is_advertised(frame, own.ip) and frame[22:28] == own.mac and to in told
        message = icmp_message(frame)
        if message is None or message.kind != _ECHO_REPLY or message.body not in self._echoes:
            return False
        asker = self._echoes[message.body]
        return (frame[:6], frame[30:34], frame[26:30]) == (asker.mac, asker.ip, own.ip)


def hailing(hail: Hail, count: int, *, every: int = 1) -> Callable[[], None]:
    """For `Storm.rage`: so many frames with every so-manieth step.

    Less often on a wire that is too slow for them, or nothing else would ever get through.
    """
    steps = 0

    def fall() -> None:
        nonlocal steps
        steps += 1
        if steps % every == 0 and hail.untaken <= count:
            hail.fall(count)

    return fall
