# SPDX-License-Identifier: BSD-2-Clause
"""What an RC requester has sent and not yet seen answered, as three PSNs and the messages there.

    oldest <= next <= fresh

`oldest` is the first PSN without an answer, `fresh` the first that was never used. `next`
is the one that leaves next: equal to `fresh` as long as new packets leave, behind it while
copies do. READ responses count as answers one by one, so `oldest` may lie inside a READ.
"""

from collections import deque
from collections.abc import Iterator

from roceproof.conformance.model.segment import Segment
from roceproof.conformance.model.segmentation import Message, ahead
from roceproof.conformance.wire.psn import PSN_MODULUS, distance


class SendWindow:
    """The outstanding PSNs of one queue pair."""

    def __init__(self, first_psn: int) -> None:
        self.oldest = self.next = self.fresh = first_psn
        self.moved = False
        """Whether anything has been answered."""
        self.messages: deque[Message] = deque()
        """Those not completed, oldest first; the last may not have left wholly."""

    @property
    def outstanding(self) -> int:
        """PSNs without an answer, up to 2^23."""
        return (self.fresh - self.oldest) % PSN_MODULUS

    @property
    def replays(self) -> bool:
        """Whether what leaves next has left before."""
        return self.next != self.fresh

    @property
    def open_message(self) -> Message | None:
        """The message of which some packets have left, but not all."""
        last = self.messages[-1] if self.messages else None
        return last if last is not None and last.end != self.fresh else None

    def holds(self, psn: int) -> bool:
        """Whether that PSN was sent and has no answer yet."""
        return distance(psn, self.oldest) >= 0 and distance(psn, self.fresh) < 0

    def message_at(self, psn: int) -> Message:
        return next(found for found in self.messages if found.offset(psn) < found.span)

    def data_missing_before(self, psn: int) -> int | None:
        """The first PSN before that one whose answer must be data that have not come."""
        for message in self.messages:
            if message.awaits_data:
                begun = message.offset(self.oldest) > 0
                first = self.oldest if begun else message.first_psn
                return first if distance(first, psn) < 0 else None
        return None

    def awaiting_data(self) -> int:
        """READs and ATOMICs among the messages."""
        return sum(message.awaits_data for message in self.messages)

    def begin(self, message: Message) -> None:
        self.messages.append(message)

    def leave(self) -> Segment:
        """The packet at `next`, which moves on behind it."""
        message = self.message_at(self.next)
        offset = message.offset(self.next)
        is_new = not self.replays
        self.next = message.end if message.awaits_data else ahead(self.next, 1)
        if is_new:
            self.fresh = self.next
        return message.request(offset)

    def go_back(self, psn: int) -> None:
        """Leave again from that PSN on."""
        self.next = psn

    def answered_before(self, psn: int) -> Iterator[Message]:
        """All before that PSN, which is not `oldest`, have answers: the messages that are done."""
        self.oldest, self.moved = psn, True
        if distance(self.next, psn) < 0:
            self.next = psn
        while self.messages and distance(self.messages[0].end, psn) <= 0:
            yield self.messages.popleft()
