# SPDX-License-Identifier: BSD-2-Clause
"""Entries made of captures: what was asked of a queue pair, and the work whose requests that were.

Each queue pair that requests go to gives entries of some messages each: one that asks the same of
a responder, and one in which the device is who asked, and hears as many responses with data, and
the ACKs and NAKs, as there are in the capture.
What is no message in its place is asked as a packet alone. Of addresses, keys and numbers stays
what an entry can say.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any, NamedTuple

import click

from roceproof.common.errors import RoceproofError
from roceproof.common.exit_codes import Exit
from roceproof.common.printable import printable
from roceproof.conformance.campaign.folder import Folder
from roceproof.conformance.capture.reader import read
from roceproof.conformance.capture.record import Record
from roceproof.conformance.model.requester.read_answers import READ_RESPONSES
from roceproof.conformance.nic.lanes import Lane, asked, is_wrong
from roceproof.conformance.stimulus.plan import Plan, Step
from roceproof.conformance.stimulus.responder.key_invalidation import INVALIDATING
from roceproof.conformance.stimulus.responder.play import Asking
from roceproof.conformance.wire.codec import Packet, parse
from roceproof.conformance.wire.headers import AtomicEth
from roceproof.conformance.wire.opcodes import OPCODES, Family, Position
from roceproof.conformance.wire.psn import packet_count
from roceproof.verbs.service import Service

_MESSAGES = 24
"""Of an entry."""
_LARGEST = 1 << 16
_ACKNOWLEDGE, _CMP_SWAP = 0x11, 0x13
_ATOMIC_BYTES = 8
_PSNS, _AHEAD = 1 << 24, 1 << 23
_WITH_DATA = (*READ_RESPONSES, 0x12)
_ASKING = ("READ", "CMP_SWAP", "FETCH_ADD")
_OF_WORK = ("SEND", "SEND_IMM", "WRITE", "WRITE_IMM", *_ASKING)
_DEPTH = 16
"""READs and atomics that may be under way, whatever their own device had agreed on."""


class Message(NamedTuple):
    """Packets in a row that make a message, or one that has no place in any."""

    number: int
    """Of its last packet in the capture."""
    packets: tuple[Packet, ...]
    offset: int
    """Of its first PSN from that of the queue pair's first request."""
    skipped: int
    """PSNs that are left out in front of it, or in how far it comes again."""
    op: str = ""
    """None of a packet alone."""

    @property
    def size(self) -> int:
        """Bytes that it moves."""
        first = self.packets[0]
        if OPCODES[first.bth.opcode].family is Family.READ:
            return first.reth.length if first.reth else 0
        return sum(len(packet.payload) for packet in self.packets)


class Answer(NamedTuple):
    """An ACK or NAK, or a response with data, of which only that counts."""

    number: int
    packet: Packet
    syndrome: int | None


class Imported(NamedTuple):
    """The entries of a capture, and how many of its requests are in none."""

    plans: list[Plan]
    left_out: int


def entries_of(records: Iterable[Record]) -> Imported:
    """Those of all queue pairs, in the order of their first requests."""
    kept = list(records)
    found, plans = asked(kept), list[Plan]()
    left_out = found.left_out
    answers = [*_answers(kept)]
    for lane in found.lanes:
        messages = [*_messages(lane)]
        fit = [each for each in messages if each.size <= _LARGEST]
        left_out += sum(len(each.packets) for each in messages) - sum(
            len(each.packets) for each in fit
        )
        if lane.memory.size > _LARGEST:
            left_out += sum(len(each.packets) for each in fit)
            continue
        for at in range(0, len(fit), _MESSAGES):
            piece = fit[at : at + _MESSAGES]
            plans.append(_requests(lane, piece))
            if work := _work(lane, piece, answers):
                plans.append(work)
    return Imported(plans, left_out)


def _answers(records: Iterable[Record]) -> Iterator[Answer]:
    for record in records:
        packet = parse(record.frame)
        if packet is None:
            continue
        if packet.bth.opcode == _ACKNOWLEDGE and packet.aeth is not None:
            yield Answer(record.number, packet, packet.aeth.syndrome)
        elif packet.bth.opcode in _WITH_DATA:
            yield Answer(record.number, packet, None)


def _messages(lane: Lane) -> Iterator[Message]:
    due, begun = 0, list[Packet]()
    start = skipped = 0
    for number, packet in lane.requests:
        row, offset = OPCODES[packet.bth.opcode], lane.offset_of(packet)
        ahead = (offset - due) % _PSNS
        ahead -= _PSNS if ahead >= _AHEAD else 0
        is_next = bool(begun) and not row.position & Position.FIRST and ahead == 0
        begins = not begun and bool(row.position & Position.FIRST) and ahead >= 0
        if is_wrong(packet) or not (is_next or begins):
            yield from (Message(number, (each,), start, 0) for each in begun)
            begun.clear()
            yield Message(number, (packet,), offset, ahead)
            continue
        if begins:
            start, skipped = offset, ahead
        begun.append(packet)
        length = packet.reth.length if row.family is Family.READ and packet.reth else 0
        due = (offset + packet_count(length, lane.path_mtu)) % _PSNS
        if row.position & Position.LAST:
            yield Message(number, tuple(begun), start, skipped, _operation(packet))
            begun.clear()
    yield from (Message(lane.requests[-1][0], (each,), start, 0) for each in begun)


def _operation(last: Packet) -> str:
    row = OPCODES[last.bth.opcode]
    if row.family is Family.ATOMIC:
        return "CMP_SWAP" if row.value == _CMP_SWAP else "FETCH_ADD"
    if row.value in INVALIDATING:
        return "SEND_INV"
    return row.family.name + ("_IMM" if last.immediate is not None else "")


# what was asked of a responder


def _requests(lane: Lane, messages: Sequence[Message]) -> Plan:
    said: dict[str, Any] = {"service": lane.service.name, "path_mtu": lane.path_mtu}
    steps = [
        Step("connect", {"key": 0, **said, "rq_psn": _psn(lane, messages[0])}),
        Step("region", {"key": 0, "size": max(lane.memory.size, _ATOMIC_BYTES)}),
    ]
    if lane.receives:
        fields = {"size": lane.longest, "count": min(lane.receives, len(messages))}
        steps.append(Step("receive", {"key": 0, **fields}))
    steps += [_request(lane, message) for message in messages]
    return Plan(steps=tuple(steps), player=Asking)


def _request(lane: Lane, message: Message) -> Step:
    first, last = message.packets[0], message.packets[-1]
    if not message.op:
        value, size = first.bth.opcode & 0x1F, len(first.payload)
        length = first.reth.length if first.reth else 0
        fields = {"value": value, "size": size, "psn": message.skipped, "length": length}
        return Step("raw", {"key": 0, **fields})
    said: dict[str, Any] = {"op": message.op, "size": message.size}
    if message.skipped:
        said["skip"] = message.skipped
    if lane.service is Service.RC and not last.bth.ack_req:
        said["ask"] = "none"
    return Step("request", {"key": 0, **said, **_immediate(last), **_place(lane, first)})


def _place(lane: Lane, first: Packet) -> dict[str, Any]:
    """Where in the region, and what an atomic does there."""
    said: dict[str, Any] = {}
    if (atomic := first.extension(AtomicEth)) is not None:
        said = {"swap": atomic.swap_or_add, "compare": atomic.compare}
        named = atomic.address, _ATOMIC_BYTES, atomic.rkey
    elif first.reth is not None:
        named = first.reth.address, first.reth.length, first.reth.rkey
    else:
        return said
    offset, is_right = lane.memory.place(*named)
    return {**said, "offset": offset, **({} if is_right else {"key_mask": 1})}


def _immediate(last: Packet) -> dict[str, Any]:
    said: dict[str, Any] = {"solicited": True} if last.bth.solicited else {}
    return said if last.immediate is None else {**said, "immediate": last.immediate}


# the work of who asked


def _work(lane: Lane, messages: Sequence[Message], answers: Sequence[Answer]) -> Plan | None:
    posted = [each for each in messages if each.op in _OF_WORK]
    if not posted:
        return None
    said: dict[str, Any] = {
        "service": lane.service.name,
        "path_mtu": lane.path_mtu,
        "sq_psn": _psn(lane, posted[0]),
        "remote_qpn": posted[0].packets[0].bth.dest_qpn,
    }
    if any(each.op in _ASKING for each in posted):
        said["max_rd_atomic"] = _DEPTH
    steps = [Step("connect", {"key": 0, **said})]
    for message, following in pairwise([*posted, None]):
        assert message is not None
        end = following.number if following else None
        steps += [_post(message), Step("until", {"frames": len(message.packets)})]
        steps += _together(_heard(lane, message, answers, until=end))
    return Plan(steps=tuple(steps))


def _post(message: Message) -> Step:
    first, last = message.packets[0], message.packets[-1]
    said: dict[str, Any] = {"op": message.op, "size": message.size, **_immediate(last)}
    named = first.extension(AtomicEth) or first.reth
    if named is not None:
        said |= {"remote_addr": named.address, "rkey": named.rkey}
    if isinstance(named, AtomicEth):
        said |= {"swap": named.swap_or_add, "compare": named.compare}
    return Step("post", {"key": 0, **said})


def _heard(
    lane: Lane, message: Message, answers: Sequence[Answer], *, until: int | None
) -> Iterator[Step]:
    """What came back behind a message and before the next, if it was to this queue pair's."""
    sent = message.packets[-1]
    length = message.size if message.op == "READ" else 0
    newest = lane.offset_of(sent) + packet_count(length, lane.path_mtu) - 1
    for answer in answers:
        is_back = answer.packet.ip.src == sent.ip.dst and answer.packet.ip.dst == sent.ip.src
        is_then = message.number < answer.number and (until is None or answer.number < until)
        if not (is_back and is_then):
            continue
        if answer.syndrome is None:
            yield Step("respond", {"key": 0})
            continue
        back = (newest - lane.offset_of(answer.packet)) % _PSNS
        place = {"back": back} if back < _AHEAD else {"ahead": _PSNS - back}
        yield Step("answer", {"key": 0, **place, "syndrome": answer.syndrome})


def _together(steps: Iterable[Step]) -> Iterator[Step]:
    """Responses with data in a row are one step."""
    for is_data, run in groupby(steps, lambda step: step.name == "respond"):
        if is_data:
            yield Step("respond", {"key": 0, "packets": len(list(run))})
        else:
            yield from run


def _psn(lane: Lane, message: Message) -> int:
    return (lane.first_psn + message.offset) % _PSNS


def run_import(captures: Sequence[Path], path: Path) -> int:
    """Keep the entries of captures; 2 if there is none."""
    folder, kept = Folder(path), 0
    for capture in captures:
        plans, left_out = entries_of(read(capture))
        kept += len({folder.keep(plan) for plan in plans})
        rest = f", {left_out} requests left out" if left_out else ""
        click.echo(f"{printable(capture)}: {len(plans)} entries{rest}")
    if not kept:
        raise RoceproofError(f"{captures[0]}: nothing to ask: name captures with RC or UC requests")
    return Exit.FINE
