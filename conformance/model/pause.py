# SPDX-License-Identifier: BSD-2-Clause
"""MAC control: what a port holds back when the other end of its link asks for a pause.

A priority pause (802.1Qbb), which is for the link's own group, holds the frames of the classes that
it names until its time is over or a pause of no time lifts it; a frame under way always ends. A
global pause and any other MAC control frame holds nothing: a port obeys one kind, and this one
obeys priorities.
"""

from roceproof.conformance.wire.mac_control import CLASSES, ETHER_MAC_CONTROL, TO_THE_LINK

PRIORITY_PAUSE = 0x0101
QUANTUM_PS = 51_200  # 512 bit times at 10 Gbit/s
_OPCODE, _VECTOR, _TIMES, _END = 14, 16, 18, 34


class Pauses:
    """The classes of one port and until when each of them is held."""

    def __init__(self) -> None:
        self._until = [0] * CLASSES

    def take(self, frame: bytes, now_ns: int) -> bool:
        """Obey a MAC control frame; whether it was one."""
        if int.from_bytes(frame[12:14], "big") != ETHER_MAC_CONTROL:
            return False
        is_pause = int.from_bytes(frame[_OPCODE:_VECTOR], "big") == PRIORITY_PAUSE
        if is_pause and frame.startswith(TO_THE_LINK) and len(frame) >= _END:
            vector = int.from_bytes(frame[_VECTOR:_TIMES], "big")
            for priority in range(CLASSES):
                at = _TIMES + 2 * priority
                quanta = int.from_bytes(frame[at : at + 2], "big")
                if vector >> priority & 1:
                    self._until[priority] = now_ns + -(-quanta * QUANTUM_PS // 1000)
        return True

    def holds(self, priority: int, now_ns: int) -> bool:
        """Whether no frame of this class may start now."""
        return now_ns < self._until[priority]

    def next_end(self, now_ns: int) -> int | None:
        """When the next class is free again; None if none is held."""
        return min((until for until in self._until if until > now_ns), default=None)
