# SPDX-License-Identifier: BSD-2-Clause
"""What goes wrong around a healthy ICRC unit: leftovers, late edits, masks.

Each is a stage that is given the packet and the unit and says what is put into the field.
"""

from __future__ import annotations

from random import Random

from roceproof.conformance.calibration.icrc_unit import IcrcUnit, View, right_mask
from roceproof.conformance.calibration.packet import ICRC_BYTES, Packet, set_lengths


class Stage:
    """A healthy one; `random` draws what the hardware's design leaves open."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.setup()

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
        self.seen: dict[int, bytes] = {}

    def value(self, unit: IcrcUnit, packet: Packet) -> bytes:
        bth, ip = bytes(packet.bth), bytes(packet.ip)
        if self.kind == "ackreq":
            packet.bth[8] &= 0x7F
        elif self.kind == "pkey":
            packet.bth[2:4] = bytes(2)
        elif self.kind == "id" and packet.is_ipv4:
            packet.ip[4:6] = self.seen.get(0, ip[4:6])
            self.seen[0] = ip[4:6]
        elif self.kind == "psn":
            packet.bth[9:12] = self.seen.get(0, bth[9:12])
            self.seen[0] = bth[9:12]
        value = unit.compute(packet)
        packet.bth[:], packet.ip[:] = bth, ip
        return value


class MaskLeaks(Stage):
    """The ones of the mask are in the header that leaves."""

    def leave(self, packet: Packet) -> None:
        """What becomes of the finished packet."""
        for (name, at), bits in right_mask(header_view(packet)).items():
            header = {"ip": packet.ip, "udp": packet.udp, "bth": packet.bth}[name]
            header[at] |= bits


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

    def value(self, unit: IcrcUnit, packet: Packet) -> bytes:
        if packet.opcode & 31 in (0, 1, 6, 7, 13, 14):
            size = len(packet.udp) + len(packet.bth) + len(packet.behind_bth)
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
