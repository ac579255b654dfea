# SPDX-License-Identifier: BSD-2-Clause
"""Faults in RETH, immediate data and the payload behind them."""

from dataclasses import replace

from roceproof.conformance.model.requester.rc import RcRequester
from roceproof.conformance.mutants.families.messages import RequestPacket, position_of, with_length
from roceproof.conformance.mutants.faulty import faulty_rc_requester
from roceproof.conformance.mutants.frames import edited, inserted, removed
from roceproof.conformance.mutants.wire import wire_mutant
from roceproof.conformance.wire.codec import Packet
from roceproof.conformance.wire.frame_edits import set_udp
from roceproof.conformance.wire.headers import Ieth, ImmDt, Reth
from roceproof.conformance.wire.opcodes import Position
from roceproof.verbs.work import Work

_BEHIND_BTH = 20  # from the UDP header
_WRITE_ONLY_IMM = 0x0B
_ADDRESSES = 1 << 64


@wire_mutant("reth-address-words-swapped", expected=["RETH-04"])
class AddressWordsSwapped(RequestPacket):
    """The two words of the address change places."""

    def changed(self, frame: bytes, packet: Packet) -> list[bytes]:
        if packet.reth is None:
            return [frame]
        address = packet.reth.address.to_bytes(8, "big")
        return [edited(frame, set_udp(_BEHIND_BTH, address[4:] + address[:4]))]


@wire_mutant("reth-length-of-first-packet", expected=["RETH-02"])
class LengthOfFirstPacket(RequestPacket):
    """The length in the RETH is that of the first packet."""

    def changed(self, frame: bytes, packet: Packet) -> list[bytes]:
        is_first = packet.reth is not None and position_of(packet) is Position.FIRST
        return [with_length(frame, len(packet.payload)) if is_first else frame]


@wire_mutant("reth-on-all-packets", expected=["RETH-03"])
class RethOnAllPackets(RequestPacket):
    """The RETH stays in the header pipeline until the message ends."""

    def __init__(self) -> None:
        self._latest: dict[int, Reth] = {}

    def changed(self, frame: bytes, packet: Packet) -> list[bytes]:
        qpn = packet.bth.dest_qpn
        if packet.reth is not None:
            self._latest[qpn] = packet.reth
        reth = self._latest.get(qpn)
        if Position.LAST in position_of(packet):
            self._latest.pop(qpn, None)
        if packet.reth is not None or reth is None:
            return [frame]
        return [edited(frame, inserted(_BEHIND_BTH, reth.pack()))]


@wire_mutant("reth-address-goes-on", expected=["RETH-01", "RETH-04"])
class AddressGoesOn(RequestPacket):
    """The address counts up with the payload, and a new message does not load its own."""

    def __init__(self) -> None:
        self._next: dict[int, int] = {}

    def changed(self, frame: bytes, packet: Packet) -> list[bytes]:
        reth, qpn = packet.reth, packet.bth.dest_qpn
        if reth is None:
            return [frame]
        address = self._next.get(qpn, reth.address)
        self._next[qpn] = (address + reth.length) % _ADDRESSES
        return [edited(frame, set_udp(_BEHIND_BTH, address.to_bytes(8, "big")))]


@faulty_rc_requester("reth-source-one-lane-late", expected=["RETH-13"])
class SourceOneLaneLate(RcRequester):
    """Payload from an odd lane of the bus is aligned one lane too far."""

    def post(self, work: Work) -> None:
        late = work.data[1:] + b"\0" if work.offset % 2 and work.data else work.data
        super().post(replace(work, data=late))


@wire_mutant("imm-in-front-of-reth", expected=["IMM-01"])
class ImmInFrontOfReth(RequestPacket):
    """Immediate data stand behind the BTH, whatever else does."""

    def changed(self, frame: bytes, packet: Packet) -> list[bytes]:
        immediate = packet.extension(ImmDt)
        if packet.reth is None or immediate is None:
            return [frame]
        return [edited(frame, set_udp(_BEHIND_BTH, immediate.pack() + packet.reth.pack()))]


@wire_mutant("imm-in-processor-order", expected=["IMM-02"])
class ImmInProcessorOrder(RequestPacket):
    """Immediate data go through a register of 32 bits, which turns them around."""

    def changed(self, frame: bytes, packet: Packet) -> list[bytes]:
        immediate = packet.extension(ImmDt)
        if immediate is None:
            return [frame]
        at = _BEHIND_BTH + sum(h.SIZE for h in packet.extensions) - ImmDt.SIZE
        return [edited(frame, set_udp(at, immediate.pack()[::-1]))]


@wire_mutant("imm-slot-in-every-packet", expected=["IMM-03"])
class ImmSlotInEveryPacket(RequestPacket):
    """FIRST and MIDDLE have a slot for immediate data, too."""

    def changed(self, frame: bytes, packet: Packet) -> list[bytes]:
        if Position.LAST in position_of(packet):
            return [frame]
        at = _BEHIND_BTH + sum(header.SIZE for header in packet.extensions)
        return [edited(frame, inserted(at, bytes(ImmDt.SIZE)))]


@wire_mutant("imm-empty-write-without-address", expected=["IMM-05", "RETH-01"])
class EmptyWriteWithoutAddress(RequestPacket):
    """A WRITE of no bytes has no RETH, since there is nothing to write."""

    def changed(self, frame: bytes, packet: Packet) -> list[bytes]:
        is_only = packet.bth.opcode & 0x1F == _WRITE_ONLY_IMM
        is_hit = is_only and packet.reth is not None and packet.reth.length == 0
        return [edited(frame, removed(_BEHIND_BTH, Reth.SIZE)) if is_hit else frame]


@wire_mutant("imm-of-newest-on-copies", expected=["IMM-06"])
class ImmOfNewestOnCopies(RequestPacket):
    """A packet that is sent again takes the immediate data of the newest work request."""

    def __init__(self) -> None:
        self._seen: set[int] = set()
        self._newest = b""

    def changed(self, frame: bytes, packet: Packet) -> list[bytes]:
        immediate = packet.extension(ImmDt)
        if immediate is None:
            return [frame]
        if packet.bth.psn not in self._seen:
            self._seen.add(packet.bth.psn)
            self._newest = immediate.pack()
        at = _BEHIND_BTH + sum(h.SIZE for h in packet.extensions) - ImmDt.SIZE
        return [edited(frame, set_udp(at, self._newest))]


@wire_mutant("inv-key-in-processor-order", expected=["INV-01"])
class KeyInProcessorOrder(RequestPacket):
    """The key to invalidate goes through a register of 32 bits, which turns it around."""

    def changed(self, frame: bytes, packet: Packet) -> list[bytes]:
        key = packet.extension(Ieth)
        return [frame if key is None else edited(frame, set_udp(_BEHIND_BTH, key.pack()[::-1]))]
