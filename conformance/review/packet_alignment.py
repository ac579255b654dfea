# SPDX-License-Identifier: BSD-2-Clause
"""Which packet of one capture is which of another.

Requests have partners of the same content, first where the PSNs say so: between
two captures of a transfer all PSNs of a connection are shifted by one number. What
is left has a partner of the same opcode at the same shifted PSN: its data differ.
So a packet that one side lost puts nothing out of step. A retransmission has the
partner that is the same repetition of the same packet. Responses go by the PSNs of
the requests that they answer.
"""

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from zlib import crc32

from roceproof.conformance.review.conversation import Direction
from roceproof.conformance.review.message_alignment import Aligned
from roceproof.conformance.review.story import Kind, Step
from roceproof.conformance.wire.opcodes import Family


@dataclass(slots=True)
class Partners:
    """Packets with and without a partner; `shifts` are those of the PSNs, by life."""

    pairs: list[tuple[Step, Step]] = field(default_factory=list)
    only_a: list[Step] = field(default_factory=list)
    only_b: list[Step] = field(default_factory=list)
    copies_a: int = 0
    copies_b: int = 0
    shifts: dict[int, int] = field(default_factory=dict)


def partners_of_requests(a: Direction, b: Direction) -> Partners:
    """All requests of both directions, which are cut into packets alike."""
    found = Partners()
    firsts_a, copies_a = _sorted_out(a)
    firsts_b, copies_b = _sorted_out(b)
    found.shifts = _shifts(firsts_a, firsts_b)
    rest = firsts_a, firsts_b
    shift = found.shifts.get
    for key_a, key_b in (
        (lambda s: (_content(s), s.life, _psn(s) + shift(s.life, 0)), _content_and_psn),
        (_content, _content),
        (lambda s: (_opcode(s), s.life, _psn(s) + shift(s.life, 0)), _opcode_and_psn),
    ):
        rest = _join(found, *rest, key_a, key_b)
    found.only_a, found.only_b = rest
    placed = {id(one): (other.life, other.psn) for one, other in found.pairs}
    names = {(one.life, one.psn): placed[id(one)] for one, _ in found.pairs}
    lonely_a, lonely_b = _join(
        found,
        copies_a,
        copies_b,
        lambda s: (names.get((s.life, s.psn)), _opcode(s), s.copy),
        lambda s: ((s.life, s.psn), _opcode(s), s.copy),
    )
    found.copies_a, found.copies_b = len(lonely_a), len(lonely_b)
    return found


def partners_of_first_packets(messages: Iterable[Aligned]) -> Partners:
    """Of messages that are cut differently only the beginnings are alike."""
    found = Partners()
    for one, other in messages:
        if one is not None and other is not None:
            found.pairs.append((one.steps[0], other.steps[0]))
        elif one is not None:
            found.only_a += one.steps
        elif other is not None:
            found.only_b += other.steps
    return found


def partners_of_responses(
    a: Direction, b: Direction, shifts: dict[int, int], messages: Iterable[Aligned] | None
) -> Partners:
    """Responses to the same request; `messages` where PSNs do not tell which that is."""
    found = Partners()
    numbers = {
        id(message): number
        for number, both in enumerate(messages or ())
        for message in both
        if message is not None
    }

    def place(direction: Direction, step: Step, shift: int) -> Hashable:
        if step.psn is None:
            return None
        if messages is None or direction.partner is None:
            return step.life, step.psn + shift
        message = direction.partner.message_at(step.life, step.psn)
        return numbers.get(id(message)), step.psn - (message.start if message else 0)

    found.only_a, found.only_b = _join(
        found,
        a.responses,
        b.responses,
        lambda s: (place(a, s, shifts.get(s.life, 0)), _answer(s)),
        lambda s: (place(b, s, 0), _answer(s)),
    )
    return found


def partners_in_order(a: Direction, b: Direction, kind: Kind) -> Partners:
    """The n-th packet of a kind with the n-th."""
    found = Partners()
    found.only_a, found.only_b = _join(
        found,
        [step for step in a.others if step.kind is kind],
        [step for step in b.others if step.kind is kind],
        lambda _: None,
        lambda _: None,
    )
    return found


def _join(
    found: Partners,
    a: Sequence[Step],
    b: Sequence[Step],
    key_a: Callable[[Step], Hashable],
    key_b: Callable[[Step], Hashable],
) -> tuple[list[Step], list[Step]]:
    """Pair what has the same key, in order; the rest of both."""
    waiting: dict[Hashable, deque[Step]] = defaultdict(deque)
    for step in b:
        waiting[key_b(step)].append(step)
    alone: list[Step] = []
    taken: set[int] = set()
    for step in a:
        queue = waiting.get(key_a(step))
        if queue:
            other = queue.popleft()
            taken.add(id(other))
            found.pairs.append((step, other))
        else:
            alone.append(step)
    return alone, [step for step in b if id(step) not in taken]


def _sorted_out(direction: Direction) -> tuple[list[Step], list[Step]]:
    """Packets that were seen for the first time, and repetitions, each in the order of capture.

    A READ may be repeated from its middle; it is new only at the end of the stream.
    """
    steps = sorted((s for m in direction.messages for s in m.steps), key=lambda s: s.number)
    firsts: list[Step] = []
    copies: list[Step] = []
    newest: dict[int, int] = {}
    for step in steps:
        reading = step.row is not None and step.row.family is Family.READ
        late = reading and _psn(step) < newest.get(step.life, _psn(step))
        (copies if step.copy or late else firsts).append(step)
        newest[step.life] = max(newest.get(step.life, _psn(step)), _psn(step))
    return firsts, copies


def _shifts(a: Sequence[Step], b: Sequence[Step]) -> dict[int, int]:
    """What most packets with a content of their own say, and where there is none, no shift."""
    votes: dict[int, Counter[int]] = defaultdict(Counter)
    known = dict(_alone(b))
    for content, step in _alone(a):
        other = known.get(content)
        if other is not None and other.life == step.life:
            votes[step.life][_psn(other) - _psn(step)] += 1
    return {
        life: max(counts, key=lambda shift: (counts[shift], -abs(shift), shift))
        for life, counts in votes.items()
    }


def _alone(steps: Sequence[Step]) -> Iterator[tuple[Hashable, Step]]:
    """Packets whose content occurs once."""
    contents = [_content(step) for step in steps]
    counts = Counter(contents)
    return ((c, s) for c, s in zip(contents, steps, strict=True) if counts[c] == 1)


def _content(step: Step) -> Hashable:
    """What the application put in; keys and addresses are the connection's."""
    packet = step.packet
    length = packet.reth.length if packet.reth else None
    return packet.bth.opcode, len(packet.payload), crc32(packet.payload), length


def _content_and_psn(step: Step) -> Hashable:
    return _content(step), step.life, _psn(step)


def _opcode(step: Step) -> Hashable:
    return step.packet.bth.opcode


def _opcode_and_psn(step: Step) -> Hashable:
    return _opcode(step), step.life, _psn(step)


def _psn(step: Step) -> int:
    return step.psn or 0


def _answer(step: Step) -> Hashable:
    aeth = step.packet.aeth
    return step.packet.bth.opcode, aeth.syndrome >> 5 if aeth else None
