# SPDX-License-Identifier: BSD-2-Clause
"""How full the device's queues are, how long it lives, and where it holds the bench back."""

from roceproof.conformance.coverage.depths import HELD, MOST
from roceproof.conformance.coverage.frame_peek import Glimpse
from roceproof.conformance.coverage.queue_pairs import Answer, QueuePair
from roceproof.conformance.coverage.samplers.sampler import Life, Sampler
from roceproof.conformance.targets.bus_events import Completed, Configured, Posted, Received, Sent
from roceproof.conformance.wire.opcodes import OPCODES, Position
from roceproof.verbs.service import Service

_AT_ONCE = 8  # cycles in which the bench offers, and a device that has room takes


class DepthSampler(Sampler):
    """Counts what is under way at each step."""

    def __init__(self, life: Life) -> None:
        super().__init__(life)
        self._depth = life.table.ranges("depth")
        self._packet_depth = life.table.ranges("packet_depth")
        self._queue_pairs = life.table.ranges("queue_pairs")
        self._outstanding = {service.name: 0 for service in Service}
        self._busy: set[int] = set()
        self._frames = self._messages = 0
        self._taken = {"config": 0, "work": 0, "received": 0}
        self._most = self._most_held = 0

    def configured(self, movement: Configured, *, is_restart: bool) -> None:
        self._busy.discard(movement.qpn)
        active = sum(qp.is_active for qp in self.life.queue_pairs.all())
        self.add("qp.active", self.life.width, self._queue_pairs.of(active))
        self._took("config", movement.time, movement.offered, 1, self.life.flow.qpc_gap)

    def posted(self, movement: Posted, qp: QueuePair | None) -> None:
        self._messages += 1
        offered = max(movement.offered, self._taken["config"])
        is_held = self._took("work", movement.time, offered, 1, self.life.flow.wr_gap)
        if qp is None:
            return
        if qp.spec.service is Service.RC:
            self._most = max(self._most, qp.outstanding)
            self._most_held = max(self._most_held, qp.outstanding if is_held else 0)
        width = self.life.width
        self._outstanding[qp.service] += 1
        self._busy.add(qp.qpn)
        self.add("qp.busy", width, self._queue_pairs.of(len(self._busy)))
        here = self._depth.of(self._outstanding[qp.service])
        self.add("depth.work", width, qp.service, here)
        self.add("depth.work_of_one", width, qp.service, self._depth.of(qp.outstanding))

    def completed(self, movement: Completed, qp: QueuePair | None) -> None:
        if qp is not None and not movement.is_receive:
            left = self._outstanding[qp.service] - 1
            self._outstanding[qp.service] = max(0, left)
            if qp.outstanding == 0:
                self._busy.discard(qp.qpn)

    def sent(
        self, movement: Sent, seen: Glimpse | None, qp: QueuePair | None, *, is_wrap: bool
    ) -> None:
        """So many packets wait for their acknowledgement."""
        self._frames += 1
        if qp is None or seen is None:
            return
        if qp.spec.service is Service.RC:
            waiting = self._packet_depth.of(qp.sent - qp.acknowledged)
            self.add("depth.packets", self.life.width, waiting)
        if is_wrap:
            self._wrapped(qp, seen)

    def _wrapped(self, qp: QueuePair, seen: Glimpse) -> None:
        self.add("life.psn_wraps", qp.service, self.life.table.ranges("wraps").of(qp.wraps))
        row = OPCODES.get(seen.opcode)
        begins = row is not None and row.position & Position.FIRST
        place = "between messages" if begins else "inside a message"
        self.add("life.wrap_place", qp.service, place)

    def received(
        self, movement: Received, seen: Glimpse | None, qp: QueuePair | None, answer: Answer | None
    ) -> None:
        """Did the device take it as fast as it came?"""
        self._frames += 1
        if self.life.lanes:
            beats = -(-len(movement.frame) // self.life.lanes)
            gap = self.life.flow.rx_gap
            self._took("received", movement.time, movement.offered, beats, gap)

    def _took(self, stream: str, time: int, offered: int, beats: int, gap: int) -> bool:
        since = max(offered, self._taken[stream])
        self._taken[stream] = time
        is_held = bool(self.life.lanes) and gap == 0 and time - since > beats + _AT_ONCE
        if is_held:
            self.add("depth.held", self.life.width, stream)
        return is_held

    def finish(self) -> None:
        frames = self.life.table.ranges("frames").of(self._frames)
        messages = self.life.table.ranges("messages").of(self._messages)
        self.add("life.frames", self.life.width, frames)
        self.add("life.messages", self.life.width, messages)
        if self._most:
            self.add(MOST, str(self._most))
        if self._most and self._most == self._most_held:
            self.add(HELD, str(self._most))
