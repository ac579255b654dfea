# SPDX-License-Identifier: BSD-2-Clause
"""Who gets how much of a narrow line: a newcomer beside an established flow, short and long."""

from collections.abc import Iterator, Sequence
from itertools import product

from roceproof.conformance.scenarios.line import efficiency
from roceproof.conformance.scenarios.network import (
    ENDLESS,
    GBPS,
    MS,
    SECOND,
    US,
    Flow,
    Network,
    Played,
    Port,
)
from roceproof.conformance.scenarios.scenario import (
    Check,
    Plot,
    Point,
    Row,
    Scenario,
    at_least,
    exactly,
    jain,
    significant,
)
from roceproof.conformance.scenarios.wan import BUFFER, LONG, MIB, MTU, SHORT, TIMEOUT

_NEAR = US // 2
"""Of a cable to the first switch."""
_WINDOWS = (1 << 18, 1 << 20, 4 << 20, 16 << 20, 64 << 20, 256 << 20)


def _shared(quick: bool, seed: int) -> Iterator[Point]:
    for other, rtt, pause in product(("roce", "tcp"), (SHORT, LONG), (True, False)):
        alike = 1 if pause else (1 if rtt == LONG else 3) if quick else 8
        short = _WINDOWS[:4:3] if rtt == SHORT else _WINDOWS[1::3]
        windows = short if quick else _WINDOWS
        for window, start in product(windows, range(1, 1 + alike)):
            yield _share(other, rtt, window, pause=pause, start=seed * 100 + start, quick=quick)


def _share(
    other: str, rtt: int, window: int, *, pause: bool, start: int, quick: bool, hop: int = 1
) -> Point:
    """Who was first, from its own port, and a newcomer from another, into one line as fast.

    With `hop` 2 or 3 the two meet that far on, where the pause reaches only the switch in between.
    """
    pauses = {"xoff": 200_000, "xon": 100_000} if pause else {}
    product_bytes = int(10 * GBPS / 8 * rtt / SECOND)
    between = [Port(rate=20 * GBPS, delay=_NEAR, buffer=BUFFER)] * (hop - 1)
    ports = (
        Port(rate=10 * GBPS, delay=_NEAR, **pauses),
        Port(rate=10 * GBPS, delay=_NEAR, **pauses),
        *between,
        Port(rate=10 * GBPS - 500_000, buffer=BUFFER, delay=rtt // 2),
    )
    behind = tuple(range(2, len(ports)))
    length = (2.5 if rtt == LONG else 0.5) * (1 if quick else 4)
    begin = int(start * 7_919_000 % (rtt // 2))

    def roce(port: int, window: int, start: int) -> Flow:
        size = min(window // 8, MIB)
        return Flow(
            path=(port, *behind),
            mtu=MTU,
            size=size,
            depth=window // size,
            messages=ENDLESS,
            back=rtt // 2,
            timeout=TIMEOUT,
            start=start,
        )

    tcp = Flow(kind="tcp", path=(0, *behind), mtu=8948, size=8948, depth=1 << 16, back=rtt // 2)
    first = (roce(0, max(2 * product_bytes, 4 << 20), 0),) if other == "roce" else (tcp,) * 4
    until = int(length * SECOND)
    network = Network(
        ports=ports,
        flows=(*first, roce(1, window, until // 5 + begin)),
        until=until,
        since=until * 2 // 5,
    )
    words = {"first": other, "rtt_ms": rtt / MS, "pause": pause, "window": window}
    return Point({**words, "hop": hop, "start": start}, network)


def _shares(point: Point, played: Played) -> Row:
    rates = [played.rate_since(number, point.network) / GBPS for number in range(len(played.flows))]
    newcomer, others = rates[-1], sum(rates[:-1])
    return {
        "newcomer": significant(newcomer),
        "others": significant(others),
        "share": significant(newcomer / (newcomer + others) if newcomer else 0.0),
        "dropped": sum(port["dropped"] for port in played.ports),
        "failed": sum(flow["failed"] for flow in played.flows),
    }


def _share_checks(rows: Sequence[Row]) -> Iterator[Check]:
    paused = [row for row in rows if row["pause"]]
    yield exactly("PAUSE: nothing is dropped", 0, sum(row["dropped"] for row in paused))
    full = 10 * efficiency(MIB, MTU)
    wide = [
        row
        for row in paused
        if row["first"] == "roce" and row["window"] >= 1.5 * 10 * GBPS / 8 * row["rtt_ms"] / 1000
    ]
    sums = min(row["newcomer"] + row["others"] for row in wide)
    yield at_least("PAUSE, two wide windows: the sum", 0.95 * full, sums, unit=" Gb/s")
    fair = min(jain((row["newcomer"], row["others"])) for row in wide)
    yield at_least("PAUSE, two wide windows: Jain's index", 0.98, fair)
    off = [row for row in rows if not row["pause"]]
    short = [row["share"] for row in off if row["rtt_ms"] < 1 and row["first"] == "roce"]
    yield at_least("no PAUSE, short: the newcomer's share spans", 0.6, max(short) - min(short))
    pairs = [
        (row, next(each for each in paused if _same_place(each, row)))
        for row in off
        if row["rtt_ms"] > 1
        and row["first"] == "roce"
        and row["window"] >= 0.1 * 10 * GBPS / 8 * row["rtt_ms"] / 1000
    ]
    starved = sum(
        row["newcomer"] < each["newcomer"] / 2 or row["failed"] > 0 for row, each in pairs
    )
    yield at_least(
        "no PAUSE, long, two RoCE flows: newcomers under half of theirs with it, or killing",
        0.6,
        starved / len(pairs),
    )


def _same_place(a: Row, b: Row) -> bool:
    return all(a[key] == b[key] for key in ("first", "rtt_ms", "window", "hop"))


SHARE = Scenario(
    id="wan-share",
    title="a new flow beside one RoCE flow or four TCP connections, with PAUSE and without",
    published="with PAUSE near-equal; without, short: erratic; long: the newcomer starves",
    points=_shared,
    measure=_shares,
    checks=_share_checks,
    plot=Plot(
        "window",
        "newcomer",
        ("first", "rtt_ms", "pause"),
        "the newcomer's window (bytes)",
        "its throughput (Gb/s)",
    ),
)


def _far(quick: bool, seed: int) -> Iterator[Point]:
    for rtt, hop, pause in product((SHORT, LONG), (1, 2, 3), (True, False)):
        window = (4 if rtt == SHORT else 64) * MIB
        for start in (1,) if quick else (1, 2, 3):
            yield _share(
                "roce", rtt, window, pause=pause, start=seed * 100 + start, quick=quick, hop=hop
            )


def _far_checks(rows: Sequence[Row]) -> Iterator[Check]:
    near = [row for row in rows if row["pause"] and row["hop"] == 1]
    yield exactly("PAUSE at the first hop: nothing is dropped", 0, sum(r["dropped"] for r in near))
    for row in rows:
        if row["pause"] and row["hop"] > 1:
            off = next(
                each
                for each in rows
                if not each["pause"] and _same_place(each, row) and each["start"] == row["start"]
            )
            name = f"hop {row['hop']}, {row['rtt_ms']:g} ms: dropped as without PAUSE"
            yield exactly(name, off["dropped"], row["dropped"])
            yield at_least(f"hop {row['hop']}, {row['rtt_ms']:g} ms: dropped", 1, row["dropped"])


PAUSE_FAR = Scenario(
    id="wan-pause-far",
    title="PAUSE where the narrow place is not the first hop",
    published="PAUSE helps only if the bottleneck is at the first hop",
    points=_far,
    measure=_shares,
    checks=_far_checks,
    plot=Plot(
        "hop", "newcomer", ("rtt_ms", "pause"), "hop of the bottleneck", "throughput (Gb/s)", False
    ),
)

SCENARIOS: tuple[Scenario, ...] = (SHARE, PAUSE_FAR)
