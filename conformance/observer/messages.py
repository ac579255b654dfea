# SPDX-License-Identifier: BSD-2-Clause
"""Rules over the packets of one message after the other: opcode sequence and lengths."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from roceproof.conformance.observer.observed import ATOMIC_WRITE, Observed, ReadHeader
from roceproof.conformance.observer.psn import LARGEST_PATH_MTU, PATH_MTUS
from roceproof.conformance.rules.findings import Violation
from roceproof.conformance.wire.headers import Ieth, ImmDt, Reth
from roceproof.conformance.wire.opcodes import Family, Opcode, Position

_ATOMIC_WRITE_BYTES = 8
_RKEY_AND_LENGTH = slice(8, 16)


@dataclass
class _Message:
    """A message whose LAST has not been seen; `length` is what its RETH promises."""

    family: Family
    reth: ReadHeader | None = None
    length: int | None = None
    carried: int = 0
    mixed: bool = False
    frame: int = 0
    has_first: bool = True


class Unfinished(NamedTuple):
    """A message of which the capture shows no LAST; `length` is None where nothing tells it."""

    operation: str
    frame: int
    size: int
    length: int | None
    has_first: bool


class Messages:
    """The messages of one flow, judged packet by packet."""

    def __init__(self) -> None:
        self._open: _Message | None = None
        self.in_doubt = True

    def doubt(self) -> None:
        """Packets may be missing: whether a message is open is not known."""
        self._open = None
        self.in_doubt = True

    @property
    def unfinished(self) -> Unfinished | None:
        message = self._open
        if message is None:
            return None
        operation = message.family.name
        return Unfinished(
            operation, message.frame, message.carried, message.length, message.has_first
        )

    def take(
        self, packet: Observed, row: Opcode, path_mtu: int | None, frame: int
    ) -> Iterator[Violation]:
        """Judge the next new packet; `frame` is its number."""
        before = self._open
        yield from self._judge(packet, row, path_mtu)
        if self._open is not None and self._open is not before:
            self._open.frame = frame

    def _judge(self, packet: Observed, row: Opcode, path_mtu: int | None) -> Iterator[Violation]:
        if row.position & Position.FIRST:
            yield from self._start(packet, row)
        else:
            yield from self._continue(row)
        match row.position:
            case Position.ONLY:
                yield from _only(packet, row, path_mtu)
            case Position.FIRST:
                yield from self._first(packet, row, path_mtu)
            case Position.MIDDLE:
                yield from self._middle(packet, row, path_mtu)
            case Position.LAST:
                yield from self._last(packet, path_mtu)
                self._open = None

    # opcode sequence

    def _start(self, packet: Observed, row: Opcode) -> Iterator[Violation]:
        message, self._open, self.in_doubt = self._open, None, False
        if message is not None:
            variant = ImmDt in row.headers or Ieth in row.headers
            ends_it = row.position is Position.ONLY and row.family is message.family and variant
            wanted = f"MIDDLE or LAST of the open {message.family.name}"
            yield Violation("OPC-02" if ends_it else "OPC-03", wanted, row.name)
        if row.position is Position.FIRST:
            reth = packet.reth
            self._open = _Message(row.family, reth, reth.length if reth else None)

    def _continue(self, row: Opcode) -> Iterator[Violation]:
        message = self._open
        if message is None and not self.in_doubt:
            yield Violation("OPC-01", "FIRST or ONLY", row.name)
            self.in_doubt = True
        elif message is None:
            self._open = _Message(row.family, has_first=False)
            self.in_doubt = False
        elif row.family is not message.family and not message.mixed:
            yield Violation("OPC-05", f"{message.family.name} opcode", row.name)
            message.mixed = True
            message.length = None

    # lengths

    def _first(self, packet: Observed, row: Opcode, path_mtu: int | None) -> Iterator[Violation]:
        size, wrong = self._full(packet, row, "MTU-01", path_mtu)
        yield from wrong
        message = self._open
        assert message is not None
        message.carried = size
        if message.length is not None and message.length <= size:
            yield Violation("RETH-02", f"a RETH length above {size}", str(message.length))
            message.length = None

    def _middle(self, packet: Observed, row: Opcode, path_mtu: int | None) -> Iterator[Violation]:
        size, wrong = self._full(packet, row, "MTU-02", path_mtu)
        yield from wrong
        message = self._open
        if message is None:
            return
        message.carried += size
        if message.length is not None and message.carried >= message.length:
            yield Violation("OPC-01", f"LAST within {message.length} bytes", row.name)
            message.length = None

    def _full(
        self, packet: Observed, row: Opcode, rule: str, path_mtu: int | None
    ) -> tuple[int, list[Violation]]:
        """FIRST and MIDDLE: the bytes of payload, mistaken extras taken off, and what is wrong."""
        allowed = (path_mtu,) if path_mtu else PATH_MTUS
        size, name = packet.payload_size, row.name
        if packet.pad_count:
            size += packet.pad_count
            return size, [Violation("PAD-04", f"{name} with PadCnt 0", str(packet.pad_count))]
        if size in allowed:
            return size, []
        if size - Reth.SIZE in allowed and self._repeats_reth(packet):
            got = "a RETH in front of the payload"
            return size - Reth.SIZE, [Violation("RETH-03", f"{name} without RETH", got)]
        if size - ImmDt.SIZE in allowed:
            wanted = f"{name} of {size - ImmDt.SIZE} bytes"
            return size - ImmDt.SIZE, [Violation("IMM-03", wanted, "4 bytes more")]
        wanted = " or ".join(map(str, allowed))
        return size, [Violation(rule, f"{name} of {wanted} bytes", f"{size} bytes")]

    def _repeats_reth(self, packet: Observed) -> bool:
        reth = self._open.reth if self._open else None
        if reth is None:
            return False
        there = reth.rkey.to_bytes(4, "big") + reth.length.to_bytes(4, "big")
        return packet.payload[_RKEY_AND_LENGTH] == there

    def _last(self, packet: Observed, path_mtu: int | None) -> Iterator[Violation]:
        message, size = self._open, packet.payload_size
        limit = path_mtu or LARGEST_PATH_MTU
        if self._repeats_reth(packet):
            yield Violation("RETH-03", "LAST without RETH", "a RETH in front of the payload")
        elif not 1 <= size <= limit:
            yield Violation("MTU-03", f"LAST of 1 to {limit} bytes", f"{size} bytes")
        elif message is not None and message.length not in (None, message.carried + size):
            yield _blame_total(message.length or 0, message.carried, packet, path_mtu)


def _only(packet: Observed, row: Opcode, path_mtu: int | None) -> Iterator[Violation]:
    size, pad = packet.payload_size, packet.pad_size
    limit = path_mtu or LARGEST_PATH_MTU
    if row.value == ATOMIC_WRITE:
        if size != _ATOMIC_WRITE_BYTES:
            yield Violation("MTU-04", f"{_ATOMIC_WRITE_BYTES} bytes", f"{size} bytes")
    elif size > limit:
        yield Violation("MTU-04", f"at most {limit} bytes", f"{size} bytes")
    reth = packet.reth
    if row.family is not Family.WRITE or reth is None or reth.length == size:
        return
    length = reth.length
    if pad and length == size + pad:
        yield Violation("PAD-03", f"{size} bytes in RETH", f"{length}, the pad counted")
    elif _rounded_up(length, 4) == size + pad:
        yield Violation("PAD-01", f"PadCnt {-length % 4}", str(pad))
    else:
        yield Violation("MTU-07", f"{length} bytes as in RETH", f"{size} bytes")


def _blame_total(promised: int, before: int, packet: Observed, path_mtu: int | None) -> Violation:
    size, pad = packet.payload_size, packet.pad_size
    left, total = promised - before, before + size
    if promised == total + pad:
        return Violation("PAD-03", f"a RETH length of {total}", f"{promised}, the pad counted")
    if left > 0 and _rounded_up(left, 4) == size + pad:
        return Violation("PAD-01", f"PadCnt {-left % 4}", str(pad))
    if path_mtu and promised == _rounded_up(total, path_mtu):
        return Violation("RETH-02", f"a RETH length of {total}", str(promised))
    return Violation("MTU-07", f"{promised} bytes as in RETH", f"{total} bytes")


def _rounded_up(value: int, unit: int) -> int:
    return -(-value // unit) * unit
