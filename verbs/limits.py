# SPDX-License-Identifier: BSD-2-Clause
"""What a device cannot do within the operations that it has: lengths, depths, values that it fixes.

A limit is no fault. What lies beyond it is not tried, and said so.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Any

from roceproof.verbs.limit_table import COUNTED, LIMITS, Kind, why_beyond
from roceproof.verbs.service import Service
from roceproof.verbs.work import ATOMICS, Op

ANSWER_CYCLES = 100_000
"""What holds for a device in hardware that says none, as does the next one."""
QUIET_CYCLES = 1600  # a slow device needs 1100 for a packet of 4096 bytes

FIXABLE_OF_QP = MappingProxyType(
    {
        "traffic_class": 0xFF,
        "hop_limit": 0xFF,
        "udp_sport": 0xFFFF,
        "ip_id": 0xFFFF,
        "local_qpn": 0xFFFFFF,
        "remote_qpn": 0xFFFFFF,
        "sq_psn": 0xFFFFFF,
        "rq_psn": 0xFFFFFF,
        "ack_timeout": 31,
        "retry_count": 7,
        "rnr_retry": 7,
        "min_rnr_timer": 31,
        "qkey": 0xFFFFFFFF,
        "max_rd_atomic": 0xFF,
        "max_dest_rd_atomic": 0xFF,
    }
)
FIXABLE_OF_WORK = MappingProxyType(
    {
        "solicited": 1,
        "payload_offset": 127,
        "remote_addr": (1 << 63) - 1,
        "rkey": 0xFFFFFFFF,
        "immediate": 0xFFFFFFFF,
    }
)
DOMAIN = "pd"
"""Of queue pairs and regions alike: where it is fixed, all memory is of one protection domain."""
FIXABLE = MappingProxyType(FIXABLE_OF_QP | {DOMAIN: 0xFFFF} | FIXABLE_OF_WORK)
"""What a device may not let anybody choose, and the largest value of each: the numbers of
`qp_config_t` and of `work_request_t`, under their names there."""
_OF_WORK = MappingProxyType({name: name for name in FIXABLE_OF_WORK} | {"payload_offset": "offset"})


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Of one device; `limit_table.py` says what each means. Lengths are bytes of a message."""

    length_multiple: int = 1
    shortest: int = 0
    longest: int | None = None
    outstanding_messages: int | None = None
    outstanding_packets: int | None = None
    outstanding_shared: bool = False
    answer_cycles: int | None = None
    progress_cycles: int | None = None
    quiet_cycles: int | None = None
    flushes: bool = True
    identification: str = COUNTED
    per_queue_pair: frozenset[str] = frozenset()
    fixed: Mapping[str, int] = field(default_factory=dict)
    """Keys of FIXABLE."""
    operations: Mapping[Service, frozenset[Op]] | None = None
    """Of each service; every operation of the device where nothing is said."""

    @cached_property
    def fixed_of_qp(self) -> dict[str, int]:
        return {name: n for name, n in self.fixed.items() if name in FIXABLE_OF_QP}

    @cached_property
    def fixed_of_work(self) -> dict[str, int]:
        """What is fixed of each piece of work, under the names of `Work`."""
        return {_OF_WORK[name]: n for name, n in self.fixed.items() if name in _OF_WORK}

    @property
    def identification_step(self) -> int:
        """By how much the identification of a packet exceeds that of the one before."""
        return int(self.identification == COUNTED)

    def chosen(self, first: Mapping[str, int]) -> dict[str, int]:
        """The fields of work that nobody can choose on a queue pair whose first had these."""
        once = {name: first[name] for name in self.per_queue_pair if name in first}
        return once | self.fixed_of_work

    def against_choice(self, said: Mapping[str, Any], first: Mapping[str, int]) -> str | None:
        """Why work with these fields is not tried there."""
        for name, value in self.chosen(first).items():
            if said.get(name, value) == value:
                continue
            if name not in self.fixed_of_work:
                return f"all work of a queue pair has one {name}"
            if name == "solicited":
                return f"it always {'sets' if value else 'clears'} SE"
            return f"its {name} is always {value}, not {said[name]}"
        return None

    def fit(self, length: int) -> int:
        """The next length upwards that is a multiple of what lengths are multiples of."""
        return -(-length // self.length_multiple) * self.length_multiple

    def bend(self, length: int) -> int:
        """The nearest length that may be tried."""
        length = self.fit(max(self.shortest, length))
        if self.longest is not None:
            length = min(length, self.longest - self.longest % self.length_multiple)
        return length

    def against_work(self, op: Op, length: int) -> str | None:
        """The same of work; the eight bytes of an atomic are nobody's choice."""
        return None if op in ATOMICS else self.against_length(length)

    def against_length(self, length: int) -> str | None:
        """Why a message of so many bytes is not tried; None if it may be."""
        if length % self.length_multiple:
            return why_beyond("length_multiple", limit=self.length_multiple, asked=length)
        if length < self.shortest:
            return why_beyond("length", end="least", limit=self.shortest, asked=length)
        if self.longest is not None and length > self.longest:
            return why_beyond("length", end="most", limit=self.longest, asked=length)
        return None

    def against_operation(self, service: Service | None, op: Op) -> str | None:
        """Why an operation is not tried on this service, or on any: None."""
        if self.operations is None or any(
            op in held and service in (None, each) for each, held in self.operations.items()
        ):
            return None
        return f"it has no {op.name}" + ("" if service is None else f" on {service.name}")

    @property
    def limits_depth(self) -> bool:
        """Whether anything is said of what may be outstanding."""
        return (self.outstanding_messages, self.outstanding_packets) != (None, None)

    def against_depth(self, messages: int, packets: int) -> str | None:
        """Why no more is posted while so much, the next message included, is outstanding."""
        where = " in all" if self.outstanding_shared else ""
        for key, asked in (("outstanding_messages", messages), ("outstanding_packets", packets)):
            most = getattr(self, key)
            if most is not None and asked > most:
                return why_beyond(key, limit=most, asked=asked, where=where)
        return None


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
