# SPDX-License-Identifier: BSD-2-Clause
"""S56, S60-S62, S64: faults of the data path around the CRC rather than of its value alone."""

from __future__ import annotations

from typing import ClassVar
from zlib import crc32

from roceproof.conformance.faults.icrc.engine import Engine, Outgoing
from roceproof.conformance.faults.icrc.fields import MASKED, Field, bits_of
from roceproof.conformance.faults.icrc.tail import bus_tail, contribution
from roceproof.conformance.wire.framing import ETHERNET_MINIMUM, ICRC_BYTES
from roceproof.conformance.wire.icrc import masked_input
from roceproof.conformance.wire.ip import checksum
from roceproof.conformance.wire.opcodes import OPCODES, Position

_PREFIX_BYTES = 8


class LeaksMask(Engine):
    """S56: the masked header is what gets sent; the ICRC is right."""

    leaked: ClassVar[frozenset[Field]] = MASKED

    def frame(self, out: Outgoing) -> bytes:
        sent = bytearray(out.frame)
        for field in self.leaked:
            for at, bits in bits_of(field, out.layout):
                sent[out.layout.ip + at] |= bits
        if out.layout.version == 4 and Field.IPV4_CHECKSUM not in self.leaked:
            _renew_checksum(sent, out.layout.ip)
        return bytes(sent)


class LeaksHops(LeaksMask):
    """S56 for TTL and hop limit only, in front of the checksum."""

    leaked = frozenset({Field.TTL, Field.HOP_LIMIT})


class LeaksBthByte(LeaksMask):
    """S56 for byte 4 of the BTH only."""

    leaked = frozenset({Field.CONGESTION, Field.RESERVED_6})


class MixesEngines(Engine):
    """S60: of two packets of different queue pairs in flight, each gets the other's ICRC."""

    looks_ahead = True
    _TOGETHER_NS = 2_000

    def run(self, packets: list[Outgoing]) -> list[bytes]:
        sent = [out.frame for out in packets]
        index = 0
        while index + 1 < len(packets):
            one, two = packets[index : index + 2]
            together = two.time_ns - one.time_ns <= self._TOGETHER_NS and one.flow != two.flow
            if together:
                sent[index : index + 2] = one.with_icrc(two.right), two.with_icrc(one.right)
            index += 2 if together else 1
        return sent


class MasksAgain(Engine):
    """S61: the counter that places the masks wraps, here after 64 beats of 8 bytes."""

    period: ClassVar[int] = 512

    def value(self, out: Outgoing) -> bytes:
        """With the masks once more in every further period."""
        fed = bytearray(masked_input(out.frame)[_PREFIX_BYTES:])
        for field in MASKED:
            for at, bits in bits_of(field, out.layout):
                for again in range(at + self.period, len(fed), self.period):
                    fed[again] |= bits
        return crc32(b"\xff" * _PREFIX_BYTES + fed).to_bytes(ICRC_BYTES, "little")


class MasksAgainEvery256(MasksAgain):
    """S61 with 32 beats of 8 bytes."""

    period = 256


class LacksIcrc(Engine):
    """S62: packets that do not end their message are four bytes shorter, by their lengths, too."""

    counts_it: ClassVar[bool] = False

    def frame(self, out: Outgoing) -> bytes:
        """Without the field on FIRST and MIDDLE."""
        row = OPCODES[out.frame[out.bth]]
        if row.position & Position.LAST:
            return out.frame
        sent = bytearray(out.frame[: out.body_end])
        if not self.counts_it:
            ip, udp = out.layout.ip, out.layout.udp
            for at in (ip + (2 if out.layout.version == 4 else 4), udp + 4):
                length = int.from_bytes(sent[at : at + 2], "big") - ICRC_BYTES
                sent[at : at + 2] = length.to_bytes(2, "big")
            if out.layout.version == 4:
                _renew_checksum(sent, ip)
        return bytes(sent).ljust(ETHERNET_MINIMUM, b"\0")


class LacksIcrcButCountsIt(LacksIcrc):
    """S62 where the lengths still have room for the field."""

    counts_it = True


class MisplacesTail(Engine):
    """S64: one tail of the last beat has its first byte in the table one place too far up."""

    width = 8
    needs_residue = True

    def value(self, out: Outgoing) -> bytes:
        """With that byte's part of the CRC shifted by one byte."""
        tail = bus_tail(out, self.width)
        if tail != self.residue or tail == 0:
            return out.right
        byte = out.frame[out.body_end - tail]
        wrong = contribution(byte, tail - 1) ^ contribution(byte, tail)
        return (int.from_bytes(out.right, "little") ^ wrong).to_bytes(ICRC_BYTES, "little")


class MisplacesTailOf64(MisplacesTail):
    """S64 on a bus of 64 bytes."""

    width = 64


def _renew_checksum(sent: bytearray, ip: int) -> None:
    sent[ip + 10 : ip + 12] = bytes(2)
    sent[ip + 10 : ip + 12] = checksum(bytes(sent[ip : ip + 20])).to_bytes(2, "big")
