# SPDX-License-Identifier: BSD-2-Clause
"""What the tools say to each other before and after their traffic, and beside it.

Every client speaks first and waits for an answer, so that each message comes by itself.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable
from struct import Struct
from typing import NamedTuple

from roceproof.conformance.targets.interface import TargetError
from roceproof.verbs.addresses import Host


class End(NamedTuple):
    """What one side tells of its queue pair and its memory."""

    host: Host
    qpn: int
    psn: int
    rkey: int = 0
    addr: int = 0
    reads: int = 0
    """READs and atomics that it takes at once."""


Connect = Callable[[End], End]
"""Gives the other side a queue pair, and says what that one's end is; the same when asked again."""
_MAPPED = bytes(10) + b"\xff\xff"


class Dialogue(ABC):
    """One side of a talk. `connect` is called each time that the client tells of its queue pair."""

    def __init__(self, connect: Connect) -> None:
        self._connect = connect

    @abstractmethod
    def hear(self, client: Host, message: bytes) -> bytes:
        """The answer to a message of the client, perhaps none."""


class PingpongDialogue(Dialogue):
    """Of ibv_*_pingpong: LID:QPN:PSN:GID each way, then "done"."""

    _LINE = re.compile(rb"[0-9a-f]{4}:([0-9a-f]{6}):([0-9a-f]{6}):([0-9a-f]{32})\0")

    def hear(self, client: Host, message: bytes) -> bytes:
        told = self._LINE.fullmatch(message)
        if told is None:
            return b""
        qpn, psn = int(told[1], 16), int(told[2], 16)
        own = self._connect(End(client, qpn, psn))
        return f"0000:{own.qpn:06x}:{own.psn:06x}:{(_MAPPED + own.host.ip).hex()}\0".encode()


class PerftestDialogue(Dialogue):
    """Of perftest: settings, keys as often as the two want to meet, results, "done".

    What is not a key is said back: both sides have the same settings then, and the same results.
    """

    _KEY = re.compile(
        rb"[0-9a-f]{4}:([0-9a-f]{4}):([0-9a-f]{6}):([0-9a-f]{6}):([0-9a-f]{8}):([0-9a-f]{16}):"
        rb"(?:[0-9a-f]{2}:){16}[0-9a-f]{8}:\0"
    )
    _KEY_LIKE = re.compile(rb"[0-9a-f]{4}:[0-9a-f]+:")

    def hear(self, client: Host, message: bytes) -> bytes:
        """Our key for theirs, and the same back for all else."""
        told = self._KEY.fullmatch(message)
        if told is None and self._KEY_LIKE.match(message):
            raise TargetError(f"this perftest's key is not known: {message!r}")
        if told is None:
            return message
        reads, qpn, psn, rkey, addr = (int(each, 16) for each in told.groups())
        own = self._connect(End(client, qpn, psn, rkey, addr, reads))
        gid = (_MAPPED + own.host.ip).hex(":")
        numbers = f"{own.reads:04x}:{own.qpn:06x}:{own.psn:06x}:{own.rkey:08x}:{own.addr:016x}"
        return f"0000:{numbers}:{gid}:00000000:\0".encode()


class PerftestByManagement(Dialogue):
    """Of perftest with -R: the same talk, but that keys are numbers and not text."""

    _KEY = Struct("!4II4xQ16s2I")
    LONGEST = _KEY.size

    def hear(self, client: Host, message: bytes) -> bytes:
        if len(message) != self._KEY.size:
            return message
        lid, reads, qpn, psn, rkey, addr, _, _, gid_index = self._KEY.unpack(message)
        own = self._connect(End(client, qpn, psn, rkey, addr, reads))
        gid = _MAPPED + own.host.ip
        numbers = (lid, own.reads, own.qpn, own.psn, own.rkey, own.addr)
        return self._KEY.pack(*numbers, gid, 0, gid_index)
