# SPDX-License-Identifier: BSD-2-Clause
"""What wire faults do to frames. A frame whose ICRC was right gets a right one again."""

from dataclasses import replace
from typing import Any

from roceproof.conformance.wire import icrc
from roceproof.conformance.wire.codec import parse
from roceproof.conformance.wire.frame_edits import Edit, flip_end, layout_of, reseal, resize
from roceproof.conformance.wire.framing import ICRC_BYTES, UDP_BYTES
from roceproof.conformance.wire.headers import Bth
from roceproof.conformance.wire.opcodes import OPCODES, Transport


def bth_of(frame: bytes) -> Bth | None:
    """The BTH of a RoCEv2 packet."""
    packet = parse(frame)
    return packet.bth if packet else None


def request_of(frame: bytes) -> Bth | None:
    """The BTH of a request; of anything else none."""
    bth = bth_of(frame)
    return bth if bth is not None and not _is_answer(bth.opcode) else None


def response_of(frame: bytes) -> Bth | None:
    """The BTH of a response; of anything else, CNPs too, none."""
    bth = bth_of(frame)
    row = OPCODES.get(bth.opcode) if bth is not None else None
    return bth if row is not None and row.is_response else None


def edited(frame: bytes, *edits: Edit) -> bytes:
    changed = bytearray(frame)
    for edit in edits:
        edit(changed)
    if icrc.check(frame).judgement is icrc.Judgement.OK:
        reseal(changed)
    return bytes(changed)


def with_bth(frame: bytes, **fields: Any) -> bytes:
    def edit(changed: bytearray) -> None:
        at = layout_of(changed).udp + UDP_BYTES
        bth = replace(Bth.unpack(bytes(changed), at), **fields)
        changed[at : at + Bth.SIZE] = bth.pack()

    return edited(frame, edit)


def with_stale_pad(frame: bytes, count: int) -> bytes:
    """The frame with other bytes than zeros in its pad of so many."""
    return edited(frame, *(flip_end(offset, 0xA5) for offset in range(1, count + 1)))


def inserted(offset: int, data: bytes) -> Edit:
    """Put bytes in, counted from the UDP header; all lengths say so."""

    def edit(frame: bytearray) -> None:
        at = layout_of(frame).udp + offset
        rest = bytes(frame[at:])
        resize(len(data))(frame)
        end = layout_of(frame).end - ICRC_BYTES
        frame[at:end] = (data + rest)[: end - at]

    return edit


def removed(offset: int, size: int) -> Edit:
    """Take bytes out, counted from the UDP header; all lengths say so."""

    def edit(frame: bytearray) -> None:
        at = layout_of(frame).udp + offset
        rest = bytes(frame[at + size :])
        resize(-size)(frame)
        end = layout_of(frame).end - ICRC_BYTES
        frame[at:end] = rest[: end - at]

    return edit


def _is_answer(opcode: int) -> bool:
    row = OPCODES.get(opcode)
    return row is not None and (row.is_response or row.transport is Transport.CNP)
