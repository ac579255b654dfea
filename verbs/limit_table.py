# SPDX-License-Identifier: BSD-2-Clause
"""Every key under [limits] of a manifest: how it is read, what it means, and how reports tell it.

The reading of manifests, their schema, waivers and reports are made from these rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any

from roceproof.verbs.limits import IDENTIFICATIONS, LONGEST_MESSAGE, ONCE, Limits
from roceproof.verbs.service import PathMtu

MOST_CYCLES = 10**9
MOST_OUTSTANDING = 1 << 24
MOST_QPS = 1 << 24
SMALLEST_MTU = 256


class Kind(Enum):
    """What stands behind a key."""

    NUMBER = auto()  # from 1 on
    FLAG = auto()
    CHOICE = auto()  # one of some
    LIST = auto()  # some of some
    RANGE = auto()  # two lengths


@dataclass(frozen=True, kw_only=True)
class Limit:
    key: str
    kind: Kind = Kind.NUMBER
    says: str
    """Its meaning, for an editor."""
    told: str = ""
    """A sentence of a report, with the value in its braces; of claims others tell."""
    most: int = 0
    choices: tuple[int, ...] | tuple[str, ...] = ()
    skips: str = ""
    """Words in the reason of each skip for it, where what lies beyond may be waived."""
    strictest: Callable[[Sequence[Any]], Any] = min
    """Of several values the one that forbids what any of them forbids."""
    is_claim: bool = False
    """Whether it is kept with what the device claims, and not in `Limits`."""


LIMITS = (
    Limit(
        key="path_mtus",
        kind=Kind.LIST,
        says="All five if not said.",
        choices=tuple(mtu.size for mtu in PathMtu),
        strictest=lambda values: sorted(set[int].intersection(*map(set, values))),
        skips="path MTU",
        is_claim=True,
    ),
    Limit(
        key="qps",
        says="Queue pairs; 1 if not said.",
        most=MOST_QPS,
        skips="queue pairs",
        is_claim=True,
    ),
    Limit(
        key="length_multiple",
        kind=Kind.CHOICE,
        says="Lengths of messages are multiples of so many bytes.",
        told="lengths are multiples of {}",
        choices=tuple(1 << bit for bit in range(SMALLEST_MTU.bit_length())),
        strictest=max,
        skips="lengths are multiples of",
    ),
    Limit(
        key="length",
        kind=Kind.RANGE,
        says="Shortest and longest message, in bytes.",
        told="messages have {} to {} bytes",
        most=LONGEST_MESSAGE,
        strictest=lambda values: [max(low for low, _ in values), min(high for _, high in values)],
        skips="its messages have at",
    ),
    Limit(
        key="outstanding_messages",
        says="Posted and not complete, on one queue pair.",
        told="{} messages outstanding at most",
        most=MOST_OUTSTANDING,
        skips="messages outstanding",
    ),
    Limit(
        key="outstanding_packets",
        says="Of messages not complete, on one queue pair.",
        told="{} packets outstanding at most",
        most=MOST_OUTSTANDING,
        skips="packets outstanding",
    ),
    Limit(
        key="outstanding_shared",
        kind=Kind.FLAG,
        says="These two are of all queue pairs together.",
        told="what is outstanding counts for all queue pairs together",
        strictest=max,
    ),
    Limit(
        key="flushes",
        kind=Kind.FLAG,
        says="Whether work behind a failed request completes, as flushed; true if not said.",
        told="work behind a failed request never completes",
    ),
    Limit(
        key="identification",
        kind=Kind.CHOICE,
        says="Of IPv4: counted from ip_id on if not said, always ip_id, or any.",
        told="the identification of its IPv4 packets is {}, not counted",
        choices=IDENTIFICATIONS,
    ),
    Limit(
        key="per_queue_pair",
        kind=Kind.LIST,
        says="All work of a queue pair has one value of these, from its start on.",
        told="on a queue pair all work has one {}",
        choices=ONCE,
        strictest=lambda values: sorted(set[str]().union(*values)),
    ),
    Limit(
        key="answer_cycles",
        says="By then what must come has come.",
        told="{} cycles until what must come has come",
        most=MOST_CYCLES,
    ),
    Limit(
        key="progress_cycles",
        says="So long a message waits at most while others are busy; answer_cycles if not said.",
        told="{} cycles until a message comes to its turn beside busy queue pairs",
        most=MOST_CYCLES,
    ),
    Limit(
        key="quiet_cycles",
        says="This long nothing comes before silence is believed.",
        told="{} quiet cycles are silence",
        most=MOST_CYCLES,
    ),
)


def told(limits: Limits) -> Iterator[str]:
    """What a device cannot do, as sentences of a report."""
    usual = Limits()
    for row in LIMITS:
        if row.kind is Kind.RANGE:
            ends = limits.shortest, limits.longest
            if ends != (usual.shortest, usual.longest):
                yield row.told.format(ends[0], row.most if ends[1] is None else ends[1])
        elif not row.is_claim and (value := getattr(limits, row.key)) != getattr(usual, row.key):
            is_list = row.kind is Kind.LIST
            yield row.told.format(" and one ".join(sorted(value)) if is_list else value)
