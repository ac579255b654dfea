# SPDX-License-Identifier: BSD-2-Clause
"""Every key under [limits] of a manifest: how it is read, what it means, and how reports tell it.

The reading of manifests, their schema, the reasons of skips, waivers, reports and the examples in
documents are made from these rows.
"""

import re
import string
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any

from roceproof.verbs.service import PathMtu

LONGEST_MESSAGE = 1 << 31
COUNTED, CONSTANT, ANY = "counted", "constant", "any"
IDENTIFICATIONS = (COUNTED, CONSTANT, ANY)
"""Of the packets of a queue pair in IPv4: one more in each, always the first, or whatever it be.
All are right where DF is set (RFC 6864); the contract asks for the first."""
ONCE = ("rkey", "remote_addr", "immediate")
"""What all work of a queue pair may have one value of, from its start on."""
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
    """Its meaning: for an editor, and behind the example."""
    example: str
    """A value as a manifest has it."""
    told: str = ""
    """A sentence of a report, with the value in its braces; of claims others tell."""
    most: int = 0
    choices: tuple[int, ...] | tuple[str, ...] = ()
    beyond: str = ""
    """Why what lies beyond is not tried, if it may be waived."""
    strictest: Callable[[Sequence[Any]], Any] = min
    """Of several values the one that forbids what any of them forbids."""
    is_claim: bool = False
    """Whether it is kept with what the device claims, and not in `Limits`."""

    def is_reason(self, text: str) -> bool:
        parts = [re.escape(literal) for literal, *_ in string.Formatter().parse(self.beyond)]
        return bool(self.beyond) and re.search(".*".join(parts), text) is not None


LIMITS = (
    Limit(
        key="path_mtus",
        kind=Kind.LIST,
        says="all five if not said",
        example="[1024]",
        choices=tuple(mtu.size for mtu in PathMtu),
        strictest=lambda values: sorted(set[int].intersection(*map(set, values))),
        beyond="it claims no path MTU but {limit}",
        is_claim=True,
    ),
    Limit(
        key="qps",
        says="queue pairs; 1 if not said",
        example="1",
        most=MOST_QPS,
        beyond="it has no more queue pairs than {limit}",
        is_claim=True,
    ),
    Limit(
        key="length_multiple",
        kind=Kind.CHOICE,
        says="lengths of messages are multiples of so many bytes",
        example="4",
        told="lengths are multiples of {}",
        choices=tuple(1 << bit for bit in range(SMALLEST_MTU.bit_length())),
        strictest=max,
        beyond="its lengths are multiples of {limit}, not {asked}",
    ),
    Limit(
        key="length",
        kind=Kind.RANGE,
        says="shortest and longest message, in bytes",
        example="[4, 65536]",
        told="messages have {} to {} bytes",
        most=LONGEST_MESSAGE,
        strictest=lambda values: [max(low for low, _ in values), min(high for _, high in values)],
        beyond="its messages have at {end} {limit} bytes, not {asked}",
    ),
    Limit(
        key="outstanding_messages",
        says="posted and not complete, on one queue pair",
        example="4",
        told="{} messages outstanding at most",
        most=MOST_OUTSTANDING,
        beyond="it has at most {limit} messages outstanding{where}, not {asked}",
    ),
    Limit(
        key="outstanding_packets",
        says="of messages not complete, on one queue pair",
        example="16",
        told="{} packets outstanding at most",
        most=MOST_OUTSTANDING,
        beyond="it has at most {limit} packets outstanding{where}, not {asked}",
    ),
    Limit(
        key="outstanding_shared",
        kind=Kind.FLAG,
        says="these two are of all queue pairs together",
        example="true",
        told="what is outstanding counts for all queue pairs together",
        strictest=max,
    ),
    Limit(
        key="flushes",
        kind=Kind.FLAG,
        says="false: work behind a failed request never completes, not even as flushed",
        example="false",
        told="work behind a failed request never completes",
    ),
    Limit(
        key="identification",
        kind=Kind.CHOICE,
        says='of IPv4: always ip_id, or "any"; counted from ip_id on if not said',
        example='"constant"',
        told="the identification of its IPv4 packets is {}, not counted",
        choices=IDENTIFICATIONS,
    ),
    Limit(
        key="per_queue_pair",
        kind=Kind.LIST,
        says=f"all work of a queue pair has one; of {', '.join(ONCE)}",
        example='["rkey"]',
        told="on a queue pair all work has one {}",
        choices=ONCE,
        strictest=lambda values: sorted(set[str]().union(*values)),
    ),
    Limit(
        key="answer_cycles",
        says="by then what must come has come",
        example="100000",
        told="{} cycles until what must come has come",
        most=MOST_CYCLES,
    ),
    Limit(
        key="progress_cycles",
        says="until a message has its turn beside busy queue pairs; else answer_cycles",
        example="20000",
        told="{} cycles until a message comes to its turn beside busy queue pairs",
        most=MOST_CYCLES,
    ),
    Limit(
        key="quiet_cycles",
        says="this long nothing comes before silence is believed",
        example="1600",
        told="{} quiet cycles are silence",
        most=MOST_CYCLES,
    ),
)
_BEYOND = {row.key: row.beyond for row in LIMITS}


def why_beyond(key: str, **values: object) -> str:
    """The reason for which something is not tried, with what its braces name."""
    return _BEYOND[key].format(**values)
