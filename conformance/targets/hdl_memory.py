# SPDX-License-Identifier: BSD-2-Clause
"""Registered memory of a simulated device: the bridge's memory, named to the device by keys."""

from __future__ import annotations

from collections.abc import Callable

from roceproof.dpi.port import Port
from roceproof.dpi.receive_records import MemoryRegion, RegionCommand
from roceproof.dpi.records import Access
from roceproof.dpi.simulation import Simulation
from roceproof.verbs import work

_FIRST_BOUNDARY = 0x10_0000_0000  # in the middle of the first region, for carries
_MIDDLE = 1 << 6
_ALIGNMENT = 1 << 16  # keeps a region's neighbourhood free of other regions
_LKEY = 0x8000_0000  # lkeys are not rkeys, but the same in their low bits
_KEY_NUMBERS = (1 << 15) - 1  # in the bits above those of the place, but for the highest
_ELSEWHERE = 1 << 48  # in memory: an address is not where its bytes are


def access_of(rights: frozenset[str]) -> Access:
    """The bits of rights in the words of verbs."""
    return Access(sum(Access[right.upper()] for right in rights))


class HdlRegion(work.Region):
    """Bytes from `addr` on, which peers name by `rkey` and receives by `lkey`."""

    def __init__(
        self, simulation: Simulation, *, addr: int, size: int, rkey: int, lkey: int, base: int
    ) -> None:
        self.addr = addr
        self.size = size
        self.rkey = rkey
        self.lkey = lkey
        self._simulation = simulation
        self._base = base

    def read(self, offset: int, length: int) -> bytes:
        """Bytes as they are now."""
        return self._simulation.peek(0, self._base + offset, length)

    def write(self, offset: int, data: bytes) -> None:
        """Change bytes."""
        if not 0 <= offset <= self.extent - len(data):
            raise IndexError(f"{len(data)} bytes at {offset} of a region of {self.extent}")
        self._simulation.port(0).poke(self._base + offset, data)


class ToldRegion(HdlRegion):
    """One that the device is told of."""

    def __init__(
        self, memory: HdlMemory, *, place: int, addr: int, size: int, access: Access, pd: int
    ) -> None:
        rkey = (addr // _ALIGNMENT % _KEY_NUMBERS + 1) << 16 | place  # 0 is nobody's
        lkey, base = rkey | _LKEY, addr + _ELSEWHERE
        super().__init__(memory.simulation, addr=addr, size=size, rkey=rkey, lkey=lkey, base=base)
        self._memory = memory
        self.place = place
        self.record = MemoryRegion(
            lkey=lkey, rkey=rkey, va=addr, length=size, base=base, access=access, pd=pd
        )

    def deregister(self) -> None:
        """Make its keys invalid."""
        self._memory.forget(self)


class HdlMemory:
    """All regions of a device, at most so many at once."""

    def __init__(
        self,
        simulation: Simulation,
        *,
        regions: int,
        forgets: Callable[[], None] = lambda: None,
    ) -> None:
        """`forgets` returns when the device has taken what it shall forget."""
        self.simulation = simulation
        self.port: Port = simulation.port(0)
        self._forgets = forgets
        self._free = list(range(regions))
        self._next_address = 0

    @property
    def has_room(self) -> bool:
        """Whether the device holds another region."""
        return bool(self._free)

    def add(self, size: int, access: Access, *, pd: int) -> HdlRegion:
        """A region, which the device is told of."""
        middle = _FIRST_BOUNDARY - size // 2 // _MIDDLE * _MIDDLE
        place, addr = self._free.pop(0), self._next_address or middle
        self._next_address = addr - addr % _ALIGNMENT + (size // _ALIGNMENT + 2) * _ALIGNMENT
        region = ToldRegion(self, place=place, addr=addr, size=size, access=access, pd=pd)
        self.port.register(region.record)
        return region

    def forget(self, region: ToldRegion) -> None:
        """The device is told that the keys name nothing, and `forgets` follows."""
        record = region.record
        self.port.register(
            MemoryRegion(lkey=record.lkey, rkey=record.rkey, command=RegionCommand.FORGET)
        )
        self._forgets()
        self._free.append(region.place)
