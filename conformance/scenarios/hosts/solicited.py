# SPDX-License-Identifier: BSD-2-Clause
"""Data acquisition on a declared host: lists of work, one message of each asks for attention.

UC WRITE with immediate at path MTU 4096 and 100 Gb/s, into a receiver that sleeps until a message
asks for it, and then takes all that has come.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import pairwise, product
from pathlib import Path

from roceproof.conformance.scenarios.hosts.guest import LISTS, with_guest
from roceproof.conformance.scenarios.hosts.host import (
    Clock,
    CompletionQueue,
    Core,
    Costs,
    Line,
    Thread,
)
from roceproof.conformance.scenarios.line import line_bytes
from roceproof.conformance.scenarios.network import GBPS, SECOND, US
from roceproof.conformance.scenarios.scenario import (
    Check,
    Plot,
    Row,
    Scene,
    SceneScenario,
    at_least,
    at_most,
    exactly,
    significant,
    within,
)

_COSTS = Costs()
_MTU, _RATE, _DELAY = 4096, 100 * GBPS, US // 2
_QUEUE = 2000
"""Receives that are posted at first, and messages that the sender may have under way."""
_KIB = 1 << 10


def _scenes(quick: bool, _seed: int) -> Iterator[Scene]:
    lists = (1, 5, 25, 100) if quick else (1, 2, 5, 10, 25, 50, 100)
    for size, listed in product((4 * _KIB, 16 * _KIB), lists):
        words: Row = {"size": size, "list": listed, "messages": 10_000 if quick else 100_000}
        yield Scene(words, partial(_play, words))


def _play(words: Row, _folder: Path) -> Row:
    clock = Clock()
    sender, receiver = (Core(clock, _COSTS, sleeps=True) for _ in range(2))
    sent, received = CompletionQueue(), CompletionQueue()
    line = Line(clock, _COSTS, rate=_RATE, delay=_DELAY)
    size, listed, total = words["size"], words["list"], words["messages"]
    wire = line_bytes(size, _MTU, immediate=True)
    count = {"lost": 0, "receives": _QUEUE, "taken": 0}

    def arrived(*, is_last: bool) -> None:
        if count["receives"]:
            count["receives"] -= 1
            received.put(1, solicited=is_last)
        else:
            count["lost"] += 1
        if is_last:
            sent.put(listed)

    def sends() -> Thread:
        free = _QUEUE
        for _ in range(total // listed):
            while free < listed:
                for done in (yield sent):
                    yield _COSTS.completion
                    free += done
            yield _COSTS.post + listed * _COSTS.work
            free -= listed
            for number in range(listed):
                line.send(wire, partial(arrived, is_last=number == listed - 1))

    def receives() -> Thread:
        spare = 0
        while count["taken"] + count["lost"] < total:
            for _ in (yield received):
                yield _COSTS.completion
                count["taken"] += 1
                spare += 1
                if spare == listed:
                    yield _COSTS.post + listed * _COSTS.work
                    count["receives"] += spare
                    spare = 0

    sender.start(sends())
    receiver.start(receives())
    clock.run()
    return {
        "gbps": significant(8 * size * count["taken"] * SECOND / receiver.ended / GBPS),
        "lost": count["lost"],
        "notifications": receiver.wakes,
        "sender_cpu": significant(sender.busy / sender.ended),
        "receiver_cpu": significant(receiver.busy / receiver.ended),
    }


def _checks(rows: Sequence[Row]) -> Iterator[Check]:
    yield exactly("lost", 0, sum(row["lost"] for row in rows))
    for row in rows:
        size, listed = row["size"], row["list"]
        where = f"{size} bytes, lists of {listed}"
        wire = line_bytes(size, _MTU, immediate=True) * 8 * SECOND / _RATE
        each = max(wire, _COSTS.work + (_COSTS.post + _COSTS.completion) / listed)
        due = 8 * size * SECOND / each / GBPS
        name = f"{where}: the line or the sender's processor bounds"
        yield within(name, due, row["gbps"], of=0.02)
        most = row["messages"] // listed
        yield at_most(f"{where}: notifications", most, row["notifications"])
        told = row["notifications"] / row["messages"]
        spent = _COSTS.completion + _COSTS.work + _COSTS.post / listed + _COSTS.wake * told
        yield within(f"{where}: receiver's processor", spent / each, row["receiver_cpu"], of=0.03)
    for size in sorted({row["size"] for row in rows}):
        some = [row for row in rows if row["size"] == size]
        for end in ("sender_cpu", "receiver_cpu"):
            shares = [row[end] for row in some]
            saved = [one - two for one, two in pairwise(shares)]
            name = f"{size} bytes, {end.replace('_', ', ')}"
            yield at_least(f"{name}: each longer list saves", 0, min(saved))
            before = sum(saved[:-1])
            yield at_most(f"{name}: the last saves less than those before", before, saved[-1])
        shares = [row["receiver_cpu"] for row in some]
        left = shares[-1] / shares[0]
        yield at_most(f"{size} bytes: what lists leave of the receiver's part", 0.7, left)


SOLICITED = SceneScenario(
    id="daq-solicited",
    title="lists of work, with one message of each that asks for attention",
    published="list 1 at 4 KiB bound by the sender; CPU -52 % (4 KiB, 100), -75 % (16 KiB, 25),"
    " then flat",
    points=_scenes,
    checks=_checks,
    plot=Plot("list", "receiver_cpu", ("size",), "list", "receiver's processor"),
)

SCENARIOS: tuple[SceneScenario, ...] = (with_guest(SOLICITED, LISTS),)
