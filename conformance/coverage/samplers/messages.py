# SPDX-License-Identifier: BSD-2-Clause
"""Messages by operation, length, lanes and neighbours, and the streams' pauses meanwhile."""

from collections import defaultdict
from dataclasses import fields

from roceproof.conformance.coverage.frame_peek import Glimpse
from roceproof.conformance.coverage.queue_pairs import QueuePair
from roceproof.conformance.coverage.samplers.sampler import Life, Sampler
from roceproof.conformance.targets.bus_events import Posted, Sent
from roceproof.conformance.wire.psn import packet_count
from roceproof.dpi.session.options import Flow
from roceproof.verbs.limit_table import LONGEST_MESSAGE
from roceproof.verbs.work import Work

_OF_REQUESTERS = (field.name for field in fields(Flow) if not field.name.startswith("memory"))
_STREAMS = tuple(_OF_REQUESTERS)
_PAUSING = 30  # percent, that two streams pause at once


class MessageSampler(Sampler):
    """Sees each message when the device takes its work request."""

    def __init__(self, life: Life) -> None:
        super().__init__(life)
        self._packets = life.table.ranges("packets")
        self._percent = life.table.ranges("percent")
        self._before: tuple[Work, QueuePair] | None = None
        self._meanwhile: dict[tuple[Flow, str, str], int] = defaultdict(int)

    def posted(self, movement: Posted, qp: QueuePair | None) -> None:
        self.add("work.qpn", self.life.queue_pairs.relation(movement.qpn))
        if qp is None:
            return
        work = movement.work
        name, mtu, size = work.op.name, qp.spec.path_mtu, work.size
        against = length_class(size, mtu)
        self.add("message.mtu.length", name, mtu, against)
        self.add("message.service.length", qp.service, name, against)
        self.add("message.residue", qp.service, name, size % 4)
        self.add("message.length_bits", qp.service, size.bit_length())
        if size <= LONGEST_MESSAGE:
            count = self._packets.of(packet_count(size, mtu))
            self.add("message.packets", self.life.width, qp.service, count)
        if self.life.lanes and size:
            self.add("message.first_lane", self.life.width, work.offset)
            last = (work.offset + size - 1) % self.life.lanes
            self.add("message.last_lane", self.life.width, last)
        self._behind(work, qp)
        self._before = work, qp
        self._meanwhile[self.life.flow, qp.service, name] += 1

    def _behind(self, work: Work, qp: QueuePair) -> None:
        if self._before is None:
            return
        before, other = self._before
        marks = ["solicited" if each.solicited else "plain" for each in (before, work)]
        self.add("message.solicited", work.op.name, *marks)
        relation = "same queue pair" if other.qpn == qp.qpn else "other queue pair"
        if other.service != qp.service:
            relation = "other service"
        self.add("message.follows", before.op.name, work.op.name, relation)

    def finish(self) -> None:
        for (flow, service, name), times in self._meanwhile.items():
            self._paused(flow, service, name, times)

    def _paused(self, flow: Flow, service: str, name: str, times: int) -> None:
        add = self.life.counts.add
        percents = {stream: getattr(flow, stream) for stream in _STREAMS}
        for stream, percent in percents.items():
            often = self._percent.of(percent)
            add("stall.service", f"{self.life.width}/{service}/{stream}/{often}", times)
            add("stall.operation", f"{name}/{stream}/{often}", times)
        pausing = [stream for stream, percent in percents.items() if percent >= _PAUSING]
        for one in pausing:
            for other in pausing:
                if other != one:
                    add("stall.pair", f"{one}/{other}", times)

    def sent(
        self, movement: Sent, seen: Glimpse | None, qp: QueuePair | None, *, is_wrap: bool
    ) -> None:
        if qp is None or seen is None:
            return
        if self.life.lanes:
            last = (len(movement.frame) - 1) % self.life.lanes
            self.add("sent.last_lane", self.life.width, last)
        self.add("qp.context", qp.service, qp.qpn % self.life.queue_pairs.contexts)


def length_class(size: int, mtu: int) -> str:
    """The class of a message's length against the path MTU."""
    beyond = size % mtu
    if size < mtu:
        return "0" if size == 0 else "1..3" if size <= 3 else "below"
    if beyond == 0:
        return "mtu" if size == mtu else "n*mtu"
    if beyond <= 3:
        return "mtu+1..3" if size < 2 * mtu else "n*mtu+1..3"
    return "above"
