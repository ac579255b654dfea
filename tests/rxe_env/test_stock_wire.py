# SPDX-License-Identifier: BSD-2-Clause
"""The cable carries whole frames, records them, and loses exactly those it is told to."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest
import tiny_peer as tp

from roceproof.conformance.interop.stock.cable import EVERY, LOST_BEHIND, Loss, Wire

MAC = bytes(5) + b"\1"
ACK = 0x11


def roce(opcode: int, psn: int) -> bytes:
    return tp.roce(MAC, opcode, 0x11, psn, payload=b"payload!")


def on_the_wire(*frames: bytes) -> bytes:
    return b"".join(len(frame).to_bytes(4, "big") + frame for frame in frames)


class Ends:
    """The machines' ends of a wire."""

    def __init__(self) -> None:
        self.left, left = socket.socketpair()
        self.right, right = socket.socketpair()
        self.wire = Wire({"left": left, "right": right})
        self.right.settimeout(0)

    def arrived(self) -> bytes:
        try:
            return self.right.recv(1 << 16)
        except BlockingIOError:
            return b""

    def close(self) -> None:
        for sock in (self.left, self.right, *self.wire.ports.values()):
            sock.close()


@pytest.fixture
def ends() -> Iterator[Ends]:
    made = Ends()
    yield made
    made.close()


def test_a_frame_in_pieces_passes_whole_and_is_recorded(ends: Ends) -> None:
    stream = on_the_wire(b"A" * 60, roce(tp.RC_SEND_ONLY, 1))
    for start in range(0, len(stream), 50):
        ends.left.sendall(stream[start : start + 50])
        assert ends.wire.carry("left")
    assert ends.arrived() == stream
    assert [record.frame for record in ends.wire.records] == [b"A" * 60, roce(4, 1)]
    assert ends.wire.records[0].time_ns <= ends.wire.records[1].time_ns


def test_the_nth_of_its_kind_is_lost_in_front_of_the_recording_point(ends: Ends) -> None:
    ends.wire.restart([Loss("right", (tp.RC_SEND_ONLY,), 2)])
    frames = [roce(tp.RC_SEND_ONLY, 1), roce(ACK, 9), roce(tp.RC_SEND_ONLY, 2), roce(ACK, 9)]
    ends.left.sendall(on_the_wire(*frames))
    ends.wire.carry("left")
    passed = [*frames[:2], frames[3]]
    assert ends.arrived() == on_the_wire(*passed)
    assert [record.frame for record in ends.wire.records] == passed
    assert ends.wire.lost == 1
    assert ends.wire.outstanding == 0


def test_a_frame_lost_behind_the_recording_point_is_recorded_with_a_comment(ends: Ends) -> None:
    ends.wire.restart([Loss("right", (ACK, tp.RC_SEND_ONLY), 1, recorded=True)])
    ends.left.sendall(on_the_wire(roce(ACK, 1), roce(tp.RC_SEND_ONLY, 2)))
    ends.wire.carry("left")
    assert ends.arrived() == on_the_wire(roce(tp.RC_SEND_ONLY, 2))
    assert [record.comment for record in ends.wire.records] == [LOST_BEHIND, ""]


def test_every_one_of_its_kind_can_be_lost(ends: Ends) -> None:
    ends.wire.restart([Loss("right", (ACK,), EVERY)])
    assert ends.wire.outstanding == 1
    ends.left.sendall(on_the_wire(roce(ACK, 1), roce(tp.RC_SEND_ONLY, 2), roce(ACK, 3)))
    ends.wire.carry("left")
    assert ends.arrived() == on_the_wire(roce(tp.RC_SEND_ONLY, 2))
    assert (ends.wire.lost, ends.wire.outstanding) == (2, 0)


def test_losses_of_the_other_direction_do_not_count(ends: Ends) -> None:
    ends.wire.restart([Loss("left", (ACK,), 1)])
    ends.left.sendall(on_the_wire(roce(ACK, 1)))
    ends.wire.carry("left")
    assert ends.arrived() == on_the_wire(roce(ACK, 1))
    assert (ends.wire.lost, ends.wire.outstanding) == (0, 1)


def test_the_end_of_a_machine_is_noticed(ends: Ends) -> None:
    ends.left.close()
    assert not ends.wire.carry("left")
