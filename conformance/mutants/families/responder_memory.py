# SPDX-License-Identifier: BSD-2-Clause
"""Responders with faults in keys, ranges and rights, in what they write, and in immediate data."""

from dataclasses import replace
from typing import Any

from roceproof.conformance.model.components import Components
from roceproof.conformance.model.memory import OWN_DOMAIN, Memory, Region
from roceproof.conformance.model.receive_queue import Receive
from roceproof.conformance.model.responder.connected import ACCESS, OpenMessage, Refusal
from roceproof.conformance.model.responder.rc import RcResponder
from roceproof.conformance.model.segment import Segment
from roceproof.conformance.mutants.faulty import faulty_rc_responder
from roceproof.conformance.mutants.wire import model_mutant
from roceproof.conformance.wire.headers import Reth
from roceproof.conformance.wire.opcodes import Family, Opcode, Position

_KEY_TAG_BITS = 8
_ADDRESSES = 1 << 64
_LOW_HALF = (1 << 32) - 1
_BEAT = 8
_PAGE = 4096


@faulty_rc_responder("rc-key-of-nothing-checked", expected=["RETH-05"])
class KeyOfNothingChecked(RcResponder):
    """The key of a request for no bytes is checked as any other."""

    def check_access(self, rkey: int, address: int, length: int, right: str) -> Refusal | None:
        region = self.memory.permitted(rkey, address, length, right=right)
        return None if region is not None else ACCESS


class TaglessMemory(Memory):
    """Memory that finds a region by its key's index alone."""

    def region(self, rkey: int) -> Region | None:
        index = rkey >> _KEY_TAG_BITS
        return super().region(index << _KEY_TAG_BITS)


@model_mutant("port-key-tag-ignored", expected=["RETH-06"])
def key_tag_ignored() -> Components:
    """Only a key's index is looked up; its low byte, the tag, is not compared."""
    return Components(memory=TaglessMemory)


@faulty_rc_responder("rc-range-per-packet", expected=["RETH-07"])
class RangePerPacket(RcResponder):
    """The range is checked packet by packet, so that a FIRST may begin what cannot end."""

    def check_memory(self, request: Segment, row: Opcode) -> Refusal | None:
        if row.family is not Family.WRITE:
            return super().check_memory(request, row)
        message = self.message_of(request, row)
        at = message.address + message.done
        return self.check_access(message.rkey, at, len(request.payload), "remote_write")


@faulty_rc_responder("rc-address-wraps", expected=["RETH-08"])
class AddressWraps(RcResponder):
    """The end of a range is computed in 64 bits."""

    def check_access(self, rkey: int, address: int, length: int, right: str) -> Refusal | None:
        if address + length > _ADDRESSES:
            return None
        return super().check_access(rkey, address, length, right)

    def place(self, message: OpenMessage, data: bytes) -> None:
        if message.address + len(data) <= _ADDRESSES:
            super().place(message, data)


@faulty_rc_responder("rc-page-wraps", expected=["RETH-12"])
class PageWraps(RcResponder):
    """Addresses count in 12 bits, so that a packet wraps where a page of 4 KiB ends."""

    def place(self, message: OpenMessage, data: bytes) -> None:
        address = message.address + message.done
        room = _PAGE - address % _PAGE
        region = self.memory.region(message.rkey)
        if message.family is not Family.WRITE or region is None or len(data) <= room:
            super().place(message, data)
            return
        super().place(message, data[:room])
        region.write(max(address - address % _PAGE - region.addr, 0), data[room:])
        message.done += len(data) - room
        message.left -= len(data) - room


@faulty_rc_responder("rc-left-in-12-bits", expected=["RETH-11"])
class LeftIn12Bits(RcResponder):
    """What is left of a message is kept in 12 bits."""

    def place(self, message: OpenMessage, data: bytes) -> None:
        super().place(message, data)
        message.left %= 1 << 12


@faulty_rc_responder("rc-rights-not-checked", expected=["RETH-09"])
class RightsNotChecked(RcResponder):
    """A region may be accessed in any way."""

    def check_access(self, rkey: int, address: int, length: int, right: str) -> Refusal | None:
        region = self.memory.region(rkey)
        is_right = region is not None and right not in region.access and region.domain == OWN_DOMAIN
        if region is not None and is_right and region.holds(address, length):
            return None
        return super().check_access(rkey, address, length, right)


@faulty_rc_responder("rc-domain-not-compared", expected=["RETH-10"])
class DomainNotCompared(RcResponder):
    """Keys of other protection domains do, too."""

    def check_access(self, rkey: int, address: int, length: int, right: str) -> Refusal | None:
        region = self.memory.region(rkey)
        domain = OWN_DOMAIN if region is None else region.domain
        found = self.memory.permitted(rkey, address, length, right=right, domain=domain)
        return ACCESS if length and found is None else None


@faulty_rc_responder("rc-domain-not-compared-to-kill", expected=["RETH-10"])
class DomainNotComparedToKill(RcResponder):
    """SEND with invalidate makes keys of other protection domains invalid, too."""

    def can_invalidate(self, rkey: int) -> bool:
        return self.memory.region(rkey) is not None


@faulty_rc_responder("rc-short-write-accepted", expected=["RETH-11"])
class ShortWriteAccepted(RcResponder):
    """A WRITE that ends before DMALen is complete."""

    def check_dma_length(self, request: Segment, row: Opcode, left: int) -> Refusal | None:
        is_short = row.position & Position.LAST and len(request.payload) < left
        return None if is_short else super().check_dma_length(request, row, left)


@faulty_rc_responder("rc-long-write-accepted", expected=["RETH-11", "FUZZ-04"])
class LongWriteAccepted(RcResponder):
    """Nothing counts the bytes of a WRITE; they go where the address leads."""

    def check_dma_length(self, request: Segment, row: Opcode, left: int) -> Refusal | None:
        is_long = len(request.payload) > left
        return None if is_long else super().check_dma_length(request, row, left)


@faulty_rc_responder("rc-last-beat-whole", expected=["RETH-12"])
class LastBeatWhole(RcResponder):
    """The byte enables of the last beat are all set."""

    def place(self, message: OpenMessage, data: bytes) -> None:
        end = message.address + message.done + len(data)
        super().place(message, data)
        region = self.memory.region(message.rkey)
        if message.family is Family.WRITE and data and region is not None:
            spill = min(-end % _BEAT, region.addr + region.size - end)
            region.write(end - region.addr, bytes(spill))


@faulty_rc_responder("rc-address-of-32-bits", expected=["FUZZ-08", "FUZZ-02"])
class AddressOf32Bits(RcResponder):
    """The upper half of a WRITE's address is that of the region, whatever the RETH says."""

    def accept(self, request: Segment, network_header: bytes = b"") -> None:
        reth, row = request.extension(Reth), request.row
        region = self.memory.region(reth.rkey) if reth is not None else None
        if reth is not None and region is not None and row is not None:
            address = region.addr & ~_LOW_HALF | reth.address & _LOW_HALF
            others = tuple(h for h in request.extensions if not isinstance(h, Reth))
            request = replace(request, extensions=(replace(reth, address=address), *others))
        super().accept(request, network_header)


class _Completing(RcResponder):
    def completed(self, **fields: Any) -> dict[str, Any]:
        raise NotImplementedError

    def complete(self, receive: Receive, status: str, **fields: Any) -> None:
        super().complete(receive, status, **self.completed(**fields))


@faulty_rc_responder("rc-immediate-swapped", expected=["IMM-02"])
class ImmediateSwapped(_Completing):
    """The host reads immediate data as a number of its own byte order."""

    def completed(self, **fields: Any) -> dict[str, Any]:
        value = fields.get("immediate")
        if value is not None:
            fields["immediate"] = int.from_bytes(value.to_bytes(4, "big"), "little")
        return fields


@faulty_rc_responder("rc-length-of-last-packet", expected=["IMM-04"])
class LengthOfLastPacket(_Completing):
    """The completion of an immediate WRITE says how long its last packet was."""

    def completed(self, **fields: Any) -> dict[str, Any]:
        if fields.get("immediate") is not None and fields.get("byte_len"):
            fields["byte_len"] = (fields["byte_len"] - 1) % self.spec.path_mtu + 1
        return fields


@faulty_rc_responder("rc-empty-immediate-write-lost", expected=["IMM-05"])
class EmptyImmediateWriteLost(RcResponder):
    """An immediate WRITE of no bytes ends where there is nothing to write."""

    def complete(self, receive: Receive, status: str, **fields: Any) -> None:
        if fields.get("byte_len") != 0 or fields.get("immediate") is None:
            super().complete(receive, status, **fields)
