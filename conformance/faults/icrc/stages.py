# SPDX-License-Identifier: BSD-2-Clause
"""What goes wrong around a healthy ICRC unit: leftovers, late edits, masks.

Each is a stage that is given the packet and the unit and says what is put into the field. What
a design leaves open is drawn, unless it is given.
"""

from random import Random
from typing import Any

from roceproof.conformance.faults.icrc.packet import ICRC_BYTES, Packet, set_checksum, set_lengths
from roceproof.conformance.faults.icrc.unit import IcrcUnit, View, right_mask


class Stage:
    """A healthy one; `random` draws what the hardware's design leaves open."""

    def __init__(self, random: Random, **design: Any) -> None:
        self.random = random
        self.setup()
        for name, value in design.items():
            setattr(self, name, value)

    def setup(self) -> None:
        """Draw the design."""

    def value(self, unit: IcrcUnit, packet: Packet) -> bytes:
        """The field of the next packet."""
        return unit.compute(packet)

    def leave(self, packet: Packet) -> None:
        """What becomes of the finished packet on its last steps."""


class Late(Stage):
    """The result is latched a packet too late."""

    def setup(self) -> None:
        self.before = bytes(ICRC_BYTES)

    def value(self, unit: IcrcUnit, packet: Packet) -> bytes:
        late, self.before = self.before, unit.compute(packet)
        return late


class NotSeeded(Stage):
    """The register goes on from the packet before."""

    def setup(self) -> None:
        self.register: int | None = None
        self.dummy = self.random.random() < 0.5

    def value(self, unit: IcrcUnit, packet: Packet) -> bytes:
        data = unit.fed(packet)
        if self.register is None:
            self.register = unit.register(data, unit.start)
        else:
            data = data if self.dummy else data[len(unit.prefix) :]
            self.register = unit.register(data, self.register)
        return unit.result(self.register)


class LaterEdit(Stage):
    """A stage behind the ICRC fills in a header field."""

    def setup(self) -> None:
        self.kind = self.random.choice(("ackreq", "pkey", "id", "psn"))
        self.per_flow = False
        self.seen: dict[bytes, bytes] = {}

    def value(self, unit: IcrcUnit, packet: Packet) -> bytes:
        bth, udp, ip = bytes(packet.bth), bytes(packet.udp), bytes(packet.ip)
        if self.kind == "ackreq":
            packet.bth[8] &= 0x7F
        elif self.kind == "pkey":
            packet.bth[2:4] = bytes(2)
        elif self.kind == "id" and packet.is_ipv4:
            self._before(packet, packet.ip, 4, 6)
        elif self.kind == "psn":
            self._before(packet, packet.bth, 9, 12)
        elif self.kind == "udp length":
            self._before(packet, packet.udp, 4, 6)
        value = unit.compute(packet)
        packet.bth[:], packet.udp[:], packet.ip[:] = bth, udp, ip
        return value

    def _before(self, packet: Packet, header: bytearray, start: int, end: int) -> None:
        """Put the packet before's field there."""
        flow = packet.ethernet + bytes(packet.bth[5:8]) if self.per_flow else b""
        now = bytes(header[start:end])
        header[start:end] = self.seen.get(flow, now)
        self.seen[flow] = now


class MaskLeaks(Stage):
    """The ones of the mask are in the header that leaves, or some of them."""

    def setup(self) -> None:
        self.only: frozenset[tuple[str, int]] | None = None

    def leave(self, packet: Packet) -> None:
        """What becomes of the finished packet."""
        for (name, at), bits in right_mask(header_view(packet)).items():
            if self.only is None or (name, at) in self.only:
                header = {"ip": packet.ip, "udp": packet.udp, "bth": packet.bth}[name]
                header[at] |= bits
        if self.only is not None and packet.is_ipv4:
            set_checksum(packet)


class MaskAgain(Stage):
    """The counter that ends the mask is too narrow, so that it is applied again."""

    def setup(self) -> None:
        self.window = self.random.choice((64, 128, 256, 512))

    def value(self, unit: IcrcUnit, packet: Packet) -> bytes:
        data = bytearray(unit.fed(packet))
        begin = len(unit.prefix)
        offsets = {"ip": 0, "udp": len(packet.ip), "bth": len(packet.ip) + 8}
        for base in range(self.window, len(data) - begin, self.window):
            for (name, at), bits in right_mask(header_view(packet)).items():
                place = begin + base + offsets[name] + at
                if place < len(data):
                    data[place] |= bits
        return unit.result(unit.register(bytes(data), unit.start))


class OnlyLast(Stage):
    """Only the last packet of a message gets an ICRC."""

    def setup(self) -> None:
        self.opcodes = frozenset(range(256))
        self.counts_it = False

    def value(self, unit: IcrcUnit, packet: Packet) -> bytes:
        if packet.opcode & 31 in (0, 1, 6, 7, 13, 14) and packet.opcode in self.opcodes:
            size = len(packet.udp) + len(packet.bth) + len(packet.behind_bth)
            if not self.counts_it:
                set_lengths(packet, size)
            return b""
        return unit.compute(packet)


class PartLatched(Stage):
    """Some bytes of the result register keep what they held."""

    def setup(self) -> None:
        self.held = bytes(ICRC_BYTES)
        self.places = self.random.choice(((2, 3), (3,), (0,), (0, 1), (1, 2)))
        self.wired = self.random.random() < 0.6

    def value(self, unit: IcrcUnit, packet: Packet) -> bytes:
        value = unit.compute(packet)
        mixed = bytes((self.held if at in self.places else value)[at] for at in range(ICRC_BYTES))
        if self.wired:
            self.held = value
        return mixed


def header_view(packet: Packet) -> View:
    """The headers themselves, to ask for their mask."""
    return View(packet, packet.ip, packet.udp, packet.bth, b"", b"", b"")
