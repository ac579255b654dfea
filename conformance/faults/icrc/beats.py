# SPDX-License-Identifier: BSD-2-Clause
"""What goes wrong with the beats of a data path: enables, tables, lanes, stalls."""

from roceproof.conformance.faults.icrc.packet import ICRC_BYTES, Packet
from roceproof.conformance.faults.icrc.stages import (
    Late,
    LaterEdit,
    MaskAgain,
    MaskLeaks,
    NotSeeded,
    OnlyLast,
    PartLatched,
    Stage,
    header_view,
)
from roceproof.conformance.faults.icrc.unit import IcrcUnit, right_mask


class Beats(Stage):
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


class WrongEnables(Beats):
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


class WrongLastTable(Beats):
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


class DeadLane(Beats):
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


class Stalls(Beats):
    """Under back-pressure a beat enters twice, or not at all."""

    def design(self) -> None:
        self.twice = self.random.random() < 0.6
        self.every = 0
        """If not 0, the packets of which one meets a stall, in its fifth beat behind the first."""
        self.sent = 0

    def value(self, unit: IcrcUnit, packet: Packet) -> bytes:
        dummy, data = self.covered(unit, packet)
        self.sent += 1
        if not self.sent % self.every if self.every else self.random.random() < 0.35:
            first = -self.lead(packet) % self.width
            beats = max(1, (len(data) - first) // self.width)
            beat_at = 4 if self.every else self.random.randrange(beats)
            at = first + beat_at * self.width
            beat = data[at : at + self.width]
            data = data[:at] + (beat * 2 if self.twice else b"") + data[at + self.width :]
        return self.finished(unit, dummy + data)


class NextBeat(Beats):
    """What of the ICRC falls into a beat of its own behind the last one is not right."""

    def design(self) -> None:
        self.width = self.random.choice((4, 8, 16, 32))
        self.from_frame = True
        self.kind = self.random.choice(("inverted", "stale", "zero", "shifted"))
        self.whole_too = False
        """Whether an ICRC that is a beat for itself is wrong, too."""
        self.before = bytes(ICRC_BYTES)

    def value(self, unit: IcrcUnit, packet: Packet) -> bytes:
        _, data = self.covered(unit, packet)
        value = unit.compute(packet)
        room = self.width - (len(data) + self.lead(packet)) % self.width
        if self.whole_too:
            room %= self.width
        if room >= ICRC_BYTES:
            self.before = value
            return value
        own, over = value[:room], value[room:]
        sent = packet.in_front + packet.ip + packet.udp + packet.bth + packet.behind_bth
        wrong = {
            "lanes": sent[len(sent) + room - self.width :][: len(over)],
            "inverted": bytes(byte ^ 255 for byte in over),
            "stale": self.before[room:],
            "zero": bytes(len(over)),
            "shifted": value[: len(over)],
        }[self.kind]
        self.before = value
        return own + wrong


MEMORY_FAULTS: dict[str, type[Stage]] = {
    "S53": Late,
    "S54": NotSeeded,
    "S55": LaterEdit,
    "S56": MaskLeaks,
    "S57": WrongEnables,
    "S58": DeadLane,
    "S59": Stalls,
    "S61": MaskAgain,
    "S62": OnlyLast,
    "S63": PartLatched,
    "S64": WrongLastTable,
    "S66": NextBeat,
}
"""Stages by the signature that they deserve."""
