# SPDX-License-Identifier: BSD-2-Clause
"""Storms: hundreds of messages at once, every frame and completion judged byte by byte.

A frame is compared with the one that a right device sends (`storm_frames.py`), which costs a few
microseconds; only one that differs is taken apart. So a storm costs what its simulation costs.
Queue pairs are judged each in its own order: a device may interleave them as it likes.
"""

from collections import deque
from collections.abc import Callable, Iterable, Sequence

from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.connection import Connection
from roceproof.conformance.suite.limits.within_limits import skip_for_depth
from roceproof.conformance.suite.pattern import Pattern
from roceproof.conformance.suite.reporting.failure import NO_PACKET, STRAY, CaseFailed
from roceproof.conformance.suite.reporting.failure_site import Stop
from roceproof.conformance.suite.reporting.transcript import Entry
from roceproof.conformance.suite.traffic.storm_stream import Stream, Wrong
from roceproof.conformance.wire.codec import parse
from roceproof.verbs.service import Service

Answers = Callable[["Storm", Stream], Iterable[Pattern]]
"""What the other end of a queue pair says now."""

_STEPS = 2  # in the time after which a device is quiet
_QUIET = 3  # halves of that time pass before answers that wait for it
_SHALLOW, _PARTS = 4, 16
"""Where no more messages may be outstanding all has come soon: a step is looked at in parts."""
_STALLED = 8  # times longer than usual may a frame take when all streams stall
_AFTER_A_FAILURE = 200  # frames, so that its capture shows how the device goes on
_KEPT = 2000
_QPN = slice(47, 50)  # in a frame over IPv4 without a VLAN tag


class Storm:
    """Everything that is under way at once.

    `steps` are those in the time after which a device is quiet: what is answered at once is
    answered that soon. The passive observer sees the frames only if it is to be `observed`: that
    takes longer than the rest. `endless` keeps only the last frames.
    """

    def __init__(
        self, bench: Bench, *, steps: int = _STEPS, observed: bool = False, endless: bool = False
    ) -> None:
        self.bench = bench
        self.random = bench.random
        self.streams: list[Stream] = []
        self.frames = 0
        self.most_in_flight = 0
        self._observed = observed
        self._endless = endless
        self._steps = steps
        self._stalls: dict[str, int] = {}
        self._by_qpn: dict[bytes, Stream] = {}

    def on(self, qp: Connection) -> Stream:
        """Take in a connection, from the start of its life."""
        device = self.bench.target.host_for(qp.spec)
        stream = Stream(qp, device, claims=self.bench.claims, others=self.streams)
        key = qp.spec.remote_qpn.to_bytes(3, "big")
        if (before := self._by_qpn.get(key)) in self.streams:
            self.streams.remove(before)
        self._by_qpn[key] = stream
        self.streams.append(stream)
        return stream

    def stall(self, **percent: int) -> None:
        """Stall the device's streams from now on; what is not said flows."""
        self._stalls = percent
        self.bench.target.disturb(**percent)

    def say(self, packets: Iterable[tuple[Stream, Pattern]]) -> None:
        """Send these back to back; the queue pairs mix, each keeps its order."""
        queues: dict[Stream, deque[Pattern]] = {}
        for stream, packet in packets:
            queues.setdefault(stream, deque()).append(packet)
        turns = [stream for stream, queue in queues.items() for _ in queue]
        self.random.shuffle(turns)
        for stream in turns:
            stream.qp.send(queues[stream].popleft())

    def rage(
        self,
        *,
        answers: Answers | None = None,
        at_once: bool = False,
        changes: Callable[[], None] | None = None,
        until: Callable[[], bool] | None = None,
    ) -> None:
        """Until everything has come, or `until` holds.

        Answers are given when the device is quiet, or `at_once`.
        `changes` is called with each step, to stall other streams or send other frames.
        """
        longer = 1 if self.bench.target.cut_short else _STALLED
        idle = 0
        while not (self.is_over() or (until is not None and until())):
            if changes is not None:
                changes()
            has_come = self.step(is_answered=answers is not None)
            idle = 0 if has_come else idle + 1
            is_due = at_once or self.rests or 2 * idle >= _QUIET * self._steps
            if answers is not None and is_due:
                said = [(s, packet) for s in self.streams for packet in answers(self, s)]
                self.say(said)
                idle = 0 if said else idle
            patience = self.bench.target.patience  # which is longer behind a stall
            if idle * patience.quiet_ns > self._steps * longer * patience.answer_ns:
                if self._waits_for_room():
                    skip_for_depth(self.bench.claims)
                raise self._failed(f"nothing more comes: {self._owed()}")

    def _waits_for_room(self) -> bool:
        owing = [stream for stream in self.streams if not stream.is_done]
        waiting = [stream for stream in owing if stream.waits_for_room]
        if self.bench.claims.limits.outstanding_shared and waiting:
            return all(stream.rests for stream in owing)
        return owing == waiting

    def blow(self, *, steps: int) -> None:
        """Let it rage for so many steps without any answer."""
        for _ in range(steps):
            self.step()

    def is_over(self) -> bool:
        """Whether nothing is due any more."""
        return all(stream.is_done for stream in self.streams)

    @property
    def rests(self) -> bool:
        """Whether nothing can come before something is answered."""
        return all(stream.rests for stream in self.streams if not stream.is_done)

    def step(self, *, is_answered: bool = False) -> bool:
        """Some time passes; whether anything came, which is judged.

        Less time where that is answered and nothing else can come.
        """
        target = self.bench.target
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        most = self.bench.claims.limits.outstanding_messages
        parts = _PARTS if is_answered and most is not None and most <= _SHALLOW else 1
        has_come = False
        for _ in range(parts):
            target.wait(target.patience.quiet_ns // self._steps // parts)
            before = self.frames
            while (arrival := target.receive(0)) is not None:
                self.frames += 1
                self._take(arrival.time_ns, arrival.frame)
            has_come |= self._completions() or self.frames > before
            if self.rests:
                break
        return has_come

    @property
    def in_flight(self) -> int:
        """Messages posted and not completed."""
        return sum(stream.in_flight for stream in self.streams)

    # judgement

    def _take(self, time_ns: int, frame: bytes) -> None:
        stream = self._by_qpn.get(frame[_QPN])
        flow = stream.qp.from_device if stream else None
        entry = Entry(time_ns, True, frame, is_void=not self._observed, flow=flow)
        self.bench.transcript.add(entry)
        if self._endless and len(entries := self.bench.transcript.epochs[-1].entries) > _KEPT:
            del entries[: _KEPT // 2]
        try:
            if stream is None and parse(frame) is None:
                raise Wrong(f"want  packets\ngot   {NO_PACKET}: {frame.hex()}", rules=("LIVE-03",))
            if stream is None:
                raise Wrong(f"{STRAY}: qpn={int.from_bytes(frame[_QPN]):#x}", rules=("BTH-10",))
            aside = stream.take(frame, self.bench.rules or ())
        except Wrong as wrong:
            raise self._failed(f"{self._name(stream)}{wrong}", wrong, entry=entry) from None
        if aside is not None and self.bench.aside is None:
            self.bench.aside = self._told(f"{self._name(stream)}{aside}", aside, entry=entry)

    def _completions(self) -> bool:
        has_come = False
        for stream in self.streams:
            for outcome in self.bench.target.completions(stream.qp.qp, count=0, timeout_ns=0):
                has_come = True
                try:
                    stream.complete(outcome)
                except Wrong as wrong:
                    raise self._failed(f"{self._name(stream)}{wrong}", wrong) from None
        return has_come

    def _name(self, stream: Stream | None) -> str:
        if stream is None or len(self.streams) < 2:
            return ""
        place = self.streams.index(stream)
        return f"qp{place} ({stream.qp.spec.service.name}, {stream.qp.qp.qpn:#x}): "

    def _owed(self) -> str:
        lines = [f"{self._name(s)}{s.owed()}" for s in self.streams if not s.is_done]
        return "\n".join(lines[:4] + [f"and {len(lines) - 4} queue pairs more"] * (len(lines) > 4))

    def _failed(
        self, text: str, wrong: Wrong | None = None, *, entry: Entry | None = None
    ) -> CaseFailed:
        failure = self._told(text, wrong, entry=entry)
        for _ in range(_AFTER_A_FAILURE):
            if (late := self.bench.target.receive(0)) is None:
                break
            self.bench.transcript.add(Entry(late.time_ns, True, late.frame, is_void=True))
        return failure

    def _told(
        self, text: str, wrong: Wrong | None = None, *, entry: Entry | None = None
    ) -> CaseFailed:
        open_psns = [s.sent_psn - s.acked_psn for s in self.streams if _is_reliable(s)]
        stalls = ", ".join(f"{name} {value} %" for name, value in self._stalls.items() if value)
        depth = (
            f"then: {self.in_flight} messages in flight, "
            f"{max(open_psns, default=0)} PSNs unacknowledged on one queue pair, "
            f"{self.frames} frames of the device before; stalls: {stalls or 'none'}"
        )
        story = [self.bench.story(), *([] if wrong else self.bench.target.streams())]
        return CaseFailed(
            "\n".join([text, depth, *story]),
            rules=wrong.rules if wrong else (),
            entries=[entry] if entry else [],
            example=(lambda: wrong.wanted) if wrong and wrong.wanted else None,
            stop=None if wrong else self._stop(),
        )

    def _stop(self) -> Stop | None:
        """The first that was posted of what the queue pairs wait for."""
        turns = self.bench.turns
        stops = [(turns[s.message.work.wr_id], s) for s in self._stops() if s.message is not None]
        return min(stops, key=lambda each: each[0])[1] if stops else None

    def _stops(self) -> Iterable[Stop]:
        return (stop for stream in self.streams if (stop := stream.stop()) is not None)


def _is_reliable(stream: Stream) -> bool:
    return stream.qp.spec.service is Service.RC


def all_that_left(_storm: Storm, stream: Stream) -> Sequence[Pattern]:
    """One ACK for every packet that has left."""
    if not _is_reliable(stream) or stream.sent_psn == stream.acked_psn:
        return []
    return [stream.ack(stream.sent_psn - 1)]


def each_that_left(storm: Storm, stream: Stream) -> Sequence[Pattern]:
    """An ACK for each message that has left; of one that waits for it, for its first packets."""
    if not _is_reliable(stream):
        return []
    whole = [stream.ack(message.last_psn) for message in stream.unanswered()]
    return whole or all_that_left(storm, stream)


def some_that_left(storm: Storm, stream: Stream) -> Sequence[Pattern]:
    """An ACK of some PSN among those sent, which may lie inside a message."""
    if not _is_reliable(stream) or stream.sent_psn == stream.acked_psn:
        return []
    return [stream.ack(storm.random.randrange(stream.acked_psn, stream.sent_psn))]
