# SPDX-License-Identifier: BSD-2-Clause
"""S53-S60, S63: wrong ICRCs that come from what went on around the packet.

Each is an engine that sees the frames of one station in the order of sending
and gives what really leaves. It has state where the hardware has some.
"""

from __future__ import annotations

from typing import ClassVar
from zlib import crc32

from roceproof.conformance.faults.icrc.engine import Engine, Outgoing
from roceproof.conformance.faults.icrc.tail import bus_tail
from roceproof.conformance.wire import icrc
from roceproof.conformance.wire.framing import BTH_BYTES, ICRC_BYTES

_BTH_PKEY, _BTH_ACK_REQ, _BTH_PSN = 2, 8, 9
_IPV4_ID = 4


class SendsPrevious(Engine):
    """S53: the field holds the ICRC of the packet before, zero at first."""

    _previous = bytes(ICRC_BYTES)

    def value(self, out: Outgoing) -> bytes:
        """What was right one packet ago."""
        stale, self._previous = self._previous, out.right
        return stale


class KeepsRegister(Engine):
    """S54: the register starts from where the packet before left it."""

    _crc: int | None = None

    def value(self, out: Outgoing) -> bytes:
        """Go on with the last CRC; only the first packet meets the seed."""
        crc = crc32(b"\xff" * 8) if self._crc is None else self._crc
        self._crc = crc32(icrc.masked_input(out.frame)[8:], crc)
        return self._crc.to_bytes(ICRC_BYTES, "little")


class SeesNoAckReq(Engine):
    """S55: AckReq is set behind the ICRC."""

    def value(self, out: Outgoing) -> bytes:
        """Over the packet before AckReq was set."""
        at = out.bth + _BTH_ACK_REQ
        return out.right_over({at: bytes((out.frame[at] & 0x7F,))})


class SeesNoPkey(Engine):
    """S55: the partition key is filled in behind the ICRC."""

    def value(self, out: Outgoing) -> bytes:
        """Over the packet with partition key 0."""
        return out.right_over({out.bth + _BTH_PKEY: bytes(2)})


class SeesPreviousField(Engine):
    """S55: a header field is filled in behind the ICRC, which sees the packet before's."""

    _kept: dict[bytes, bytes]

    def __init__(self) -> None:
        self._kept = {}

    def place(self, out: Outgoing) -> tuple[int, int] | None:
        """Where the field starts and ends, if the packet has it."""
        raise NotImplementedError

    def scope(self, out: Outgoing) -> bytes:
        """Whose previous value it is: of the port, or of the flow."""
        return b""

    def value(self, out: Outgoing) -> bytes:
        """Over the packet with the value that the field had before."""
        place = self.place(out)
        if place is None:
            return out.right
        now = out.frame[place[0] : place[1]]
        before = self._kept.get(self.scope(out), now)
        self._kept[self.scope(out)] = now
        return out.right_over({place[0]: before})


class SeesPreviousId(SeesPreviousField):
    """S55: the IPv4 identification of the flow's packet before."""

    def place(self, out: Outgoing) -> tuple[int, int] | None:
        at = out.layout.ip + _IPV4_ID
        return (at, at + 2) if out.layout.version == 4 else None

    def scope(self, out: Outgoing) -> bytes:
        return out.flow


class SeesPreviousPsn(SeesPreviousField):
    """S55: the PSN of the flow's packet before."""

    def place(self, out: Outgoing) -> tuple[int, int] | None:
        return out.bth + _BTH_PSN, out.bth + BTH_BYTES

    def scope(self, out: Outgoing) -> bytes:
        return out.flow


class SeesPreviousUdpLength(SeesPreviousField):
    """S55: the UDP length of the port's packet before."""

    def place(self, out: Outgoing) -> tuple[int, int] | None:
        at = out.layout.udp + 4
        return at, at + 2


class DropsTailByte(Engine):
    """S57: one residue of the last beat's byte count is decoded one too small."""

    width: ClassVar[int] = 8
    needs_residue = True

    def value(self, out: Outgoing) -> bytes:
        """Without the last byte where the last beat has that many."""
        if bus_tail(out, self.width) != self.residue:
            return out.right
        return crc32(icrc.masked_input(out.frame)[:-1]).to_bytes(ICRC_BYTES, "little")


class DropsTailByteOf16(DropsTailByte):
    """S57 on a bus of 16 bytes."""

    width = 16


class DropsTailByteOf32(DropsTailByte):
    """S57 on a bus of 32 bytes."""

    width = 32


class DropsTailByteOf64(DropsTailByte):
    """S57 on a bus of 64 bytes."""

    width = 64


class LosesLane(Engine):
    """S58: one byte lane of the bus reaches the CRC as zeros."""

    width: ClassVar[int] = 8
    lane: ClassVar[int] = 5
    constant: ClassVar[int] = 0x00

    def value(self, out: Outgoing) -> bytes:
        """With every covered byte of the lane replaced, before the masks."""
        first = out.layout.ip + (self.lane - out.layout.ip) % self.width
        places = range(first, out.body_end, self.width)
        return out.right_over({at: bytes((self.constant,)) for at in places})


class LosesLaneOf64(LosesLane):
    """S58 on a bus of 64 bytes, with the lane stuck at ones."""

    width = 64
    lane = 51
    constant = 0xFF


class RepeatsStalledBeat(Engine):
    """S59: a beat that back-pressure holds is fed twice; with stalls, in every third packet."""

    _WIDTH = 8
    _BEAT = 5
    _sent = 0

    def value(self, out: Outgoing) -> bytes:
        self._sent += 1
        if not self.stalls or self._sent % 3:
            return out.right
        fed = icrc.masked_input(out.frame)
        at = 8 + self._BEAT * self._WIDTH - out.layout.ip % self._WIDTH
        beat = fed[at : at + self._WIDTH]
        return crc32(fed[:at] + beat + fed[at:]).to_bytes(ICRC_BYTES, "little")


class LatchesHalf(Engine):
    """S63: the upper half of the result is still that of the packet before."""

    _previous = bytes(ICRC_BYTES)

    def value(self, out: Outgoing) -> bytes:
        """Two bytes of this packet, two of the last."""
        stale, self._previous = self._previous, out.right
        return out.right[:2] + stale[2:]


class Truncates(Engine):
    """S63: only the lower three bytes of the result are wired."""

    def value(self, out: Outgoing) -> bytes:
        return out.right[:3] + b"\0"
