# SPDX-License-Identifier: BSD-2-Clause
"""Memory into which the answers of READs and atomics go, each to a place of its own.

Each region has an image: the bytes that the far side answers with are those of the place where
they must land, and no byte is there before. So memory itself tells what was written elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.memory import otherwise, unless_late
from roceproof.conformance.suite.reporting.failure import CaseFailed
from roceproof.conformance.targets.interface import Beyond
from roceproof.conformance.wire.notation import first_difference
from roceproof.verbs.work import Region, Work

_SIZE = 1 << 16
_BETWEEN = 16
"""Bytes at least that belong to no answer, from one place to the next."""
_LANES = 64
_RIGHTS = frozenset(("local_write",))


@dataclass
class _Memory:
    """A region, and what is known of its bytes."""

    region: Region
    image: bytes
    before: bytes
    used: int = _BETWEEN
    known: bytearray = field(default_factory=bytearray)
    """What it holds, where no answer is under way."""
    open: list[tuple[int, int]] = field(default_factory=list)
    """Where one is, or has failed: first byte and length."""


class Landings:
    """All such memory of a device."""

    def __init__(self, bench: Bench) -> None:
        self._bench = bench
        self._memories: dict[int, _Memory] = {}
        self._is_full = False

    def power_on(self) -> None:
        """No key names any of it."""
        self._memories.clear()
        self._is_full = False

    def place(self, number: int, size: int, lane: int) -> tuple[Region, int] | None:
        """Room for so many bytes in the region of that number, None if there is none."""
        memory = self._memories.get(number) or self._fresh(number)
        if memory is None:
            return None
        at = -(-memory.used // _LANES) * _LANES + lane % _LANES
        if at + size + _BETWEEN > len(memory.image):
            return None
        memory.used = at + size + _BETWEEN
        memory.open.append((at, size))
        return memory.region, at

    def bytes_of(self, work: Work) -> bytes:
        """What the far side answers."""
        memory = self._of(work)
        return memory.image[work.into_offset : work.into_offset + work.size] if memory else b""

    def landed(self, work: Work) -> None:
        """The work has completed with success: its bytes are in memory, and stay there."""
        memory = self._of(work)
        if memory is None:
            return
        at, size, want = work.into_offset, work.size, self.bytes_of(work)
        got = memory.region.read(at, size) if size else b""
        if got != want:
            text = otherwise(want, got, b"") or "nothing"
            if got == memory.before[at : at + size]:
                text = "none of its bytes"
            failure = self._bench.failed(
                f"want  memory that holds the answer to {work.op.name} {work.wr_id:#x}\n"
                f"got   {text}",
                rules=["READ-10"],
            )
            raise unless_late(self._bench.target, failure)
        memory.open.remove((at, size))
        memory.known[at : at + size] = want

    def judge(self) -> None:
        """All else is as it was."""
        for memory in self._memories.values():
            got = bytearray(memory.region.read(0, len(memory.image)))
            for at, size in memory.open:
                got[at : at + size] = memory.known[at : at + size]
            if got != memory.known:
                raise self._changed(memory, bytes(got))

    def _changed(self, memory: _Memory, got: bytes) -> CaseFailed:
        at = first_difference(bytes(memory.known), got)
        is_answer = memory.known[at] != memory.before[at]
        place = "an answer that was complete" if is_answer else "no answer"
        return self._bench.failed(
            f"want  memory that nobody writes as it was\n"
            f"got   {got[at]:#04x} for {memory.known[at]:#04x} in byte {at}, which belongs to "
            f"{place}",
            rules=["READ-10"],
        )

    def _of(self, work: Work) -> _Memory | None:
        return next((m for m in self._memories.values() if m.region is work.into), None)

    def _fresh(self, number: int) -> _Memory | None:
        built_in = [each.length for each in self._bench.claims.built_in]
        size = min(_SIZE, max(built_in, default=_SIZE))
        try:
            region = None if self._is_full else self._bench.target.register(size, access=_RIGHTS)
        except Beyond:
            self._is_full, region = True, None
        if region is None:
            return None
        image = Random(f"landing {number}").randbytes(size)
        before = bytes(byte ^ 0xFF for byte in image)
        region.write(0, before)
        self._memories[number] = _Memory(region, image, before, known=bytearray(before))
        return self._memories[number]
