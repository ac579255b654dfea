# SPDX-License-Identifier: BSD-2-Clause
"""The cable between two machines: passes frames on, records them, and loses those it is told to.

Frames come as QEMU's stream netdev writes them: four bytes of length, then the
frame. Losses are counted per rule, so that the same conversation loses the same
frames. A frame is lost in front of the recording point or behind it.
"""

import socket
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from roceproof.conformance.capture.reader import Flow, Record
from roceproof.conformance.wire.codec import parse

READ_BYTES = 1 << 18
LOST_BEHIND = "lost behind this point"


EVERY = 0


@dataclass(frozen=True)
class Loss:
    """Of the RoCE frames with one of `opcodes` to `towards`, the `nth` (from 1) or EVERY is lost.

    They get into the record when `recorded`.
    """

    towards: str
    opcodes: tuple[int, ...]
    nth: int
    recorded: bool = False


class _Losses:
    def __init__(self, losses: Sequence[Loss]) -> None:
        self._losses = losses
        self._seen = [0] * len(losses)

    def judge(self, frame: bytes, towards: str) -> Loss | None:
        """Return the rule that loses this frame; every rule counts every frame it names."""
        packet = parse(frame)
        verdict = None
        for index, loss in enumerate(self._losses):
            if packet and loss.towards == towards and packet.bth.opcode in loss.opcodes:
                self._seen[index] += 1
                verdict = loss if loss.nth in (EVERY, self._seen[index]) else verdict
        return verdict

    def outstanding(self) -> int:
        """Return how many rules have not lost a frame."""
        pairs = zip(self._losses, self._seen, strict=True)
        return sum(seen < max(1, loss.nth) for loss, seen in pairs)


class Wire:
    """Two ports by name; `carry` moves what has arrived at one of them to the other."""

    def __init__(self, ports: dict[str, socket.socket]) -> None:
        self.ports = ports
        self._half: dict[str, bytearray] = {name: bytearray() for name in ports}
        self.restart(())

    def restart(self, losses: Sequence[Loss]) -> None:
        """Forget the record and begin another with these losses."""
        self.records: list[Record] = []
        self.lost = 0
        self._losses = _Losses(losses)

    @property
    def outstanding(self) -> int:
        """How many of the losses have not happened yet."""
        return self._losses.outstanding()

    def carry(self, name: str) -> bool:
        """Carry on what port `name` has sent; return False when its machine is gone."""
        data = self.ports[name].recv(READ_BYTES)
        now = time.time_ns()
        (towards,) = self.ports.keys() - {name}
        self._half[name] += data
        for frame in whole_frames(self._half[name]):
            loss = self._losses.judge(frame, towards)
            if loss is None or loss.recorded:
                comment = LOST_BEHIND if loss else ""
                self.records.append(Record("wire", now, Flow.UNKNOWN, frame, comment))
            if loss is None:
                self.ports[towards].sendall(len(frame).to_bytes(4, "big") + frame)
            else:
                self.lost += 1
        return bool(data)


def whole_frames(stream: bytearray) -> Iterator[bytes]:
    """Take the whole frames from the front of a stream."""
    while len(stream) >= 4 and len(stream) >= (end := 4 + int.from_bytes(stream[:4], "big")):
        yield bytes(stream[4:end])
        del stream[:end]
