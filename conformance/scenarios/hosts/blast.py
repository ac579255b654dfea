# SPDX-License-Identifier: BSD-2-Clause
"""A study of verbs on declared hosts, several buffers at once."""

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import product
from math import ceil
from pathlib import Path

from roceproof.conformance.scenarios.hosts.counts import counted
from roceproof.conformance.scenarios.hosts.guest import BLASTS, with_guest
from roceproof.conformance.scenarios.hosts.host import Thread
from roceproof.conformance.scenarios.hosts.two_hosts import (
    COSTS,
    HOST_TIME,
    TwoHosts,
    pairs,
    round_trip,
    wire_time,
)
from roceproof.conformance.scenarios.network import GBPS, SECOND
from roceproof.conformance.scenarios.scenario import (
    Check,
    Plot,
    Row,
    Scene,
    SceneScenario,
    at_least,
    at_most,
    significant,
    within,
)

_KIB = 1 << 10
_LINES = (10, 25.6)
_TURNS = 32
"""How often each buffer is used."""


def _scenes(quick: bool, _seed: int) -> Iterator[Scene]:
    every = (16, 64, 256, 912, _KIB, 4 * _KIB, 8 * _KIB, 32 * _KIB, 64 * _KIB)
    sizes = (64, _KIB, 32 * _KIB, 64 * _KIB) if quick else every
    buffers = (1, 2, 4, 8, 16) if quick else (1, 2, 3, 4, 5, 6, 8, 16, 32, 64)
    opcodes = ("SEND", "WRITE", "WRITE_IMM", "READ")
    for rate, opcode, waits, size, number in product(
        _LINES, opcodes, ("busy", "event"), sizes, buffers
    ):
        yield _scene(rate, opcode, waits, size, number)
    for rate, size, number in product(_LINES, sizes, (4, 8, 16)):
        yield _scene(rate, "WRITE", "busy", size, number, listed=number // 2)
        yield _scene(rate, "WRITE", "busy", size, number, signalled=number // 2)


def _scene(
    rate: float,
    opcode: str,
    waits: str,
    size: int,
    buffers: int,
    *,
    listed: int = 1,
    signalled: int = 1,
) -> Scene:
    words: Row = {"line_gbps": rate, "opcode": opcode, "waits": waits, "size": size}
    words |= {"buffers": buffers, "list": listed, "signalled": signalled}
    return Scene(words, partial(_play, words))


def _play(words: Row, _folder: Path) -> Row:
    hosts = TwoHosts(line_gbps=words["line_gbps"], sleep=words["waits"] == "event")
    size, opcode, listed, every = (words[key] for key in ("size", "opcode", "list", "signalled"))
    total = _TURNS * words["buffers"]
    count = {"posts": 0, "completions": 0, "passive": 0}

    def blasts() -> Thread:
        free, sent, done = words["buffers"], 0, 0
        while done < total:
            while free >= listed and sent < total:
                yield COSTS.post + listed * COSTS.work
                count["posts"] += 1
                free -= listed
                for _ in range(listed):
                    sent += 1
                    hosts.post(0, opcode, size, signalled=sent % every == 0)
            for _ in (yield hosts.queues[0]):
                yield COSTS.completion
                count["completions"] += 1
                free, done = free + every, done + every

    def receives() -> Thread:
        while count["passive"] < total:
            for _ in (yield hosts.queues[1]):
                yield HOST_TIME
                count["passive"] += 1

    hosts.cores[0].start(blasts())
    if opcode in ("SEND", "WRITE_IMM"):
        hosts.cores[1].start(receives())
    hosts.clock.run()
    active = hosts.cores[0]
    return {
        "gbps": significant(8 * total * size * SECOND / active.ended / GBPS),
        "cpu": significant(active.busy / active.ended),
        "messages": total,
        **count,
        "events": active.wakes,
    }


def _bound(row: Row) -> float:
    """The goodput of one that polls, in Gb/s."""
    each: float = max(wire_time(row), HOST_TIME, round_trip(row) / row["buffers"])
    return float(8 * row["size"] * SECOND / each / GBPS)


def _outlasts_sleep(row: Row) -> bool:
    """Whether the line bounds, and so many buffers keep it busy over a sleep."""
    rest = round_trip(row) - wire_time(row) + COSTS.wake
    return wire_time(row) > HOST_TIME and row["buffers"] >= 1 + ceil(rest / wire_time(row))


def _checks(rows: Sequence[Row]) -> Iterator[Check]:
    single = [row for row in rows if row["list"] == row["signalled"] == 1]
    busy = [row for row in single if row["waits"] == "busy"]
    off = max(abs(row["gbps"] / _bound(row) - 1) for row in busy)
    yield at_most("polling: line, round trips or the processor bound; off by", 0.05, off)
    slept = [
        (row, row["gbps"] / other["gbps"]) for row, other in pairs(single, "waits", "event", "busy")
    ]
    met = min(part for row, part in slept if _outlasts_sleep(row))
    yield at_least("1 + (wake + rest of a round trip) / wire buffers: sleeping as fast", 0.98, met)
    alone = max(part for row, part in slept if row["buffers"] == 1)
    yield at_most("one buffer: sleeping against polling", 0.97, alone)
    over = max(row["events"] - row["completions"] for row in rows)
    yield at_most("events over completions", 0, over)
    large = [row for row in single if row["size"] >= 32 * _KIB and row["buffers"] >= 2]
    for opcode in ("SEND", "WRITE_IMM", "READ"):
        parts = [a["gbps"] / b["gbps"] for a, b in pairs(large, "opcode", opcode, "WRITE")]
        worst = max(parts, key=lambda part: abs(part - 1))
        yield within(f"from 32 KiB: {opcode} against WRITE", 1, worst, of=0.01)
    yield from counted(rows)
    plain = {_place(row): row["gbps"] for row in busy if row["opcode"] == "WRITE"}
    gain = max(
        row["gbps"] / plain[_place(row)]
        for row in rows
        if max(row["list"], row["signalled"]) > 1
        and (wire_time(row) > HOST_TIME or row["buffers"] * HOST_TIME < round_trip(row))
    )
    yield at_most("lists and rare signals, unless the processor bounds: gain", 1.001, gain)


def _place(row: Row) -> tuple[float, int, int]:
    return row["line_gbps"], row["size"], row["buffers"]


BLAST = SceneScenario(
    id="verbs-blast",
    title="blast: opcode, buffers, polling or asleep, lists and rare signals",
    published="busy and event meet from 2 buffers at 64 KiB, 5 at 1 KiB; opcodes equal from 32 KiB;"
    " lists lose to single posts",
    points=_scenes,
    checks=_checks,
    plot=Plot(
        "buffers",
        "gbps",
        ("line_gbps", "opcode", "waits", "size"),
        "buffers outstanding",
        "goodput (Gb/s)",
    ),
)

SCENARIOS: tuple[SceneScenario, ...] = (with_guest(BLAST, BLASTS),)
