# SPDX-License-Identifier: BSD-2-Clause
"""Registered memory: regions with key, protection domain and rights, and who may touch them.

The host is little-endian, as the hosts of the other targets are: atomics see the eight
bytes at their address as a number in that order.
"""

from __future__ import annotations

from roceproof.verbs import work
from roceproof.verbs.queue_pair import FULL_ACCESS

OWN_DOMAIN = 0
"""The protection domain of queue pairs that say none, and one that no queue pair has."""
FOREIGN_DOMAIN = -1
ATOMIC_BYTES = 8

_FIRST_ADDRESS = 0x10_0000_0000
_ALIGNMENT = 1 << 16  # keeps a region's neighbourhood free of other regions
_KEY_STEP = 1 << 8  # so that no key's neighbour is a key


class Region(work.Region):
    """Bytes from `addr` on, which peers name by `rkey`."""

    def __init__(
        self,
        memory: Memory,
        *,
        addr: int,
        rkey: int,
        size: int,
        access: frozenset[str],
        domain: int,
        extent: int,
    ) -> None:
        self.addr = addr
        self.rkey = rkey
        self.size = size
        self.access = access
        self.domain = domain
        self._memory = memory
        self._bytes = bytearray(extent)

    @property
    def extent(self) -> int:
        """All of it, where its key was there before and nobody asked for so much."""
        return len(self._bytes)

    def read(self, offset: int, length: int) -> bytes:
        return bytes(self._bytes[offset : offset + length])

    def write(self, offset: int, data: bytes) -> None:
        """Change bytes; the region never grows."""
        if not 0 <= offset <= self.extent - len(data):
            raise IndexError(f"{len(data)} bytes at {offset} of a region of {self.extent}")
        self._bytes[offset : offset + len(data)] = data

    def deregister(self) -> None:
        self._memory.invalidate(self.rkey)

    @property
    def valid(self) -> bool:
        """Whether its key still names it."""
        return self._memory.region(self.rkey) is self

    def holds(self, address: int, length: int) -> bool:
        """Whether all these bytes lie inside; a range that runs past 2^64 does not come round."""
        return self.addr <= address and address + length <= self.addr + self.extent


class Memory:
    """All regions of a device, by key."""

    def __init__(self) -> None:
        self._regions: dict[int, Region] = {}
        self._next_address = _FIRST_ADDRESS
        self._next_key = _KEY_STEP

    def register(
        self,
        size: int,
        *,
        access: frozenset[str] = FULL_ACCESS,
        domain: int = OWN_DOMAIN,
        addr: int | None = None,
        rkey: int | None = None,
        extent: int | None = None,
    ) -> Region:
        """A zeroed region; `addr`, `rkey` and `extent` where they are given."""
        region = Region(
            self,
            addr=self._next_address if addr is None else addr,
            rkey=self._next_key if rkey is None else rkey,
            size=size,
            access=access,
            domain=domain,
            extent=size if extent is None else extent,
        )
        self._regions[region.rkey] = region
        self._next_address += (size // _ALIGNMENT + 2) * _ALIGNMENT
        self._next_key += _KEY_STEP
        return region

    def __len__(self) -> int:
        return len(self._regions)

    def region(self, rkey: int) -> Region | None:
        return self._regions.get(rkey)

    def invalidate(self, rkey: int) -> None:
        """From now on the key names nothing."""
        self._regions.pop(rkey, None)

    def load(self, rkey: int, address: int) -> int:
        """The eight bytes there as the number that they are to the host."""
        region = self._regions[rkey]
        return int.from_bytes(region.read(address - region.addr, ATOMIC_BYTES), "little")

    def store(self, rkey: int, address: int, value: int) -> None:
        """Put a number there, as the host does."""
        region = self._regions[rkey]
        region.write(address - region.addr, value.to_bytes(ATOMIC_BYTES, "little"))

    def permitted(
        self, rkey: int, address: int, length: int, *, right: str, domain: int = OWN_DOMAIN
    ) -> Region | None:
        """The region in which these bytes may be accessed so, None if they may not."""
        region = self.region(rkey)
        if region is None or region.domain != domain or right not in region.access:
            return None
        return region if region.holds(address, length) else None
