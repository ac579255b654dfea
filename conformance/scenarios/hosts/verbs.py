# SPDX-License-Identifier: BSD-2-Clause
"""A study of verbs on declared hosts, one message at a time: ping, push and pull.

What calls, wake-ups and NICs take is declared (`Costs`), so nothing that comes of it is a
measurement: the laws say how these times add up, and which of them hide behind others.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import product
from pathlib import Path

from roceproof.conformance.scenarios.hosts.guest import PINGS, PUSHES, with_guest
from roceproof.conformance.scenarios.hosts.host import Thread
from roceproof.conformance.scenarios.hosts.two_hosts import (
    COSTS,
    INLINE,
    TwoHosts,
    one_way,
    pairs,
    round_trip,
)
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

_LINES = (10, 25.6)
_ROUNDS = 40


def _sizes(*, quick: bool) -> tuple[int, ...]:
    return (1, 64, 256, 1024) if quick else (1, 4, 16, 64, 128, 256, 512, 1024)


def _pings(quick: bool, _seed: int) -> Iterator[Scene]:
    for rate, opcode, waits, inline, signalled, size in product(
        _LINES,
        ("SEND", "WRITE_IMM"),
        ("busy", "event"),
        (False, True),
        (False, True),
        _sizes(quick=quick),
    ):
        words: Row = {"line_gbps": rate, "opcode": opcode, "waits": waits}
        words |= {"inline": inline, "signalled": signalled, "size": size}
        yield Scene(words, partial(_ping, words))


def _ping(words: Row, _folder: Path) -> Row:
    hosts = TwoHosts(line_gbps=words["line_gbps"], sleep=words["waits"] == "event")
    completions = [0, 0]

    def post(own: int) -> None:
        how = {key: words[key] for key in ("inline", "signalled")}
        hosts.post(own, words["opcode"], words["size"], **how)

    def hear(own: int) -> Thread:
        heard = False
        while not heard:
            for each in (yield hosts.queues[own]):
                yield COSTS.completion
                completions[own] += 1
                heard |= each == "receive"

    def side(own: int) -> Thread:
        for _ in range(_ROUNDS):
            if own == 1:
                yield from hear(own)
            yield COSTS.post + COSTS.work
            post(own)
            if own == 0:
                yield from hear(own)

    for own in (0, 1):
        hosts.cores[own].start(side(own))
    hosts.clock.run()
    core = hosts.cores[0]
    return {
        "one_way_us": significant(core.ended / 2 / _ROUNDS / 1e6),
        "cpu": significant(core.busy / core.ended),
        "completions": completions[0],
    }


def _ping_checks(rows: Sequence[Row]) -> Iterator[Check]:
    off = max(
        abs(row["one_way_us"] * 1e6 / (one_way(row, inline=row["inline"]) + _sleep(row)) - 1)
        for row in rows
        if not row["signalled"]
    )
    yield at_most("unsignalled: what the parts add up to, off by", 0.001, off)
    yield at_most("polling against sleeping", 0.999, max(_parts(rows, "waits", "busy", "event")))
    fits = [row for row in rows if row["size"] <= INLINE]
    gains = _parts(fits, "inline", True, False)
    yield at_most(f"inline against not, up to {INLINE} bytes", 0.999, max(gains))
    longer = [row for row in rows if row["size"] > INLINE]
    alike = max(_parts(longer, "inline", True, False))
    yield within("inline against not, beyond", 1, alike, of=1e-6)
    parts = _parts(rows, "opcode", "SEND", "WRITE_IMM")
    yield at_least("SEND against WRITE_IMM, least", 0.98, min(parts))
    yield at_most("SEND against WRITE_IMM, most", 1, max(parts))
    yield at_most("256 bytes against 1", 1.2, max(_parts(rows, "size", 256, 1)))
    saved = {a["completions"] - b["completions"] for a, b in pairs(rows, "signalled", True, False)}
    yield exactly("completions that unsignalled work saves", {_ROUNDS}, saved)
    shares = {
        waits: [row["cpu"] for row in rows if row["waits"] == waits] for waits in ("busy", "event")
    }
    yield at_least("the processor of one that polls", 0.99, min(shares["busy"]))
    yield at_most("the processor of one that sleeps", 0.8, max(shares["event"]))


def _sleep(row: Row) -> int:
    return COSTS.wake if row["waits"] == "event" else 0


def _parts(rows: Sequence[Row], key: str, one: object, other: object) -> list[float]:
    return [a["one_way_us"] / b["one_way_us"] for a, b in pairs(rows, key, one, other)]


PING = SceneScenario(
    id="verbs-ping",
    title="ping with SEND and WRITE_IMM, polling or asleep, inline or not",
    published="busy faster (100 against 20 % CPU); inline helps below 256 B (6.2 us); opcodes"
    " alike",
    points=_pings,
    checks=_ping_checks,
    plot=Plot(
        "size",
        "one_way_us",
        ("line_gbps", "opcode", "waits", "inline", "signalled"),
        "message size (bytes)",
        "one way (us)",
    ),
)

_PUSHES, _SIGNAL_EVERY = 320, 16


def _pushes(quick: bool, _seed: int) -> Iterator[Scene]:
    kinds = (("WRITE", True), ("WRITE", False), ("READ", True))
    for rate, (opcode, signalled), size in product(_LINES, kinds, _sizes(quick=quick)):
        words: Row = {"line_gbps": rate, "opcode": opcode, "signalled": signalled, "size": size}
        yield Scene(words, partial(_push, words))


def _push(words: Row, _folder: Path) -> Row:
    hosts = TwoHosts(line_gbps=words["line_gbps"], sleep=False)
    every = 1 if words["signalled"] else _SIGNAL_EVERY

    def pushes() -> Thread:
        for number in range(1, _PUSHES + 1):
            yield COSTS.post + COSTS.work
            signalled = number % every == 0
            hosts.post(0, words["opcode"], words["size"], signalled=signalled)
            if signalled:
                yield hosts.queues[0]
                yield COSTS.completion

    hosts.cores[0].start(pushes())
    hosts.clock.run()
    return {"each_us": significant(hosts.cores[0].ended / _PUSHES / 1e6)}


def _push_checks(rows: Sequence[Row]) -> Iterator[Check]:
    told = [row for row in rows if row["signalled"]]
    off = max(abs(row["each_us"] * 1e6 / round_trip(row) - 1) for row in told)
    yield at_most("signalled: a round trip each, off by", 0.001, off)
    for rate in _LINES:
        by = {
            (row["opcode"], row["signalled"], row["size"]): row["each_us"]
            for row in rows
            if row["line_gbps"] == rate
        }
        gain = max(by["WRITE", False, size] / by["WRITE", True, size] for *_, size in by)
        yield at_most(f"{rate} Gb/s: an unsignalled WRITE against a signalled one", 0.5, gain)
        for opcode in ("WRITE", "READ"):
            rise = by[opcode, True, 256] / by[opcode, True, 1]
            yield at_most(f"{rate} Gb/s: {opcode} of 256 bytes against 1", 1.2, rise)


PUSH_PULL = SceneScenario(
    id="verbs-push-pull",
    title="push by WRITE and pull by READ, one at a time",
    published="faster with unsignalled WRITE, flat over the size",
    points=_pushes,
    checks=_push_checks,
    plot=Plot(
        "size",
        "each_us",
        ("line_gbps", "opcode", "signalled"),
        "message size (bytes)",
        "a message each (us)",
    ),
)

SCENARIOS: tuple[SceneScenario, ...] = (with_guest(PING, PINGS), with_guest(PUSH_PULL, PUSHES))
