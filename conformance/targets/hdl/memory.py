# SPDX-License-Identifier: BSD-2-Clause
"""Registered memory of a simulated device: the bridge's memory, named to the device by keys."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from random import Random

from roceproof.conformance.targets.hdl.number_line import ADDRESSES, Keys, NumberLine
from roceproof.dpi.contract.fields import contract_field
from roceproof.dpi.contract.receive_records import MemoryRegion, RegionCommand
from roceproof.dpi.contract.records import Access
from roceproof.dpi.session.port import Port
from roceproof.dpi.session.simulation import Simulation
from roceproof.verbs import work
from roceproof.verbs.queue_pair import FULL_ACCESS

_WORD = 8  # bytes
_GUARD = 4096  # bytes beside each region that are nobody's
_MOST_GUARDED = 16


def access_of(rights: frozenset[str]) -> Access:
    """The bits of rights in the words of verbs."""
    return Access(sum(Access[right.upper()] for right in rights))


_ALL = access_of(FULL_ACCESS)


class HdlRegion(work.Region):
    """Bytes from `addr` on, which peers name by `rkey` and receives by `lkey`."""

    def __init__(
        self, simulation: Simulation, *, addr: int, size: int, rkey: int, lkey: int, base: int
    ) -> None:
        self.addr = addr
        self.size = size
        self.rkey = rkey
        self.lkey = lkey
        self.simulation = simulation
        self._base = base

    def read(self, offset: int, length: int) -> bytes:
        return self.simulation.peek(0, self._base + offset, length)

    def write(self, offset: int, data: bytes) -> None:
        if not 0 <= offset <= self.extent - len(data):
            raise IndexError(f"{len(data)} bytes at {offset} of a region of {self.extent}")
        self.simulation.port(0).poke(self._base + offset, data)


class ToldRegion(HdlRegion):
    """One that the device is told of."""

    def __init__(self, memory: HdlMemory, record: MemoryRegion, *, place: int) -> None:
        super().__init__(
            memory.simulation,
            addr=record.va,
            size=record.length,
            rkey=record.rkey,
            lkey=record.lkey,
            base=record.base,
        )
        self._memory = memory
        self.place = place
        self.record = record

    def deregister(self) -> None:
        self._memory.forget(self)


class HdlMemory:
    """All regions of a device, at most so many at once."""

    def __init__(
        self,
        simulation: Simulation,
        *,
        regions: int,
        forgets: Callable[[], None] = lambda: None,
        seed: int = 0,
    ) -> None:
        """`forgets` returns when the device has taken what it shall forget."""
        self.simulation = simulation
        self.port: Port = simulation.port(0)
        self._forgets = forgets
        self._random = Random(f"forgotten {seed}")
        random = Random(f"memory {seed}")
        self._keys = Keys(random, regions)
        self._known: set[int] = set()
        self._told: list[MemoryRegion] = []
        self._addresses = NumberLine(random, contract_field("memory_region_t", "va"))
        self._memory = NumberLine(random, contract_field("memory_region_t", "base"))

    @property
    def has_room(self) -> bool:
        """Whether the device holds another region."""
        return self._keys.has_room

    def add(self, size: int, access: Access, *, pd: int, addr: int | None = None) -> ToldRegion:
        """A region, which the device is told of: there, or anywhere where there is no other.

        One with all rights begins with a word, of which atomics need a whole one.
        """
        place, rkey, lkey = self._keys.take()
        if addr is None:
            addr = self._addresses.take(size, grain=_WORD if access == _ALL else 1)
        base = self._memory.take(size, but=addr)
        record = MemoryRegion(
            lkey=lkey, rkey=rkey, va=addr, length=size, base=base, access=access, pd=pd
        )
        self.port.register(record)
        self._told.append(record)
        self._known.add(rkey)
        return ToldRegion(self, record, place=place)

    def stray_writes(self) -> list[int]:
        """The first address of each place that was written to, of those beside the latest regions
        and those that have the addresses of peers."""
        found = []
        for record in self._told[-_MOST_GUARDED:]:
            beside = record.base - _GUARD, record.base + record.length, record.va
            for start in (place % ADDRESSES for place in beside):
                if not self._is_told(start):
                    held = self.simulation.peek(0, start, _GUARD)
                    if written := held.lstrip(b"\0"):
                        found.append(start + len(held) - len(written))
        return found

    def _is_told(self, start: int) -> bool:
        """Whether what is guarded from there on may be a region's."""
        return any(
            (start - each.base) % ADDRESSES < each.length
            or (each.base - start) % ADDRESSES < _GUARD
            for each in self._told
        )

    def power_on(self) -> None:
        """The device has forgotten all of them."""
        self._known.clear()
        self._keys.power_on()

    def forget(self, region: ToldRegion) -> None:
        """The device is told that the keys name nothing, and `forgets` follows."""
        record = region.record
        if record.rkey not in self._known:
            return
        self._known.remove(record.rkey)
        keys = MemoryRegion(lkey=record.lkey, rkey=record.rkey)
        told = self._random.choice([keys, record])  # what is said besides means nothing
        self.port.register(replace(told, command=RegionCommand.FORGET))
        self._forgets()
        self._keys.give_back(region.place)
