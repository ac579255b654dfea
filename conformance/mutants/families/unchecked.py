# SPDX-License-Identifier: BSD-2-Clause
"""Faults that no case is about and every case shows: work that comes otherwise than asked for."""

from roceproof.conformance.mutants.frames import bth_of, edited, request_of, with_bth
from roceproof.conformance.mutants.wire import WireFault, wire_mutant
from roceproof.conformance.wire.frame_edits import checksummed, layout_of, set_ip
from roceproof.conformance.wire.framing import ICRC_BYTES
from roceproof.conformance.wire.opcodes import OPCODES, Position

_IDENT, _SOURCE = 4, 12
_BUFFERED = 64  # packets
_WIRED_IN = bytes((192, 168, 1))


@wire_mutant("unaligned-never-leaves", expected=["LIVE-01"])
class UnalignedNeverLeaves(WireFault):
    """A packet whose payload is no multiple of four bytes never leaves."""

    def sent(self, frame: bytes, time_ns: int) -> list[bytes]:
        bth = bth_of(frame)
        return [] if bth is not None and bth.pad_count else [frame]


@wire_mutant("ack-not-asked-for-with-immediate", expected=["ACK-02"])
class NotAskedForWithImmediate(WireFault):
    """The last packet of a message with immediate does not ask for its ACK."""

    def sent(self, frame: bytes, time_ns: int) -> list[bytes]:
        bth = request_of(frame)
        row = OPCODES.get(bth.opcode) if bth is not None else None
        has_immediate = row is not None and row.name.endswith("IMM")
        return [with_bth(frame, ack_req=False) if has_immediate else frame]


@wire_mutant("payload-buffer-wraps-early", expected=["RETH-13"])
class BufferWrapsEarly(WireFault):
    """Behind 64 packets of a message its payload is that of a buffer which has wrapped."""

    _packets = 0

    def sent(self, frame: bytes, time_ns: int) -> list[bytes]:
        bth = request_of(frame)
        row = OPCODES.get(bth.opcode) if bth is not None else None
        if row is None or row.is_response:
            return [frame]
        self._packets = 1 if row.position & Position.FIRST else self._packets + 1
        if self._packets <= _BUFFERED:
            return [frame]

        def spoil(changed: bytearray) -> None:
            changed[layout_of(changed).end - ICRC_BYTES - 4] ^= 0x55

        return [edited(frame, spoil)]


@wire_mutant("ip-id-of-the-message", expected=["LIVE-02"])
class IdOfTheMessage(WireFault):
    """All packets of a message have the identification of its first."""

    _ident = b""

    def sent(self, frame: bytes, time_ns: int) -> list[bytes]:
        bth = request_of(frame)
        row = OPCODES.get(bth.opcode) if bth is not None else None
        if row is None or layout_of(frame).version != 4:
            return [frame]
        at = layout_of(frame).ip + _IDENT
        if row.position & Position.FIRST:
            self._ident = frame[at : at + 2]
            return [frame]
        return [edited(frame, checksummed(set_ip(_IDENT, self._ident)))]


@wire_mutant("own-ip-of-a-wired-in-network", expected=["IP-08"])
class OwnIpOfAWiredInNetwork(WireFault):
    """Of its own address the device only has the last byte; the network is wired in."""

    def sent(self, frame: bytes, time_ns: int) -> list[bytes]:
        if bth_of(frame) is None or layout_of(frame).version != 4:
            return [frame]
        return [edited(frame, checksummed(set_ip(_SOURCE, _WIRED_IN)))]


@wire_mutant("own-mac-wired-in", expected=["ETH-05"])
class OwnMacWiredIn(WireFault):
    """The device's own MAC is wired in."""

    def sent(self, frame: bytes, time_ns: int) -> list[bytes]:
        if bth_of(frame) is None:
            return [frame]
        return [frame[:6] + bytes.fromhex("020000000001") + frame[12:]]
