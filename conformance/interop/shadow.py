# SPDX-License-Identifier: BSD-2-Clause
"""What a device's memory must hold, and its answers say, by the frames alone that came to it."""

from typing import NamedTuple

from roceproof.conformance.wire.codec import Packet
from roceproof.conformance.wire.headers import AtomicAckEth, AtomicEth
from roceproof.conformance.wire.opcodes import OPCODES, Family, Opcode, Position
from roceproof.conformance.wire.operations import operations_of
from roceproof.conformance.wire.psn import PSN_MODULUS, packet_count
from roceproof.verbs.work import Op, Region

_WORD = 8


class _Message(NamedTuple):
    psn: int
    at: int  # its first byte in the region


class Shadow:
    """One region beside one queue pair. `places` has where each SEND's bytes must lie."""

    def __init__(self, region: Region, path_mtu: int, places: list[int]) -> None:
        self.wrong = ""
        self._region = region
        self._memory = bytearray(region.read(0, region.size))
        self._path_mtu = path_mtu
        self._places = places
        self._sends: dict[int, int] = {}  # first PSN and number
        self._reads: list[tuple[_Message, int]] = []  # with packets
        self._originals: dict[int, int] = {}  # of atomics, by PSN
        self._open = _Message(0, 0)

    def came(self, packet: Packet) -> None:
        """A request to the device."""
        row = OPCODES.get(packet.bth.opcode)
        if row is None or row.is_response:
            return
        psn, reth = packet.bth.psn, packet.reth
        atomic = packet.extension(AtomicEth)
        if atomic is not None:
            self._atomic(row, psn, atomic)
        elif row.family is Family.READ and reth is not None:
            message = _Message(psn, reth.address - self._region.addr)
            self._reads.append((message, packet_count(reth.length, self._path_mtu)))
        else:
            if row.position & Position.FIRST:
                at = self._place(psn) if reth is None else reth.address - self._region.addr
                self._open = _Message(psn, at)
            self._store(self._open, psn, packet.payload)

    def left(self, packet: Packet) -> None:
        """An answer of the device."""
        original = packet.extension(AtomicAckEth)
        psn = packet.bth.psn
        if original is not None and original.original != self._originals.get(psn):
            self._accuse(f"the atomic with PSN {psn:#x} returned {original.original:#x}")
        row = OPCODES.get(packet.bth.opcode)
        if row is None or not row.is_response or not packet.payload:
            return
        for message, count in self._reads:
            number = (psn - message.psn) % PSN_MODULUS
            if number < count:
                at = message.at + number * self._path_mtu
                if packet.payload != self._memory[at : at + len(packet.payload)]:
                    self._accuse(f"the READ response with PSN {psn:#x} has other bytes than memory")

    def lack(self, holes: int = 0) -> str:
        """What is wrong now; the first `holes` bytes before each SEND's are anybody's."""
        actual = bytearray(self._region.read(0, self._region.size))
        for place in self._places:
            actual[place - holes : place] = self._memory[place - holes : place]
        if actual != self._memory:
            first = next(at for at, each in enumerate(actual) if each != self._memory[at])
            self._accuse(f"memory is not what was sent, from byte {first} on")
        return self.wrong

    def _place(self, psn: int) -> int:
        number = self._sends.setdefault(psn, len(self._sends))
        return self._places[number] if number < len(self._places) else len(self._memory)

    def _store(self, message: _Message, psn: int, data: bytes) -> None:
        at = message.at + (psn - message.psn) % PSN_MODULUS * self._path_mtu
        if 0 <= at <= len(self._memory) - len(data):
            self._memory[at : at + len(data)] = data

    def _atomic(self, row: Opcode, psn: int, atomic: AtomicEth) -> None:
        if psn in self._originals:
            return  # a copy, which changes nothing
        at = atomic.address - self._region.addr
        if not 0 <= at <= len(self._memory) - _WORD:
            return  # no device may execute it
        held = int.from_bytes(self._memory[at : at + _WORD], "little")
        self._originals[psn] = held
        changed = (held + atomic.swap_or_add) % (1 << 8 * _WORD)
        if Op.CMP_SWAP in operations_of(row):
            changed = atomic.swap_or_add if held == atomic.compare else held
        self._memory[at : at + _WORD] = changed.to_bytes(_WORD, "little")

    def _accuse(self, what: str) -> None:
        self.wrong = self.wrong or what
