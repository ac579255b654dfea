# SPDX-License-Identifier: BSD-2-Clause
"""What a manifest says of the device as a responder: the contract's second version."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from roceproof.dpi.manifest.circuit import IDENTIFIER
from roceproof.dpi.manifest.toml_table import Table, shown
from roceproof.verbs.limit_table import LONGEST_MESSAGE
from roceproof.verbs.queue_pair import FULL_ACCESS
from roceproof.verbs.service import Service
from roceproof.verbs.work import Op

MOST_HELD = 1 << 16
MOST_OF = {"regions": MOST_HELD, "receives": MOST_HELD, "shared_queues": MOST_HELD - 1}
_READING = frozenset({Op.READ, Op.CMP_SWAP, Op.FETCH_ADD})
HIERARCHY = re.compile(rf"{IDENTIFIER.pattern}(\.{IDENTIFIER.pattern})*")
MEMORY_BYTES = 1 << 31
LARGEST_KEY, LARGEST_ADDRESS, LARGEST_BASE = (1 << 32) - 1, (1 << 63) - 1, MEMORY_BYTES - 1


@dataclass(frozen=True, kw_only=True)
class StaticRegion:
    """Memory whose key is built in; byte `va` for a peer is byte `base` of the memory."""

    rkey: int
    length: int
    va: int = 0
    base: int = 0
    access: frozenset[str] = FULL_ACCESS


@dataclass(frozen=True, kw_only=True)
class Responder:
    """What requests the device executes, and how much it holds for that."""

    operations: Mapping[Service, frozenset[Op]]
    regions: int = 16  # at once
    receives: int = 16  # on one queue
    states: bool = False  # it knows the QP commands between reset and activation
    shares_receives: bool = False  # on shared queues
    shared_queues: int = 1  # so many, numbered from 1 on
    starts_anywhere: bool = False  # its count of messages does
    notifies: bool = False  # of congestion: marked requests draw CNPs
    static_regions: tuple[StaticRegion, ...] = ()  # instead of those that it is told of
    backdoor: str | None = None  # the array below the wrapper that is its memory
    asks: bool = False  # it sends READs or atomics, whose answers go to its memory

    @property
    def static_keys(self) -> frozenset[int]:
        return frozenset(region.rkey for region in self.static_regions)

    @property
    def reads_memory(self) -> bool:
        return any(not _READING.isdisjoint(operations) for operations in self.operations.values())


@dataclass(frozen=True, kw_only=True)
class Management:
    """The device makes connections itself, if it is asked for this service."""

    service_id: int
    calls: bool = False  # and asks others for it, when it is told to


def read_management(table: Table) -> Management:
    """The table `[cm]`."""
    management = Management(
        service_id=table.take_number("service_id", least=0, most=LARGEST_ADDRESS),
        calls=table.take("calls", bool, default=False),
    )
    table.finish()
    return management


def read_responder(table: Table, regions: Iterable[Table], *, asks: bool) -> Responder:
    """The table `[responder]`, and each `[[region]]`, of a device that `asks` for data or not."""
    operations = {}
    for service in Service:
        if service.name not in table:
            continue
        names = table.take_list(service.name, str)
        for name in names:
            if name not in Op.__members__:
                known = ", ".join(Op.__members__)
                raise table.error(service.name, f"{shown(name)} is none of {known}")
        operations[service] = frozenset(Op[name] for name in names)
    limits = {
        key: table.take_number(key, least=1, most=most)
        for key, most in MOST_OF.items()
        if key in table
    }
    states = table.take("states", bool, default=False)
    shares = table.take("shared_receives", bool, default=False)
    starts = table.take("message_count", bool, default=False)
    notifies = table.take("notifies", bool, default=False)
    backdoor = table.take("backdoor", str) if "backdoor" in table else None
    if backdoor is not None and not HIERARCHY.fullmatch(backdoor):
        raise table.error(
            "backdoor", f"{shown(backdoor)} is no array below the wrapper, as u_core.u_ram.bytes is"
        )
    static_regions = _static_regions(regions)
    if backdoor is not None and not static_regions:
        raise table.error("backdoor", "memory of its own has keys of its own: add a [[region]]")
    table.finish()
    return Responder(
        operations=operations,
        states=states,
        shares_receives=shares,
        starts_anywhere=starts,
        notifies=notifies,
        static_regions=static_regions,
        backdoor=backdoor,
        asks=asks,
        **limits,
    )


def _static_regions(tables: Iterable[Table]) -> tuple[StaticRegion, ...]:
    regions: dict[int, StaticRegion] = {}
    for table in tables:
        region = _region(table)
        if region.rkey in regions:
            raise table.error("rkey", f"{region.rkey:#x} names two regions; give each its own")
        regions[region.rkey] = region
    return tuple(regions.values())


def _region(table: Table) -> StaticRegion:
    access = table.take_list("access", str)
    for name in access:
        if name not in FULL_ACCESS:
            raise table.error(
                "access", f"{shown(name)} is none of {', '.join(sorted(FULL_ACCESS))}"
            )
    region = StaticRegion(
        rkey=table.take_number("rkey", least=0, most=LARGEST_KEY),
        va=table.take_number("va", least=0, most=LARGEST_ADDRESS, default=0),
        base=table.take_number("base", least=0, most=LARGEST_BASE, default=0),
        length=table.take_number("length", least=1, most=LONGEST_MESSAGE),
        access=frozenset(access),
    )
    if region.base + region.length > MEMORY_BYTES:
        raise table.error("length", "the region ends beyond 2^31 bytes; lower base or length")
    table.finish()
    return region
