# SPDX-License-Identifier: BSD-2-Clause
"""Memory of a simulated device whose keys are built in: its regions are handed out, not made."""

from collections.abc import Iterable

from roceproof.conformance.targets.hdl.memory import HdlRegion
from roceproof.conformance.targets.interface import Beyond
from roceproof.dpi.manifest.responder import Responder, StaticRegion
from roceproof.dpi.session.simulation import Simulation
from roceproof.verbs.work import Op

_RIGHTS_OF = {
    "local_write": (Op.SEND, Op.SEND_IMM, Op.SEND_INV),
    "remote_write": (Op.WRITE, Op.WRITE_IMM),
    "remote_read": (Op.READ,),
    "remote_atomic": (Op.CMP_SWAP, Op.FETCH_ADD),
}


class BuiltInRegion(HdlRegion):
    """One of the manifest's, which may be longer than what was asked for."""

    def __init__(
        self, simulation: Simulation, place: StaticRegion, size: int, keys: frozenset[int]
    ) -> None:
        super().__init__(
            simulation, addr=place.va, size=size, rkey=place.rkey, lkey=place.rkey, base=place.base
        )
        self._extent = place.length
        self.built_in = keys

    @property
    def extent(self) -> int:
        return self._extent

    def deregister(self) -> None:
        raise Beyond("its memory keys are built in, none becomes invalid")


class HdlStaticMemory:
    """The regions of the manifest, each of which is given away once.

    One serves where it is as long as what is asked for, or longer if there is none, and has the
    same rights as far as the device knows operations that need them.
    """

    def __init__(self, simulation: Simulation, *, responder: Responder) -> None:
        self.simulation = simulation
        self._responder = responder
        self._free = list(responder.static_regions)

    def power_on(self) -> None:
        """All of them may be given away again."""
        self._free = list(self._responder.static_regions)

    def add(self, size: int, access: frozenset[str]) -> HdlRegion:
        """A region for a case, full of zeros."""
        found = static_region(self._free, self._responder, size, access)
        self._free.remove(found)
        region = BuiltInRegion(self.simulation, found, size, self._responder.static_keys)
        region.write(0, bytes(size))
        return region


def static_region(
    free: Iterable[StaticRegion], responder: Responder, size: int, access: frozenset[str]
) -> StaticRegion:
    """The shortest of those that serve; `Beyond` if none does."""
    executed = frozenset[Op]().union(*responder.operations.values())
    known = {right for right, ops in _RIGHTS_OF.items() if executed & {*ops}}
    known |= {"local_write"} if responder.asks else set()
    fitting = (
        each for each in free if each.length >= size and each.access & known == access & known
    )
    found = min(fitting, key=lambda each: each.length, default=None)
    if found is None:
        raise Beyond(f"it has no other region of {size} bytes with the rights asked for")
    return found
