# SPDX-License-Identifier: BSD-2-Clause
"""The studies of verbs inside a guest: loops on a real Soft-RoCE, held to counts and data.

Both ends are queue pairs of one guest. Its clock is the wall's, so that no time of it is kept, and
nothing says whether polling or sleeping was faster.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import product
from pathlib import Path

from roceproof.conformance.scenarios.hosts.counts import counted
from roceproof.conformance.scenarios.hosts.two_hosts import pairs
from roceproof.conformance.scenarios.scenario import (
    Check,
    Row,
    Scene,
    SceneScenario,
    at_least,
    at_most,
    exactly,
)
from roceproof.rxe_env import SoftRoce
from roceproof.rxe_env.loops import two_ends

_PATIENCE_MS = 60_000
_ANSWER_SECONDS = 15
_KIB = 1 << 10
_SMALL = (1, 64, 256, 1024)
_ROUNDS = 40
_TURNS = 8
"""How often each buffer of a blast is used."""


@dataclass(frozen=True, kw_only=True)
class Study:
    """What a guest plays, and the laws of that."""

    words: Sequence[Row]
    play: Callable[[SoftRoce, Row], Row]
    checks: Callable[[Sequence[Row]], Iterator[Check]]


def with_guest(declared: SceneScenario, study: Study) -> SceneScenario:
    """The scenario, of which a full run plays rows inside one guest, too, that say so."""

    def points(quick: bool, seed: int) -> Iterator[Scene]:
        yield from declared.points(quick, seed)
        if quick:
            return
        with ExitStack() as undo:
            guest = cache(lambda: undo.enter_context(SoftRoce.start(backend="vm")))
            for words in study.words:
                yield Scene({"host": "guest", **words}, partial(_played, study, guest, words))

    def checks(rows: Sequence[Row]) -> Iterator[Check]:
        outside = [row for row in rows if "host" not in row]
        inside = [row for row in rows if "host" in row]
        for some, judged in ((outside, declared.checks), (inside, study.checks)):
            if some:
                yield from judged(some)

    return replace(declared, points=points, checks=checks)


def _played(study: Study, guest: Callable[[], SoftRoce], words: Row, _folder: Path) -> Row:
    guest().reset()
    return study.play(guest(), words)


def _ping(guest: SoftRoce, words: Row) -> Row:
    told = guest.call(
        "ping",
        within=_PATIENCE_MS / 1000 + _ANSWER_SECONDS,
        **two_ends(guest, "RC", memory=2 * words["size"]),
        opcode=words["opcode"].lower(),
        wait=words["waits"],
        size=words["size"],
        rounds=words["rounds"],
        signaled=words["signalled"],
        timeout_ms=_PATIENCE_MS,
    )
    return _counts(told)


def _blast(service: str, guest: SoftRoce, words: Row) -> Row:
    size, buffers = words["size"], words["buffers"]
    told = guest.call(
        "blast",
        within=_PATIENCE_MS / 1000 + _ANSWER_SECONDS,
        **two_ends(guest, service, memory=size * buffers),
        opcode=words["opcode"].lower(),
        wait=words["waits"],
        size=size,
        buffers=buffers,
        messages=words["messages"],
        list=words["list"],
        signal_every=words["signalled"],
        solicit_every=words.get("solicited", words["list"]),
        timeout_ms=_PATIENCE_MS,
    )
    return {"posts": told["posts"], **_counts(told)}


def _counts(told: Row) -> Row:
    """Passive are those of the far end."""
    return {
        "completions": told["completions"],
        "events": told["events"],
        "passive": told["far_completions"],
        "notifications": told["far_events"],
        "right": told["right"],
    }


def _arrived(rows: Sequence[Row], sent: Callable[[Row], int]) -> Iterator[Check]:
    odd = sum(row["right"] != sent(row) for row in rows)
    yield exactly("guest: runs with messages that arrived otherwise than sent", 0, odd)


def _woken(rows: Sequence[Row]) -> Iterator[Check]:
    """Of those that sleep each event has a completion; those that poll get none."""
    over = max(
        max(row["events"] - row["completions"], row["notifications"] - row["passive"])
        for row in rows
    )
    yield at_most("guest: events over completions", 0, over)
    polled = [row["events"] + row["notifications"] for row in rows if row["waits"] == "busy"]
    if polled:
        yield exactly("guest: polling: events", 0, sum(polled))


def _ping_checks(rows: Sequence[Row]) -> Iterator[Check]:
    yield from _arrived(rows, lambda row: 2 * int(row["rounds"]))
    yield from _woken(rows)
    for end, where in (("completions", ""), ("passive", " at the far end")):
        saved = {one[end] - other[end] for one, other in pairs(rows, "signalled", True, False)}
        yield exactly(f"guest: completions that unsignalled work saves{where}", {_ROUNDS}, saved)
    slept = [row for row in rows if row["waits"] == "event"]
    least = min(min(row["events"], row["notifications"]) / row["rounds"] for row in slept)
    yield at_least("guest: asleep: events in a round, at either end", 1, least)


def _blast_checks(rows: Sequence[Row]) -> Iterator[Check]:
    yield from _arrived(rows, lambda row: int(row["messages"]))
    yield from _woken(rows)
    yield from counted(rows, where="guest: ")


def _solicited_checks(rows: Sequence[Row]) -> Iterator[Check]:
    yield from _blast_checks(rows)
    for row in rows:
        where = f"guest: {row['size']} bytes, lists of {row['list']}"
        where += f", one of {row['solicited']} solicited"
        due = row["messages"] // row["solicited"]
        yield exactly(f"{where}: notifications", due, row["notifications"])


def _pings() -> Iterator[Row]:
    for opcode, waits, signalled, size in product(
        ("SEND", "WRITE_IMM"), ("busy", "event"), (True, False), _SMALL
    ):
        words: Row = {"opcode": opcode, "waits": waits, "signalled": signalled}
        yield words | {"size": size, "rounds": _ROUNDS}


def _pushes() -> Iterator[Row]:
    for (opcode, every), size in product((("WRITE", 1), ("WRITE", 16), ("READ", 1)), _SMALL):
        words = _run(opcode, "busy", size, buffers=every, signalled=every)
        yield words | {"messages": 320}


def _blasts() -> Iterator[Row]:
    opcodes, waiting = ("SEND", "WRITE", "WRITE_IMM", "READ"), ("busy", "event")
    for opcode, waits, size, buffers in product(
        opcodes, waiting, (64, _KIB, 64 * _KIB), (1, 4, 16)
    ):
        yield _run(opcode, waits, size, buffers=buffers)
    for opcode, waits, buffers in product(opcodes, waiting, (4, 16)):
        half = buffers // 2
        for listed, every in ((half, 1), (1, half), (half, half)):
            yield _run(opcode, waits, _KIB, buffers=buffers, listed=listed, signalled=every)


def _lists() -> Iterator[Row]:
    """As many outstanding as one is solicited of, so that each of those has to wake the far end."""
    groups = ((1, 1), (5, 5), (25, 25), (100, 100), (1, 25), (5, 100))
    for size, (listed, solicited) in product((4 * _KIB, 16 * _KIB), groups):
        words = _run("WRITE_IMM", "solicited", size, buffers=solicited, listed=listed)
        yield words | {"messages": 1000, "solicited": solicited}


def _run(
    opcode: str, waits: str, size: int, *, buffers: int, listed: int = 1, signalled: int = 1
) -> Row:
    words: Row = {"opcode": opcode, "waits": waits, "size": size, "buffers": buffers}
    words |= {"list": listed, "signalled": signalled}
    return words | {"messages": _TURNS * buffers}


PINGS = Study(words=[*_pings()], play=_ping, checks=_ping_checks)
PUSHES = Study(words=[*_pushes()], play=partial(_blast, "RC"), checks=_blast_checks)
BLASTS = Study(words=[*_blasts()], play=partial(_blast, "RC"), checks=_blast_checks)
LISTS = Study(words=[*_lists()], play=partial(_blast, "UC"), checks=_solicited_checks)
