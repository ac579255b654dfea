# SPDX-License-Identifier: BSD-2-Clause
"""A complete, strictly conformant conversation between two stations, from a seed.

The default is a mix of everything that is legal and undisturbed; loss, RNR NAKs
and reconnections are asked for. The tap is at the first station, so its packets
are seen as it sent them, and those of the second one as they arrive.
"""

from collections.abc import Iterable
from dataclasses import dataclass, fields
from functools import cached_property
from ipaddress import ip_address
from typing import Any, NamedTuple

from roceproof.conformance.faults.conversation.network import Network, TimedFrame, Transmit
from roceproof.conformance.faults.conversation.plan import (
    Connection,
    End,
    Kind,
    Menu,
    Planner,
    Station,
)
from roceproof.conformance.faults.conversation.queue_pair import (
    Adapter,
    QueuePair,
    Registers,
    right_registers,
)
from roceproof.conformance.faults.conversation.requester import Trouble
from roceproof.verbs.service import Service

_UNDISTURBED = Trouble()
Facts = dict[str, Any]
_SCHEMA = 1


class Capture(NamedTuple):
    """What a tap recorded, and what the two ends were configured with."""

    frames: list[TimedFrame]
    facts: Facts


@dataclass(frozen=True, kw_only=True)
class Conversation:
    """What to talk about; tuples are choices, taken in turn or drawn from the seed."""

    seed: int = 1
    services: tuple[Service, ...] = (Service.RC, Service.UC, Service.RC, Service.UD)
    kinds: tuple[Kind, ...] = tuple(Kind)
    ip_versions: tuple[int, ...] = (4, 6)
    path_mtus: tuple[int, ...] = (256, 1024, 512, 4096, 2048)
    lengths: tuple[int, ...] = ()  # empty: around multiples of the path MTU
    tagged: tuple[bool, ...] = (False, True)
    migreq: tuple[bool, ...] = (True, False, True)
    ident_counts: tuple[bool, ...] = (True, True, False)
    start_psns: tuple[int, ...] = ()  # of the first station; empty: random, some about to wrap
    credit_codes: tuple[int, ...] = (31, 0, 16)
    coalesces: tuple[bool, ...] = (False, True)
    asks_every: tuple[int, ...] = (1, 3)
    rnr_timers: tuple[int, ...] = (1, 12, 14)
    pauses_ns: tuple[int, ...] = (0, 0, 0, 0, 1_000, 10_000, 300_000)
    connections: int = 8
    messages: tuple[int, int] = (16, 8)  # of each connection, by station
    read_back: bool = False  # only WRITEs, each followed by a READ of the same bytes
    reconnects: int = 0
    reconnect_ns: int = 50_000_000
    ce_rate: float = 0.05
    loss: float = 0.0  # behind the tap
    unseen_loss: float = 0.0  # of the second station's RC packets, in front of the tap
    rnr_rate: float = 0.0
    rereads_whole: bool = False

    @cached_property
    def stations(self) -> tuple[Station, Station]:
        """The two stations; the tap is at the first."""
        first, second = self.connections_made[0].ends
        return first.station, second.station

    @cached_property
    def connections_made(self) -> tuple[Connection, ...]:
        """The connections with all that is said over them."""
        menu = {f.name: getattr(self, f.name) for f in fields(Menu)}
        return tuple(Planner(Menu(**menu), self.seed).connections())

    def frames(self) -> list[TimedFrame]:
        """All frames in the order in which the tap saw them."""
        return [*self._undisturbed]

    @cached_property
    def _undisturbed(self) -> list[TimedFrame]:
        return self.capture().frames

    def capture(
        self,
        first: Registers = right_registers,
        second: Registers = right_registers,
        *,
        troubles: tuple[Trouble, Trouble] = (_UNDISTURBED, _UNDISTURBED),
        transmit: Transmit | None = None,
    ) -> Capture:
        """Play the conversation, with planted registers and accidents if asked for.

        `transmit` is the last stage of the first station's transmitter; the
        peer drops what leaves it with a wrong ICRC or IP checksum.
        """
        network = Network(
            loss=self.loss, unseen_loss=self.unseen_loss, ce_rate=self.ce_rate, seed=self.seed
        )
        adapters = Adapter(network, at_tap=True, transmit=transmit), Adapter(network, at_tap=False)
        adapters[0].port.peer, adapters[1].port.peer = adapters[1].port, adapters[0].port
        banks: tuple[dict[object, int], ...] = ({}, {})
        for number, connection in enumerate(self.connections_made):
            for side, registers in enumerate((first, second)):
                adapters[side].queue_pairs[connection.ends[side].qpn] = QueuePair(
                    adapters[side].port,
                    connection,
                    side,
                    registers(banks[side]),
                    troubles[side],
                    rnr_rate=self.rnr_rate,
                    rereads_whole=self.rereads_whole,
                    seed=self.seed + 2 * number + side,
                )
        return Capture(network.run(), facts_of(self.connections_made))


def facts_of(connections: Iterable[Connection]) -> Facts:
    """One row per end of a queue pair."""
    rows = [_row(made, side) for made in connections for side in (0, 1)]
    return {"schema": _SCHEMA, "qps": rows}


def _row(connection: Connection, side: int) -> dict[str, object]:
    end, peer = connection.ends[side], connection.ends[1 - side]
    row: dict[str, object] = {
        "service": connection.service.name,
        "address": _address(connection, end),
        "qpn": end.qpn,
        "start_psn": end.start_psn,
        "remote_address": _address(connection, peer),
        "remote_qpn": peer.qpn,
        "remote_start_psn": peer.start_psn,
        "path_mtu": connection.path_mtu,
        "dscp": end.dscp,
        "ttl": end.hops,
    }
    if connection.service is Service.RC:
        row["min_rnr_timer"] = end.rnr_timer
        row["credits"] = end.credit_code != 31
    return row


def _address(connection: Connection, end: End) -> str:
    station = end.station
    return str(ip_address(station.ipv6 if connection.ip_version == 6 else station.ipv4))
