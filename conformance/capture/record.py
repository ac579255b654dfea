# SPDX-License-Identifier: BSD-2-Clause
"""What the capture readers share: the packet they yield, their input, and how they fail."""

import zlib
from enum import IntEnum
from typing import BinaryIO, NamedTuple

from roceproof.common.errors import RoceproofError
from roceproof.common.printable import printable

LINK_ETHERNET = 1
PACKET_LIMIT = 262144  # what libpcap, too, takes for the longest packet there can be

_LINUX_COOKED = (113, 276)


class CaptureError(RoceproofError):
    """The capture cannot be read on; the text says which file, where, why, and what to do."""

    def __init__(self, name: str, offset: int, reason: str, remedy: str) -> None:
        super().__init__(f"{printable(name)} {reason} at byte {offset}; {remedy}")
        self.offset = offset
        self.reason = reason


class Flow(IntEnum):
    """The direction of a packet, as the capturing port saw it."""

    UNKNOWN = 0
    INBOUND = 1
    OUTBOUND = 2


class Record(NamedTuple):
    interface: str
    time_ns: int
    flow: Flow
    frame: bytes
    comment: str = ""
    marked_bad: bool = False
    bytes_cut: int = 0
    """What the snap length took off the end of the packet."""
    number: int = 0
    """Counted from 1 over the file, as in Wireshark."""
    interface_index: int = 0
    """Counted from 0 over the file."""
    fcs_bytes: int = 0
    """The FCS that the capture declares at the end of the packet on the wire."""
    link_type: int = LINK_ETHERNET
    section: str = ""
    """What the capture says of the section that holds the packet: its comments."""

    @property
    def full_size(self) -> int:
        return len(self.frame) + self.bytes_cut

    @property
    def is_ethernet(self) -> bool:
        """Whether the packet is an Ethernet frame; others cannot be judged."""
        return self.link_type == LINK_ETHERNET


class Source:
    """A stream of bytes that knows its name and place, and fails as `CaptureError`."""

    def __init__(self, name: str, stream: BinaryIO) -> None:
        self.name = name
        self.offset = 0
        self._stream = stream

    def take(self, size: int) -> bytes:
        """The next bytes; fewer than asked for only at the end."""
        try:
            data = self._stream.read(size)
        except (OSError, EOFError, zlib.error) as error:
            raise self.damaged(f"cannot be read on ({error})", self.offset) from error
        self.offset += len(data)
        return data

    def damaged(self, reason: str, offset: int) -> CaptureError:
        """The error for a capture whose packets up to here are whole."""
        remedy = "what stands before it has been read; repair or repeat the capture"
        return CaptureError(self.name, offset, reason, remedy)

    def not_ethernet(self, link_type: int) -> CaptureError:
        reason = f"holds link type {link_type} and no Ethernet"
        remedy = "capture on the Ethernet interface itself"
        if link_type in _LINUX_COOKED:
            remedy += ", not on any"
        return CaptureError(self.name, self.offset, reason, remedy)
