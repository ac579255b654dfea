# SPDX-License-Identifier: BSD-2-Clause
"""Rules over the request packets of one QP: PSN, opcode sequence, lengths.

The path MTU is learnt from the first FIRST where it is not given. A capture
may begin anywhere, and after a packet that could not be judged the flow picks
up again at its PSN, so one fault gives one finding.
"""

from __future__ import annotations

from dataclasses import dataclass
from zlib import crc32

from roceproof.conformance.codec import Packet
from roceproof.conformance.findings import Violation
from roceproof.conformance.headers import Ieth, ImmDt, Reth
from roceproof.conformance.opcodes import Family, Opcode, Position, Transport, name_of

PSN_MODULUS = 1 << 24
PATH_MTUS = (256, 512, 1024, 2048, 4096)
_KEPT_FOR_COPIES = 1 << 16


@dataclass
class _Message:
    """A message whose LAST has not been seen; `length` is what its RETH promises."""

    family: Family
    reth: Reth | None
    length: int | None
    carried: int = 0
    mixed: bool = False


class RequestFlow:
    """The state of one (source, destination, destination QPN)."""

    def __init__(self, path_mtu: int | None = None) -> None:
        self._path_mtu = path_mtu
        self._transport: Transport | None = None
        self._sport: int | None = None
        self._next_psn: int | None = None
        self._sent: dict[int, tuple[int, int]] = {}
        self._message: _Message | None = None
        self._in_doubt = True  # whether a message is open is not known
        self._found: list[Violation] = []

    def check(self, packet: Packet, row: Opcode) -> list[Violation]:
        """Judge the next request packet of the flow."""
        self._found = []
        if self._sport is None:
            self._sport = packet.udp_sport
        elif packet.udp_sport != self._sport:
            self._report("UDP-04", f"source port {self._sport}", str(packet.udp_sport))
        if self._transport is None:
            self._transport = row.transport
        elif row.transport is not self._transport:
            self._report("BTH-01", f"an opcode of {self._transport.name}", row.name)
            self.resync(packet)
            return self._found
        if row.transport not in (Transport.RC, Transport.UC):
            return self._found
        if not self._is_copy(packet, row):
            self._check_sequence(packet, row)
            self._check_lengths(packet, row)
            self._advance(packet, row)
        return self._found

    def resync(self, packet: Packet) -> None:
        """Pick up behind a packet that cannot be judged."""
        self._next_psn = (packet.bth.psn + 1) % PSN_MODULUS
        self._message = None
        self._in_doubt = True

    def _report(self, rule: str, expected: str, got: str) -> None:
        self._found.append(Violation(rule, expected, got))

    # PSN

    def _is_copy(self, packet: Packet, row: Opcode) -> bool:
        """Whether an RC packet repeats one already seen; PSN faults are reported here."""
        psn, expected = packet.bth.psn, self._next_psn
        identity = (row.value, crc32(packet.payload))
        if expected is not None and psn != expected:
            if row.transport is Transport.RC and self._sent.get(psn) == identity:
                return True
            self._report(self._psn_rule(psn, expected), f"PSN {expected:#08x}", f"{psn:#08x}")
            self._message = None
            self._in_doubt = True
        self._sent[psn] = identity
        self._sent.pop((psn - _KEPT_FOR_COPIES) % PSN_MODULUS, None)
        return False

    def _psn_rule(self, psn: int, expected: int) -> str:
        wrapped_early = expected % (1 << 16) == 0 and psn == (expected - 1) & 0xFF0000
        if expected == 0 or wrapped_early:
            return "PSN-03"
        return "PSN-18" if self._transport is Transport.UC else "PSN-02"

    def _advance(self, packet: Packet, row: Opcode) -> None:
        span: int | None = 1
        if row.family is Family.READ:
            reth = packet.reth
            span = None
            if reth is not None and self._path_mtu is not None:
                span = max(1, -(-reth.length // self._path_mtu))
        self._next_psn = None if span is None else (packet.bth.psn + span) % PSN_MODULUS

    # opcode sequence

    def _check_sequence(self, packet: Packet, row: Opcode) -> None:
        message = self._message
        if row.position & Position.FIRST:
            if message is not None:
                ends_it = row.family is message.family and any(
                    kind in row.headers for kind in (ImmDt, Ieth)
                )
                wanted = f"MIDDLE or LAST of the open {message.family.name}"
                self._report("OPC-02" if ends_it else "OPC-03", wanted, row.name)
            self._in_doubt = False
            reth = packet.reth
            self._message = _Message(row.family, reth, reth.length if reth else None)
        elif message is None:
            if not self._in_doubt:
                self._report("OPC-01", "FIRST or ONLY", row.name)
            self._in_doubt = True
        elif row.family is not message.family and not message.mixed:
            self._report("OPC-05", f"{message.family.name} opcode", row.name)
            message.mixed = True
            message.length = None

    # lengths

    def _check_lengths(self, packet: Packet, row: Opcode) -> None:
        size = len(packet.payload)
        match row.position:
            case Position.ONLY:
                self._check_only(packet, row, size)
                self._message = None
            case Position.FIRST:
                size = self._check_full(packet, "MTU-01", size)
                self._open(size)
            case Position.MIDDLE:
                size = self._check_full(packet, "MTU-02", size)
                self._carry_middle(row, size)
            case Position.LAST:
                self._check_last(packet, size)
                self._message = None
                self._in_doubt = False

    def _check_only(self, packet: Packet, row: Opcode, size: int) -> None:
        limit = self._path_mtu or PATH_MTUS[-1]
        reth = packet.reth
        if not row.payload.admits(size, limit):
            self._report("MTU-04", f"{row.payload.value} with P = {limit}", f"{size} bytes")
        elif reth is not None and row.family is Family.WRITE and reth.length != size:
            padded = -(-reth.length // 4) * 4 == size + len(packet.pad)
            if padded:
                self._report("PAD-01", f"PadCnt {-reth.length % 4}", str(packet.bth.pad_count))
            else:
                self._report("MTU-07", f"{reth.length} bytes as in RETH", f"{size} bytes")

    def _check_full(self, packet: Packet, rule: str, size: int) -> int:
        """FIRST and MIDDLE; returns the bytes of payload, mistaken extras taken off."""
        allowed = (self._path_mtu,) if self._path_mtu else PATH_MTUS
        name = name_of(packet.bth.opcode)
        if packet.pad:
            self._report("PAD-04", f"{name} with PadCnt 0", str(packet.bth.pad_count))
            size += len(packet.pad)
        elif size - Reth.SIZE in allowed and self._repeats_reth(packet.payload):
            self._report("RETH-03", f"{name} without RETH", "a RETH in front of the payload")
            size -= Reth.SIZE
        elif size - ImmDt.SIZE in allowed:
            self._report("IMM-03", f"{name} of {size - ImmDt.SIZE} bytes", "4 bytes more")
            size -= ImmDt.SIZE
        elif size not in allowed:
            wanted = " or ".join(map(str, allowed))
            self._report(rule, f"{name} of {wanted} bytes", f"{size} bytes")
        if self._path_mtu is None and size in allowed:
            self._path_mtu = size
        return size

    def _repeats_reth(self, payload: bytes) -> bool:
        reth = self._message.reth if self._message else None
        return reth is not None and payload[8:16] == reth.pack()[8:16]

    def _open(self, size: int) -> None:
        message = self._message
        if message is None:
            return
        message.carried = size
        if message.length is not None and message.length <= size:
            self._report("RETH-02", f"a RETH length above {size}", str(message.length))
            message.length = None

    def _carry_middle(self, row: Opcode, size: int) -> None:
        message = self._message
        if message is None:
            return
        message.carried += size
        if message.length is not None and message.carried >= message.length:
            self._report("OPC-01", f"LAST within {message.length} bytes", row.name)
            message.length = None

    def _check_last(self, packet: Packet, size: int) -> None:
        message = self._message
        if self._repeats_reth(packet.payload):
            self._report("RETH-03", "LAST without RETH", "a RETH in front of the payload")
            return
        limit = self._path_mtu or PATH_MTUS[-1]
        if not 1 <= size <= limit:
            self._report("MTU-03", f"LAST of 1 to {limit} bytes", f"{size} bytes")
        elif message is not None and message.length not in (None, message.carried + size):
            self._blame_total(packet, message.length or 0, message.carried, size)

    def _blame_total(self, packet: Packet, promised: int, before: int, size: int) -> None:
        left = promised - before
        total = before + size
        if left > 0 and -(-left // 4) * 4 == size + len(packet.pad):
            self._report("PAD-01", f"PadCnt {-left % 4}", str(packet.bth.pad_count))
        elif self._path_mtu and promised == -(-total // self._path_mtu) * self._path_mtu:
            self._report("RETH-02", f"a RETH length of {total}", str(promised))
        else:
            self._report("MTU-07", f"{promised} bytes as in RETH", f"{total} bytes")
