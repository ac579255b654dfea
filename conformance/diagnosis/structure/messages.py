# SPDX-License-Identifier: BSD-2-Clause
"""What is wrong with packets as parts of messages: order of opcodes, sizes, and the RETH's length.

Only requests of one flow are judged whose PSNs follow each other, so that neither
loss nor repetition looks like a fault; in the way in which the station counts.
"""

from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from roceproof.conformance.diagnosis.observation import Observation
from roceproof.conformance.diagnosis.structure.frames import PATH_MTUS, payload_size
from roceproof.conformance.wire.headers import Reth
from roceproof.conformance.wire.opcodes import OPCODES, Family, Opcode, Payload, Position, Transport

_PSN_MASK = 0xFFFFFF
_MISSING_ICRC = 4
_FlowKey = tuple[int, bytes, bytes, int]
_Follow = Callable[[int, int], bool]
"""Whether one PSN comes behind another."""
_OF_ONE_PACKET = frozenset({"MTU-01", "MTU-02"})


class Misplaced(NamedTuple):
    """A packet that does not fit into its message."""

    seen: Observation
    rule: str
    words: str

    @property
    def alone(self) -> bool:
        """Whether the packet shows it by itself, and not only between its neighbours."""
        whole = OPCODES[self.seen.bth.opcode].position == Position.ONLY
        return not self.rule.startswith("OPC") if whole else self.rule in _OF_ONE_PACKET


@dataclass(slots=True)
class _Message:
    family: Family
    promised: int | None
    carried: int = 0


@dataclass(slots=True)
class _Flow:
    psn: int = -1
    message: _Message | None = None
    known: bool = False
    """Whether it is known if a message is open."""


@dataclass
class Judged:
    """The misplaced packets of a station, and how many might have been."""

    may_lack_icrc: bool
    """Whether a packet with a wrong ICRC may have none at all."""
    misplaced: list[Misplaced] = field(default_factory=list)
    chances: Counter[str] = field(default_factory=Counter)
    """By rule, how many packets or messages could have broken it."""


def judge_messages(
    observations: Iterable[Observation],
    *,
    may_lack_icrc: bool,
    bare: Container[int] = (),
    damaged: Container[int] = (),
    repeated: Container[int] = (),
) -> Judged:
    """Judge the messages of one station; its packets with wrong ICRCs may have none at all.

    `bare` are packets without ICRC: not judged, but what stands behind them does not follow
    what stands in front. Nor does what is `repeated`, or `damaged`, or stands behind the latter.
    """
    judged = Judged(may_lack_icrc)
    requests = [*_requests(observations)]
    follow = _way_of_counting(requests)
    flows: dict[_FlowKey, _Flow] = {}
    for seen, row in requests:
        key = _flow_key(seen)
        if seen.number in bare:
            flows[key] = _Flow()
        elif seen.sound and payload_size(seen) >= 0:
            flow = flows.setdefault(key, _Flow())
            odd = seen.number in damaged or seen.number in repeated
            follows = flow.psn >= 0 and follow(flow.psn, seen.bth.psn) and not odd
            for rule, words in _take(flow, seen, row, judged, follows=follows):
                judged.misplaced.append(Misplaced(seen, rule, words))
            if seen.number in damaged:
                flows[key] = _Flow()
    return judged


def _requests(observations: Iterable[Observation]) -> Iterator[tuple[Observation, Opcode]]:
    for seen in observations:
        row = OPCODES.get(seen.bth.opcode)
        if row is None or row.is_response or row.transport not in (Transport.RC, Transport.UC):
            continue
        yield seen, row


def _flow_key(seen: Observation) -> _FlowKey:
    return seen.interface, seen.source, seen.destination, seen.bth.dest_qpn


def _way_of_counting(requests: Iterable[tuple[Observation, Opcode]]) -> _Follow:
    """How PSNs follow each other behind packets that do not end a message.

    By one; byte by byte in the wrong order (P15); or not at all until the message ends (P03).
    A packet that comes twice says nothing of that.
    """
    counts: Counter[_Follow] = Counter()
    before: dict[_FlowKey, tuple[bytes, int, Opcode]] = {}
    for seen, row in requests:
        key, content = _flow_key(seen), seen.frame[seen.bth_at : seen.end]
        last, psn, last_row = before.get(key, (content, 0, row))
        if content != last and not last_row.position & Position.LAST:
            counts.update(way for way in _WAYS if way(psn, seen.bth.psn))
        before[key] = content, seen.bth.psn, row
    return max(_WAYS, key=lambda way: counts[way])


def _by_one(psn: int, after: int) -> bool:
    return after == (psn + 1 & _PSN_MASK)


def _by_message(psn: int, after: int) -> bool:
    return after == psn or _by_one(psn, after)


def _reversed(psn: int, after: int) -> bool:
    return _by_one(*(int.from_bytes(each.to_bytes(3, "big"), "little") for each in (psn, after)))


_WAYS: tuple[_Follow, ...] = (_by_one, _by_message, _reversed)


def _take(
    flow: _Flow, seen: Observation, row: Opcode, judged: Judged, *, follows: bool
) -> Iterator[tuple[str, str]]:
    chances = judged.chances
    flow.psn = seen.bth.psn
    if not follows:
        flow.known, flow.message = False, None
    size = payload_size(seen)
    odd = row.payload is Payload.FULL and size not in PATH_MTUS
    if odd and not _lacks_icrc(size, seen, judged):
        rule = "MTU-01" if row.position & Position.FIRST else "MTU-02"
        yield rule, f"{row.name} of {size} bytes"
    if row.family not in (Family.SEND, Family.WRITE):
        flow.known, flow.message = True, None
        return
    yield from _order(flow, row, chances)
    if row.position & Position.FIRST:
        promised = Reth.unpack(seen.body).length if Reth in row.headers else None
        flow.message = _Message(row.family, promised)
    message = flow.message
    if message is not None and odd:
        message.promised = None  # that its bytes do not add up is no fault of its own
    if message is not None:
        yield from _length(message, seen, row, size, chances)
    flow.known = True
    if row.position & Position.LAST:
        flow.message = None
    elif message is None:
        flow.message = _Message(row.family, None)


def _lacks_icrc(size: int, seen: Observation, judged: Judged) -> bool:
    """Whether the end of a full payload may have been taken for the ICRC that is not there."""
    return judged.may_lack_icrc and seen.wrong and size + _MISSING_ICRC in PATH_MTUS


def _order(flow: _Flow, row: Opcode, chances: Counter[str]) -> Iterator[tuple[str, str]]:
    if not flow.known:
        return
    opens, message = bool(row.position & Position.FIRST), flow.message
    chances["OPC"] += message is not None or not opens
    if message is None and not opens:
        yield "OPC-01", f"{row.name} though no message is open"
    elif message is not None and opens:
        yield "OPC-03", f"{row.name} though a {message.family.name} is open"
        flow.message = None
    elif message is not None and row.family is not message.family:
        yield "OPC-05", f"{row.name} inside a {message.family.name}"


def _length(
    message: _Message, seen: Observation, row: Opcode, size: int, chances: Counter[str]
) -> Iterator[tuple[str, str]]:
    pad = min(seen.bth.pad_count, size)
    message.carried += size - pad
    promised, carried = message.promised, message.carried
    if promised is None:
        return
    closes = bool(row.position & Position.LAST)
    chances["RETH"] += closes
    if not closes:
        if carried >= promised:
            message.promised = None
            yield "RETH-02", f"the RETH says {promised} bytes, and {carried} are not the last"
        return
    if promised == carried or size % 4:
        return  # right, or not filled up, whatever the RETH says
    if row.position == Position.ONLY and _is_no_reth(seen.body[: Reth.SIZE], promised):
        yield "RETH-01", f"{row.name} whose RETH would say {promised} bytes: it is none"
        return
    left = promised - (carried - (size - pad))
    if promised == carried + pad:
        yield "PAD-03", f"the RETH says {promised} bytes, the pad counted; {carried} are sent"
    elif left > 0 and left + -left % 4 == size:
        yield "PAD-01", f"PadCnt {pad} where {promised} bytes are sent, so {-left % 4} is due"
    elif left > 0 and left == size - pad + (-(size - pad) % 4) and not pad:
        yield "PAD-03", f"the RETH says {promised} bytes, the pad counted"
    else:
        yield "MTU-07", f"the RETH says {promised} bytes, {carried} are sent"


def _is_no_reth(header: bytes, promised: int) -> bool:
    """Whether a packet that holds a whole message has something else in the RETH's place."""
    return promised > max(PATH_MTUS) or not any(header)
