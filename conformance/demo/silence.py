# SPDX-License-Identifier: BSD-2-Clause
"""Why a peer heard nothing: which of its questions had no answer, and what came before them."""

import contextlib
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from ipaddress import IPv4Address
from pathlib import Path
from typing import NamedTuple

from roceproof.conformance.capture.reader import Flow, read
from roceproof.conformance.capture.record import CaptureError, Record
from roceproof.conformance.demo.deadline import told_frame
from roceproof.dpi.session.events import Statistics
from roceproof.dpi.session.streams import told_streams

_BEFORE = 4
_ARP = b"\x08\x06"
_REQUEST, _REPLY = b"\x00\x01", b"\x00\x02"
_ETHER_TYPE, _OPERATION, _SENDER, _TARGET = (
    slice(12, 14),
    slice(20, 22),
    slice(28, 32),
    slice(38, 42),
)


class _Question(NamedTuple):
    """One for an address, with what the device was sent right before it."""

    address: bytes
    time_ns: int
    before: Sequence[Record]


def told_silence(capture: Path, now: Statistics) -> list[str]:
    """Questions that the device left unanswered, what it did last, and how its streams stand."""
    records = _salvaged(capture)
    lines = list(_told_questions(_unanswered(records)))
    sent = [record for record in records if record.flow is Flow.OUTBOUND]
    lines.append(f"the device last {_told(sent[-1])}" if sent else "the device sent nothing")
    return [*lines, *told_streams(now.ports[0].streams, now.cycle)]


def _salvaged(capture: Path) -> list[Record]:
    """What can be read of a file that is still written."""
    records: list[Record] = []
    with contextlib.suppress(CaptureError, OSError):
        records.extend(read(capture))
    return records


def _unanswered(records: Iterable[Record]) -> list[_Question]:
    """Those for an address that nobody has answered since."""
    waiting: list[_Question] = []
    before: deque[Record] = deque(maxlen=_BEFORE)
    for record in records:
        frame = record.frame
        if frame[_ETHER_TYPE] == _ARP:
            if record.flow is Flow.INBOUND and frame[_OPERATION] == _REQUEST:
                waiting.append(_Question(frame[_TARGET], record.time_ns, tuple(before)))
            elif record.flow is Flow.OUTBOUND and frame[_OPERATION] == _REPLY:
                waiting = [each for each in waiting if each.address != frame[_SENDER]]
        before.append(record)
    return waiting


def _told_questions(waiting: Sequence[_Question]) -> Iterator[str]:
    if not waiting:
        yield "every ARP request was answered"
        return
    first = waiting[0]
    address = IPv4Address(first.address)
    count = f"{len(waiting)} ARP requests" if len(waiting) > 1 else "an ARP request"
    yield f"unanswered: {count} for {address}, the first at {first.time_ns / 1000:,.3f} us"
    if first.before:
        yield "before it:"
        yield from (f"  {_told(record)}" for record in first.before)


def _told(record: Record) -> str:
    word = "sent" if record.flow is Flow.OUTBOUND else "received"
    return f"{word} at {record.time_ns / 1000:,.3f} us, {told_frame(record.frame)}"
