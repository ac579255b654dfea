# SPDX-License-Identifier: BSD-2-Clause
"""What is wrong with packets as parts of messages: order of opcodes, sizes, and the RETH's length.

Only requests of one flow are judged whose PSNs follow each other, so that neither
loss nor repetition looks like a fault.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from roceproof.conformance.diagnosis.observation import Observation
from roceproof.conformance.diagnosis.structure.frames import PATH_MTUS, payload_size
from roceproof.conformance.wire.headers import Reth
from roceproof.conformance.wire.opcodes import OPCODES, Family, Opcode, Payload, Position, Transport

_PSN_MASK = 0xFFFFFF
_MISSING_ICRC = 4
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
    observations: Iterable[Observation], *, some_right: bool, bare: Container[int] = ()
) -> Judged:
    """Judge the messages of one station, of whose last packets some have right ICRCs or none.

    `bare` are packets without ICRC: not judged, but what stands behind them does not follow
    what stands in front.
    """
    judged = Judged(some_right)
    flows: dict[tuple[int, bytes, bytes, int], _Flow] = {}
    for seen in observations:
        row = OPCODES.get(seen.bth.opcode)
        if row is None or row.is_response or row.transport not in (Transport.RC, Transport.UC):
            continue
        key = seen.interface, seen.source, seen.destination, seen.bth.dest_qpn
        if seen.number in bare:
            flows[key] = _Flow()
        elif seen.sound and payload_size(seen) >= 0:
            for rule, words in _take(flows.setdefault(key, _Flow()), seen, row, judged):
                judged.misplaced.append(Misplaced(seen, rule, words))
    return judged


def _take(flow: _Flow, seen: Observation, row: Opcode, judged: Judged) -> Iterator[tuple[str, str]]:
    chances = judged.chances
    follows = seen.bth.psn == (flow.psn + 1 & _PSN_MASK) if flow.psn >= 0 else False
    flow.psn = seen.bth.psn
    if not follows:
        flow.known, flow.message = False, None
    size = payload_size(seen)
    if row.payload is Payload.FULL and not _is_full(
        size, lacks=seen.wrong and judged.may_lack_icrc
    ):
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
    if message is not None:
        yield from _length(message, seen, row, size, chances)
    flow.known = True
    if row.position & Position.LAST:
        flow.message = None
    elif message is None:
        flow.message = _Message(row.family, None)


def _is_full(size: int, *, lacks: bool) -> bool:
    """Whether a payload has the size of a path MTU; its end may have been taken for an ICRC."""
    return size in PATH_MTUS or (lacks and size + _MISSING_ICRC in PATH_MTUS)


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
    if promised == carried:
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
