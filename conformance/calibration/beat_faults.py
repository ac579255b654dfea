# SPDX-License-Identifier: BSD-2-Clause
"""What goes wrong with the beats of a data path: enables, tables, lanes, stalls."""

from __future__ import annotations

from roceproof.conformance.calibration.icrc_unit import IcrcUnit, right_mask
from roceproof.conformance.calibration.memory_faults import Stage, header_view
from roceproof.conformance.calibration.packet import ICRC_BYTES, Packet


class _Beats(Stage):
    def setup(self) -> None:
        self.width = self.random.choice((8, 16, 32, 64))
        self.from_frame = self.random.random() < 0.6
        self.place = self.random.randrange(1, self.width)
        self.design()

    def design(self) -> None:
        """Draw the rest."""

    def lead(self, packet: Packet) -> int:
        """Bytes of beats in front of the IP header."""
        return len(packet.in_front) if self.from_frame else 0

    def covered(self, unit: IcrcUnit, packet: Packet) -> tuple[bytes, bytes]:
        """Dummy bytes and what follows."""
        data = unit.fed(packet)
        return data[: len(unit.prefix)], data[len(unit.prefix) :]

    def finished(self, unit: IcrcUnit, data: bytes) -> bytes:
        """The field for that input."""
        return unit.result(unit.register(data, unit.start))


class WrongEnables(_Beats):
    """With one remainder, the byte enables of the last beat are wrong."""

    def design(self) -> None:
        self.change = self.random.choice((-1, -1, -2, 1, "full"))

    def value(self, unit: IcrcUnit, packet: Packet) -> bytes:
        dummy, data = self.covered(unit, packet)
        rest = (len(data) + self.lead(packet)) % self.width
        if rest == self.place:
            if self.change == "full":
                data += bytes(self.width - rest)
            elif isinstance(self.change, int) and self.change > 0:
                data += bytes(self.change)
            elif isinstance(self.change, int):
                data = data[: self.change]
        return self.finished(unit, dummy + data)


class WrongLastTable(_Beats):
    """With one remainder, the table of one of the last bytes has wrong columns."""

    def design(self) -> None:
        self.behind = self.random.randrange(self.place)
        self.columns = [
            self.random.getrandbits(32) if self.random.random() < 0.7 else 0 for _ in range(8)
        ]
        self.columns[self.random.randrange(8)] = 0x8001

    def value(self, unit: IcrcUnit, packet: Packet) -> bytes:
        _, data = self.covered(unit, packet)
        right = unit.compute(packet)
        mistaken = (len(data) + self.lead(packet)) % self.width == self.place
        if not mistaken or self.behind >= len(data):  # the beat begins in the Ethernet header
            return right
        byte, error = data[-1 - self.behind], 0
        for bit, column in enumerate(self.columns):
            error ^= column if byte >> bit & 1 else 0
        return (int.from_bytes(right, "little") ^ error).to_bytes(4, "little")


class DeadLane(_Beats):
    """One byte lane of the bus never reaches the CRC."""

    def design(self) -> None:
        self.stuck = self.random.choice((0, 0, 255))
        self.before_mask = self.random.random() < 0.5

    def value(self, unit: IcrcUnit, packet: Packet) -> bytes:
        dummy, data = self.covered(unit, packet)
        masked = bytearray(data)
        for at in range((self.place - self.lead(packet)) % self.width, len(data), self.width):
            masked[at] = self.stuck
        if self.before_mask:
            offsets = {"ip": 0, "udp": len(packet.ip), "bth": len(packet.ip) + 8}
            for (name, at), bits in right_mask(header_view(packet)).items():
                masked[offsets[name] + at] |= bits
        return self.finished(unit, dummy + bytes(masked))


class Stalls(_Beats):
    """Under back-pressure a beat enters twice, or not at all."""

    def design(self) -> None:
        self.twice = self.random.random() < 0.6

    def value(self, unit: IcrcUnit, packet: Packet) -> bytes:
        dummy, data = self.covered(unit, packet)
        if self.random.random() < 0.35:
            first = -self.lead(packet) % self.width
            beats = max(1, (len(data) - first) // self.width)
            at = first + self.random.randrange(beats) * self.width
            beat = data[at : at + self.width]
            data = data[:at] + (beat * 2 if self.twice else b"") + data[at + self.width :]
        return self.finished(unit, dummy + data)


class NextBeat(_Beats):
    """What of the ICRC falls into a beat of its own behind the last one is not right."""

    def design(self) -> None:
        self.width = self.random.choice((4, 8, 16, 32))
        self.from_frame = True
        self.kind = self.random.choice(("inverted", "stale", "zero", "shifted"))
        self.before = bytes(ICRC_BYTES)

    def value(self, unit: IcrcUnit, packet: Packet) -> bytes:
        _, data = self.covered(unit, packet)
        value = unit.compute(packet)
        room = self.width - (len(data) + self.lead(packet)) % self.width
        if not 0 < room < ICRC_BYTES:
            self.before = value
            return value
        own, over = value[:room], value[room:]
        wrong = {
            "inverted": bytes(byte ^ 255 for byte in over),
            "stale": self.before[room:],
            "zero": bytes(len(over)),
            "shifted": value[: len(over)],
        }[self.kind]
        self.before = value
        return own + wrong
