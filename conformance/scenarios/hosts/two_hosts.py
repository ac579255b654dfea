# SPDX-License-Identifier: BSD-2-Clause
"""Two hosts with verbs on a cable, and what a message takes between them where nothing waits.

RC at path MTU 4096. A row has `line_gbps`, `opcode` and `size`.
"""

from collections.abc import Iterator, Sequence

from roceproof.conformance.scenarios.hosts.host import NS, Clock, CompletionQueue, Core, Costs, Line
from roceproof.conformance.scenarios.line import PER_PACKET, RETH, line_bytes, packets
from roceproof.conformance.scenarios.network import GBPS, SECOND
from roceproof.conformance.scenarios.scenario import Row

COSTS = Costs()
INLINE = 256
"""Payload up to here travels with the work request."""
_MTU = 4096
_CABLE = 10 * NS
_AETH = 4
_ACK = PER_PACKET + _AETH


class TwoHosts:
    """Their clock, processors and completion queues, and the cable's two directions."""

    def __init__(self, *, line_gbps: float, sleep: bool) -> None:
        rate = round(line_gbps * GBPS)
        self.clock = Clock()
        self.cores = [Core(self.clock, COSTS, sleeps=sleep) for _ in range(2)]
        self.queues = [CompletionQueue() for _ in range(2)]
        self._lines = [Line(self.clock, COSTS, rate=rate, delay=_CABLE) for _ in range(2)]

    def post(
        self, end: int, opcode: str, size: int, *, inline: bool = True, signalled: bool = True
    ) -> None:
        """What was posted at an end travels, and completes; a READ always does."""
        if opcode == "READ":
            self._lines[end].send(PER_PACKET + RETH, lambda: self._answer(end, size))
            return

        def arrived() -> None:
            if opcode != "WRITE":
                self.queues[1 - end].put("receive")
            if signalled:
                self._lines[1 - end].send(_ACK, lambda: self.queues[end].put("send"))

        fetch = 0 if inline and size <= INLINE else COSTS.fetch
        self._lines[end].send(wire_bytes(opcode, size), arrived, late=fetch)

    def _answer(self, end: int, size: int) -> None:
        """The far NIC does it by itself."""
        answer = wire_bytes("READ", size)
        self._lines[1 - end].send(answer, lambda: self.queues[end].put("send"), late=COSTS.fetch)


def wire_bytes(opcode: str, size: int) -> int:
    """Of the packets with a message's payload, on the line."""
    whole = line_bytes(size, _MTU, immediate=opcode.endswith("IMM"))
    if opcode.startswith("WRITE"):
        return whole
    return whole - RETH + (packets(size, _MTU) * _AETH if opcode == "READ" else 0)


def wire_time(row: Row) -> int:
    """What these take."""
    return _time(wire_bytes(row["opcode"], row["size"]), row)


def _time(size: int, row: Row) -> int:
    return int(size * 8 * SECOND // (row["line_gbps"] * GBPS))


HOST_TIME = COSTS.post + COSTS.work + COSTS.completion
"""What a message takes of the processor that posts it alone and takes its completion."""


def one_way(row: Row, *, inline: bool) -> int:
    """From the post of a message until the far end has taken it."""
    fetch = 0 if inline and row["size"] <= INLINE else COSTS.fetch
    return HOST_TIME + fetch + 2 * COSTS.nic + wire_time(row) + _CABLE


def round_trip(row: Row) -> int:
    """From the post of a message to its completion; what fits is inline."""
    back = PER_PACKET + RETH if row["opcode"] == "READ" else _ACK
    there = one_way(row, inline=row["opcode"] != "READ")
    return there + 2 * COSTS.nic + _time(back, row) + _CABLE


_WORDS = ("line_gbps", "opcode", "waits", "inline", "signalled", "size", "buffers", "list")


def pairs(rows: Sequence[Row], key: str, one: object, other: object) -> Iterator[tuple[Row, Row]]:
    """Rows that differ in what was measured, and in one word."""
    rest = [each for each in _WORDS if each != key]

    def place(row: Row) -> tuple[object, ...]:
        return tuple(row.get(each) for each in rest)

    others = {place(row): row for row in rows if row[key] == other}
    yield from ((row, others[place(row)]) for row in rows if row[key] == one)
