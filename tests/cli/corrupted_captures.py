# SPDX-License-Identifier: BSD-2-Clause
"""Captures for the tests of the commands that read them: real traffic, and what corrupts it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from roceproof.common.paths import REPOSITORY
from roceproof.conformance.capture.pcapng_writer import write_pcapng
from roceproof.conformance.capture.reader import Record, read
from roceproof.conformance.wire import icrc
from roceproof.conformance.wire.framing import UDP_BYTES, locate

STOCK = REPOSITORY / "tests" / "captures" / "rxe"
HEALTHY = STOCK / "rc_pingpong.pcapng.gz"
UC = STOCK / "uc_pingpong.pcapng.gz"

SEND_MIDDLE = 0x01


def middles(path: Path) -> list[int]:
    """Numbers of the SEND MIDDLE packets: no response names one, so none contradicts a change."""
    return [
        record.number
        for record in read(path)
        if (layout := locate(record.frame)) is not None
        and record.frame[layout.udp + UDP_BYTES] & 0x1F == SEND_MIDDLE
    ]


def corrupt(
    source: Path, target: Path, changes: dict[int, Callable[[bytes], bytes]], **fields: object
) -> Path:
    """Write a copy in which the numbered frames are changed, and every record if fields are."""
    records = (corrupted(record, changes, **fields) for record in read(source))
    write_pcapng(target, records)
    return target


def corrupted(
    record: Record, changes: dict[int, Callable[[bytes], bytes]], **fields: object
) -> Record:
    change = changes.get(record.number)
    frame = record.frame if change is None else change(record.frame)
    return record._replace(frame=frame, **fields)


def wrong_icrc(frame: bytes) -> bytes:
    """The last byte of the ICRC flipped: ICRC-02 on IPv4."""
    layout = locate(frame)
    at = layout.end - 1
    return frame[:at] + bytes([frame[at] ^ 0xFF]) + frame[at + 1 :]


def bth_bits(offset: int, bits: int) -> Callable[[bytes], bytes]:
    """Flip bits of a BTH byte, the ICRC redone."""

    def change(frame: bytes) -> bytes:
        at = locate(frame).udp + UDP_BYTES + offset
        return icrc.reseal(frame[:at] + bytes([frame[at] ^ bits]) + frame[at + 1 :])

    return change


other_version = bth_bits(1, 0x01)  # BTH-04, must
asks_for_ack = bth_bits(8, 0x80)  # UC-02 on UC, should
migrated = bth_bits(1, 0x40)  # BTH-03, information
