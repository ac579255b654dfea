# SPDX-License-Identifier: BSD-2-Clause
"""RoCE over long distances: one reliable connection, a short or a long way, and a narrow place.

RC WRITE at path MTU 2048. The long way is 95 ms there and back, the short one 0.204 ms.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise, product

from roceproof.conformance.scenarios.line import efficiency, windowed
from roceproof.conformance.scenarios.network import (
    FOREVER,
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
    at_most,
    exactly,
    significant,
    within,
)

MTU = 2048
SHORT, LONG = 204 * US, 95 * MS
TIMEOUT = (4096 << 15) * 1000  # code 15, 134 ms: the least beyond the long round trip
HASTY = (4096 << 8) * 1000  # code 8, 1.05 ms: less than a message of some MiB takes
MIB = 1 << 20
NARROW = 5 * GBPS - 250_000
"""Of the policer. Clocks differ by up to 100 ppm; if both were exact, each would drop every second
packet for ever, and a repeated one always or never."""
BUFFER = 1_000_000
DEPTHS = (1, 2, 4, 8, 16, 32, 64)
_ROUNDS = 4


def rc_flow(*, size: int, depth: int, rtt: int, messages: int, **words: int | bool) -> Flow:
    """A connection over all ports, the first half of its round trip behind the last of them."""
    return Flow(
        path=tuple(range(int(words.pop("hops", 1)))),
        mtu=MTU,
        size=size,
        depth=depth,
        messages=messages,
        back=rtt // 2,
        timeout=TIMEOUT,
        **words,  # type: ignore[arg-type]
    )


def _sweep(quick: bool, sizes: range, depths: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Message sizes by their logarithm, and how many are outstanding."""
    powers, some = (sizes[::3], depths[::2]) if quick else (sizes, depths)
    yield from product([1 << power for power in powers], some)


def _clean(quick: bool, seed: int) -> Iterator[Point]:
    for rate, rtt in product((10, 40), (SHORT, LONG)):
        for size, depth in _sweep(quick, range(12, 26), DEPTHS):
            if quick and rtt == LONG and size * depth > 64 * MIB:
                continue
            flow = rc_flow(
                size=size, depth=depth, rtt=rtt, messages=(_ROUNDS + 1) * depth, warm=depth
            )
            ports = (Port(rate=rate * GBPS, delay=rtt // 2),)
            words = {"line_gbps": rate, "rtt_ms": rtt / MS, "size": size, "depth": depth}
            yield Point(words, _network(ports, flow, seed))


def _network(ports: tuple[Port, ...], flow: Flow, seed: int, limit: int = FOREVER) -> Network:
    return Network(ports=ports, flows=(flow,), until=limit, seed=seed)


def goodput(point: Point, played: Played) -> Row:
    """What the only flow reached, and what it cost."""
    (plan,), (told,) = point.network.flows, played.flows
    return {
        "gbps": significant(played.goodput(0, plan) / GBPS),
        "dropped": sum(port["dropped"] for port in played.ports),
        "naks": told["naks"],
        "timeouts": told["timeouts"],
        "failed": bool(told["failed"]),
    }


def _clean_checks(rows: Sequence[Row]) -> Iterator[Check]:
    for rate, rtt in sorted({(row["line_gbps"], row["rtt_ms"]) for row in rows}):
        some = [row for row in rows if (row["line_gbps"], row["rtt_ms"]) == (rate, rtt)]
        laws = [
            windowed(rate * GBPS, rtt / 1000, size=row["size"], depth=row["depth"], mtu=MTU) / GBPS
            for row in some
        ]
        worst, want = max(
            zip(some, laws, strict=True), key=lambda pair: abs(pair[0]["gbps"] / pair[1] - 1)
        )
        where = f"{rate}G, {rtt:g} ms, {worst['depth']} x {worst['size']} bytes"
        yield within(
            f"min(line, window / round trip), worst: {where}", want, worst["gbps"], of=0.02
        )
    yield exactly("nothing is dropped", 0, sum(row["dropped"] for row in rows))


_OVER_SIZE = Plot("size", "gbps", ("depth",), "message size (bytes)", "throughput (Gb/s)")

CLEAN = Scenario(
    id="wan-clean",
    title="one connection over a clean line, short and long",
    published="9.7 of 10 and 39.2 of 40 Gb/s at 95 ms; fills from a window of one"
    " bandwidth-delay product on (256 KB short, 119 MB long)",
    points=_clean,
    measure=goodput,
    checks=_clean_checks,
    plot=Plot(
        "size",
        "gbps",
        ("line_gbps", "rtt_ms", "depth"),
        "message size (bytes)",
        "throughput (Gb/s)",
    ),
)


def policed(rtt: int, *, buffer: int = BUFFER) -> tuple[Port, Port]:
    """A sender's port, and the narrow one in front of the way."""
    return Port(rate=10 * GBPS), Port(rate=NARROW, buffer=buffer, delay=rtt // 2)


def _policed(rtt: int, quick: bool, seed: int, **words: int | bool) -> Iterator[Point]:
    for size, depth in _sweep(quick, range(12, 26), DEPTHS):
        total = (16 if quick else 64) * MIB if rtt == SHORT else (8 if quick else 32) * MIB
        messages = max(3 * depth, min(40 * depth, total // size))
        flow = rc_flow(
            size=size, depth=depth, rtt=rtt, messages=messages, warm=depth, hops=2, **words
        )
        limit = 5 * SECOND if quick else 120 * SECOND
        yield Point({"size": size, "depth": depth}, _network(policed(rtt), flow, seed, limit))


def _lan(quick: bool, seed: int) -> Iterator[Point]:
    yield from _policed(SHORT, quick, seed)
    for size, depth in ((4 * MIB, 2), (8 * MIB, 2)):
        flow = rc_flow(size=size, depth=depth, rtt=SHORT, messages=3 * depth, hops=2)
        flow = replace(flow, timeout=HASTY)
        words = {"size": size, "depth": depth, "timeout_us": HASTY / US}
        yield Point(words, _network(policed(SHORT), flow, seed))


def _lan_checks(all_rows: Sequence[Row]) -> Iterator[Check]:
    rows = [row for row in all_rows if "timeout_us" not in row]
    hasty = [row for row in all_rows if "timeout_us" in row]
    fits = [row for row in rows if row["size"] * row["depth"] <= BUFFER + NARROW / 8 * 204e-6]
    small = [row for row in fits if row["size"] <= MIB // 2]

    def law(row: Row) -> float:
        return windowed(NARROW, 204e-6, size=row["size"], depth=row["depth"], mtu=MTU) / GBPS

    worst = max(small, key=lambda row: abs(row["gbps"] / law(row) - 1))
    where = f"{worst['depth']} x {worst['size']} bytes"
    yield within(
        f"windows that pipe and buffer hold, worst: {where}", law(worst), worst["gbps"], of=0.02
    )
    plateau = max(row["gbps"] for row in rows)
    yield within(
        "plateau", NARROW * efficiency(MIB // 2, MTU) / GBPS, plateau, of=0.01, unit=" Gb/s"
    )
    large = [row for row in rows if row["size"] >= 4 * MIB and row["depth"] > 1]
    stalls = 2 * BUFFER * 8 / (TIMEOUT / SECOND) / GBPS
    yield at_most(
        "from 4 MiB on it stalls: twice the buffer in a timeout",
        1.25 * stalls,
        max(row["gbps"] for row in large),
        unit=" Gb/s",
    )
    yield at_least("what stalls waits for timeouts", 1, min(row["timeouts"] for row in large))
    yield exactly("what fits loses nothing", 0, sum(row["dropped"] for row in small))
    ends = {(row["failed"], row["timeouts"]) for row in hasty}
    yield exactly("5 round trips as timeout: retries are exhausted", {(True, 8)}, ends)


POLICER_LAN = Scenario(
    id="wan-policer-lan",
    title="a 5 Gb/s policer with 1 MB of buffer, 0.204 ms",
    published="nearly full from 65-75 KB on, a plateau at 5 Gb/s, stalls where the window exceeds"
    " what pipe and buffer hold",
    points=_lan,
    measure=goodput,
    checks=_lan_checks,
    plot=_OVER_SIZE,
)


def _long_checks(rows: Sequence[Row]) -> Iterator[Check]:
    inside = [row for row in rows if row["size"] * row["depth"] <= MIB and row["size"] <= MIB // 4]
    worst = max(inside, key=lambda row: abs(row["gbps"] / _linear(row) - 1))
    yield within(
        f"linear in the window up to 1 MiB, worst: {worst['depth']} x {worst['size']} bytes",
        _linear(worst),
        worst["gbps"],
        of=0.02,
    )
    best = max(row["gbps"] for row in rows)
    yield at_least("the best point", 0.08, best, unit=" Gb/s")
    yield at_most("the best point", 0.18, best, unit=" Gb/s")


def _linear(row: Row) -> float:
    return windowed(NARROW, 95e-3, size=row["size"], depth=row["depth"], mtu=MTU) / GBPS


POLICER_LONG = Scenario(
    id="wan-policer-long",
    title="the same policer, 95 ms",
    published="at most 1 MB in flight, about 100 Mb/s at every depth",
    points=lambda quick, seed: _policed(LONG, quick, seed),
    measure=goodput,
    checks=_long_checks,
    plot=_OVER_SIZE,
)


def _paced(quick: bool, seed: int) -> Iterator[Point]:
    cases = [("message", True, 0.99), ("packet", False, 0.99), ("payload", True, None)]
    powers = (16, 20, 21, 22) if quick else range(14, 24)
    for (unit, by_message, share), power in product(cases, powers):
        size = 1 << power
        depth = max(1, 64 * MIB // size)
        pace = int(NARROW * share) if share else int(NARROW / efficiency(size, MTU))
        flow = rc_flow(
            size=size,
            depth=depth,
            rtt=LONG,
            messages=4 * depth,
            warm=2 * depth,
            hops=2,
            pace=pace,
            pace_messages=by_message,
        )
        words = {"paced": unit, "size": size, "depth": depth}
        yield Point(words, _network(policed(LONG), flow, seed, (8 if quick else 40) * SECOND))


def _paced_checks(rows: Sequence[Row]) -> Iterator[Check]:
    def of(unit: str, *, above: int = 0, upto: int = 1 << 40) -> list[float]:
        some = (row for row in rows if row["paced"] == unit and above < row["size"] <= upto)
        return [row["gbps"] for row in some]

    full = 0.99 * NARROW * efficiency(MIB, MTU) / GBPS
    messages = min(of("message", upto=MIB))
    yield at_least("messages of at most 1 MiB, spaced", 0.97 * full, messages, unit=" Gb/s")
    yield at_most(
        "messages of 2 MiB and more, spaced", 0.25, max(of("message", above=MIB)), unit=" Gb/s"
    )
    yield at_least("packets spaced, any size", 0.97 * full, min(of("packet")), unit=" Gb/s")
    drops = min(row["dropped"] for row in rows if row["paced"] == "payload")
    yield at_least("payload paced at the policer's rate overflows it: dropped", 1, drops)


PACED = Scenario(
    id="wan-paced",
    title="messages spaced to the policer's rate, 95 ms",
    published="5 Gb/s is reached with enough in flight if messages are at most 1 MB",
    points=_paced,
    measure=goodput,
    checks=_paced_checks,
    plot=Plot("size", "gbps", ("paced",), "message size (bytes)", "throughput (Gb/s)"),
)


def _buffers(quick: bool, seed: int) -> Iterator[Point]:
    product_bytes = int(NARROW / 8 * 95e-3)
    shares = (1 / 64, 1 / 4, 1, 2) if quick else (1 / 64, 1 / 32, 1 / 16, 1 / 8, 1 / 4, 1 / 2, 1, 2)
    windows = (
        (1 / 16, 1 / 2, 1, 2, 4) if quick else (1 / 64, 1 / 16, 1 / 4, 1 / 2, 3 / 4, 1, 1.5, 2, 4)
    )
    for share, window in product(shares, windows):
        depth = max(1, int(product_bytes * window) // MIB)
        flow = rc_flow(size=MIB, depth=depth, rtt=LONG, messages=4 * depth, warm=depth, hops=2)
        words = {"buffer_bdp": share, "window_bdp": window, "depth": depth}
        ports = policed(LONG, buffer=int(product_bytes * share))
        yield Point(words, _network(ports, flow, seed, (4 if quick else 20) * SECOND))


def _buffer_checks(rows: Sequence[Row]) -> Iterator[Check]:
    best: dict[float, float] = {}
    for row in rows:
        share = row["buffer_bdp"]
        best[share] = max(best.get(share, 0), row["gbps"])
    shares = sorted(best)
    rises = all(best[a] <= best[b] * 1.01 for a, b in pairwise(shares))
    words = ", ".join(f"{best[share]:.2f}" for share in shares)
    yield Check("the best goodput rises with the buffer", "rising", words, rises)
    full = NARROW * efficiency(MIB, MTU) / GBPS
    yield at_least("full with a buffer of one product", 0.9 * full, best[1], unit=" Gb/s")
    yield at_most(
        f"{shares[0]:g} of that is far from it", 0.7 * full, best[shares[0]], unit=" Gb/s"
    )
    (twice,) = (row["gbps"] for row in rows if (row["buffer_bdp"], row["window_bdp"]) == (1, 2))
    yield at_most("one product, at twice the window: collapse", 0.5 * full, twice, unit=" Gb/s")


BUFFERS = Scenario(
    id="wan-buffer",
    title="the policer's buffer in bandwidth-delay products, 95 ms, unpaced",
    published="buffer the round trip times the rate; a flow that is not paced needs one product",
    points=_buffers,
    measure=goodput,
    checks=_buffer_checks,
    plot=Plot(
        "window_bdp",
        "gbps",
        ("buffer_bdp",),
        "window (bandwidth-delay products)",
        "throughput (Gb/s)",
    ),
)


def _losses(quick: bool, seed: int) -> Iterator[Point]:
    powers = (-6, -4, -3, -2) if quick else (-6, -5.5, -5, -4.5, -4, -3.5, -3, -2.5, -2)
    for rtt, kind, power in product((SHORT, LONG), ("loss", "swap"), powers):
        size, depth = (64 << 10, 8) if rtt == SHORT else (MIB, 128)
        each = round(10**power * 1e9)
        port = Port(rate=10 * GBPS, delay=rtt // 2, **{kind: each})
        messages = (2000 if quick else 20000) if rtt == SHORT else (500 if quick else 4000)
        flow = rc_flow(size=size, depth=depth, rtt=rtt, messages=messages, warm=depth, retries=200)
        words = {"rtt_ms": rtt / MS, "kind": kind, "rate": 10**power}
        yield Point(words, _network((port,), flow, seed, (10 if quick else 60) * SECOND))


def _loss_checks(rows: Sequence[Row]) -> Iterator[Check]:
    for kind in ("loss", "swap"):
        half = {}
        for rtt in sorted({row["rtt_ms"] for row in rows}):
            some = sorted(
                (row for row in rows if (row["kind"], row["rtt_ms"]) == (kind, rtt)),
                key=lambda row: row["rate"],
            )
            falls = all(a["gbps"] >= 0.97 * b["gbps"] for a, b in pairwise(some))
            words = ", ".join(f"{row['gbps']:.3g}" for row in some)
            yield Check(f"{kind}, {rtt:g} ms: goodput falls", "falling", words, falls)
            low = [row["rate"] for row in some if row["gbps"] < some[0]["gbps"] / 2]
            half[rtt] = min(low, default=1.0)
        short, long = half[min(half)], half[max(half)]
        yield Check(
            f"{kind}: earlier over the long way, for each repeats a product",
            f"halved before {short:.2g}",
            f"at {long:.2g}",
            long < short,
        )


LOSS = Scenario(
    id="wan-loss",
    title="loss and reordering, short and long",
    published="reliable connections go back to what is missing: a loss costs a round trip of data",
    points=_losses,
    measure=goodput,
    checks=_loss_checks,
    plot=Plot("rate", "gbps", ("kind", "rtt_ms"), "share of packets", "throughput (Gb/s)"),
)

SCENARIOS: tuple[Scenario, ...] = (CLEAN, POLICER_LAN, POLICER_LONG, PACED, BUFFERS, LOSS)
