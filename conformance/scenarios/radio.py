# SPDX-License-Identifier: BSD-2-Clause
"""Radio astronomy: transposes from front ends to nodes, fairness, and what a paused class stops."""

from collections.abc import Iterator, Sequence
from itertools import product

from roceproof.conformance.scenarios.daq import KIB, MIB, MTU, NEAR, uc_flow
from roceproof.conformance.scenarios.line import efficiency, line_bytes
from roceproof.conformance.scenarios.network import (
    ENDLESS,
    FOREVER,
    GBPS,
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
    jain,
    significant,
    within,
)

BUFFER = MIB


def _transposes(quick: bool, seed: int) -> Iterator[Point]:
    shapes = [(4, 2, 2), (4, 2, 4)] + ([] if quick else [(126, 24, 24)])
    for fronts, nodes, channels in shapes:
        for size in (16 * KIB, 256 * KIB):
            rate = 10 if fronts == 4 else 3 / channels
            sources = tuple(Port(rate=100 * GBPS, delay=NEAR) for _ in range(fronts))
            sinks = tuple(Port(rate=100 * GBPS, buffer=4 * MIB, delay=NEAR) for _ in range(nodes))
            flows = tuple(
                uc_flow(
                    path=(front, fronts + channel % nodes),
                    size=size,
                    messages=ENDLESS,
                    pace=int(rate * GBPS),
                    start=(front * channels + channel) * NEAR // 4,
                )
                for front, channel in product(range(fronts), range(channels))
            )
            # Whole messages count: of 100 in three quarters of the time one makes a hundredth.
            some = 134 * int(size * 8 / rate / GBPS * SECOND)
            until = max((20 if quick else 100) * 1000 * US, some)
            network = Network(
                ports=(*sources, *sinks), flows=flows, until=until, since=until // 4, seed=seed
            )
            words = {"fronts": fronts, "nodes": nodes, "channels": channels, "size": size}
            yield Point({**words, "channel_gbps": rate}, network)


def _all_rates(point: Point, played: Played) -> Row:
    rates = [played.rate_since(number, point.network) for number in range(len(played.flows))]
    return {
        "gbps": significant(sum(rates) / GBPS),
        "least_gbps": significant(min(rates) / GBPS),
        "jain": significant(jain(rates)),
        "dropped": sum(port["dropped"] for port in played.ports),
        "peak": max(port["peak"] for port in played.ports),
    }


def _transpose_checks(rows: Sequence[Row]) -> Iterator[Check]:
    for row in rows:
        want = row["channel_gbps"] * efficiency(row["size"], MTU, immediate=True)
        where = (
            f"{row['fronts']} to {row['nodes']}, {row['channels']} channels, {row['size']} bytes"
        )
        yield within(f"{where}: the slowest channel", want, row["least_gbps"], of=0.02)
    yield exactly("dropped when paced", 0, sum(row["dropped"] for row in rows))


TRANSPOSE = Scenario(
    id="radio-transpose",
    title="every front end sends a channel to every node",
    published="near line rate, no retransmission, many to many: 126 times 3 Gb/s to 24 nodes",
    points=_transposes,
    measure=_all_rates,
    checks=_transpose_checks,
    plot=Plot(
        "size",
        "least_gbps",
        ("fronts", "channels"),
        "message size (bytes)",
        "slowest channel (Gb/s)",
    ),
)


def _fair(quick: bool, seed: int) -> Iterator[Point]:
    counts = (1, 4, 32) if quick else (1, 2, 4, 8, 16, 32)
    for mode, count in product(("paced", "PAUSE", "none"), counts):
        pauses = {"xoff": 100_000, "xon": 50_000} if mode == "PAUSE" else {}
        line = 10 * GBPS - 500_000
        senders = tuple(Port(rate=10 * GBPS, delay=NEAR, **pauses) for _ in range(count))
        buffer = 4 * MIB if mode == "PAUSE" else BUFFER
        ports = (*senders, Port(rate=line, buffer=buffer, delay=50 * US))
        flows = tuple(
            Flow(
                path=(number, count),
                mtu=MTU,
                size=64 * KIB,
                depth=8,
                messages=ENDLESS,
                back=50 * US,
                timeout=(4096 << 12) * 1000,
                retries=1000,
                start=number * US * 7,
                pace=int(line / count * 0.999) if mode == "paced" else 0,
            )
            for number in range(count)
        )
        until = (100 if quick else 1000) * 1000 * US
        network = Network(ports=ports, flows=flows, until=until, since=until // 4, seed=seed)
        yield Point({"mode": mode, "senders": count, "window": 512 * KIB}, network)


def _fair_checks(rows: Sequence[Row]) -> Iterator[Check]:
    full = 10 * efficiency(64 * KIB, MTU)
    for mode in ("paced", "PAUSE"):
        some = [row for row in rows if row["mode"] == mode]
        yield at_least(f"{mode}: the sum", 0.95 * full, min(r["gbps"] for r in some), unit=" Gb/s")
        yield at_least(f"{mode}: Jain's index", 0.98, min(row["jain"] for row in some))
        yield exactly(f"{mode}: dropped", 0, sum(row["dropped"] for row in some))
    for row in rows:
        if row["mode"] == "none":
            fits = row["senders"] * row["window"] <= BUFFER + 10e9 / 8 * 100e-6
            where = f"neither, {row['senders']} senders"
            if fits:
                yield exactly(f"{where}: what fits loses nothing", 0, row["dropped"])
            else:
                yield at_most(f"{where}: falls", 0.95 * full, row["gbps"], unit=" Gb/s")


FAIR = Scenario(
    id="radio-fair",
    title="1 to 32 reliable senders into one line",
    published="4 to 32 senders, 1 to 320 Gb/s, lossless and fair",
    points=_fair,
    measure=_all_rates,
    checks=_fair_checks,
    plot=Plot("senders", "gbps", ("mode",), "senders", "throughput of all (Gb/s)"),
)

FIFO = 400_000
OTHERS = 6
"""Senders that jam a port besides the one that is watched."""


def _victims(quick: bool, seed: int) -> Iterator[Point]:
    until = (5 if quick else 50) * 1000 * US
    pauses = {"xoff": 100_000, "xon": 50_000}
    for incast in (False, True):
        senders = tuple(Port(rate=25 * GBPS, delay=NEAR, **pauses) for _ in range(1 + OTHERS))
        jammed = Port(rate=25 * GBPS - 1_000_000, buffer=2 * MIB, delay=NEAR)
        ports = (*senders, jammed, Port(rate=25 * GBPS, buffer=MIB, delay=NEAR))
        jam, free = len(senders), len(senders) + 1
        ways = [((0, jam), 0), ((0, free), 0), ((0, free), 1)]
        if incast:
            ways += [((1 + other, jam), 0) for other in range(OTHERS)]
        flows = tuple(
            uc_flow(path=path, size=64 * KIB, messages=ENDLESS, priority=priority)
            for path, priority in ways
        )
        network = Network(ports=ports, flows=flows, until=until, since=until // 4, seed=seed)
        yield Point({"what": "incast" if incast else "alone"}, network)
    for pause in (50, 100, 200, 400):
        yield Point({"what": f"source, {pause} us"}, _source(pause, seed))


def _source(pause: int, seed: int) -> Network:
    """A source of 20 Gb/s that cannot wait, its FIFO, and a line that stands still for a time."""
    ports = (
        Port(rate=20 * GBPS),
        Port(rate=25 * GBPS, buffer=FIFO, delay=NEAR, xoff=30_000, xon=15_000),
        Port(rate=100 * GBPS, delay=NEAR, stall_at=50 * US, stall_for=pause * US),
    )
    flow = uc_flow(path=(0, 1, 2), size=MTU, messages=2000)
    return Network(ports=ports, flows=(flow,), until=FOREVER, seed=seed)


def _victim(point: Point, played: Played) -> Row:
    if len(played.flows) == 1:
        return {
            "lost_bytes": played.ports[1]["dropped"] * line_bytes(MTU, MTU, immediate=True),
            "paused_us": significant(played.ports[1]["paused_for"] / US),
        }
    names = ("into_the_jam", "same_class", "other_class")
    rates = (played.rate_since(number, point.network) / GBPS for number in range(3))
    return {
        **dict(zip(names, map(significant, rates), strict=True)),
        "dropped": sum(port["dropped"] for port in played.ports),
    }


def _victim_checks(rows: Sequence[Row]) -> Iterator[Check]:
    by_name = {row["what"]: row for row in rows}
    alone, jam = by_name["alone"], by_name["incast"]
    yield exactly("dropped", 0, alone["dropped"] + jam["dropped"])
    yield at_most(
        "the flow of the same class to a free port slows",
        0.7 * alone["same_class"],
        jam["same_class"],
        unit=" Gb/s",
    )
    yield at_least(
        "the flow of another class does not", alone["other_class"], jam["other_class"], unit=" Gb/s"
    )
    packet = line_bytes(MTU, MTU, immediate=True)
    for row in rows:
        if "lost_bytes" in row:
            due = max(0.0, 20e9 / 8 * row["paused_us"] * 1e-6 - FIFO)
            yield Check(
                f"{row['what']}: rate x pause - FIFO",
                f"{due:.0f} +- {2 * packet} bytes",
                f"{row['lost_bytes']} bytes",
                abs(row["lost_bytes"] - due) <= 2 * packet,
            )


PFC_VICTIM = Scenario(
    id="radio-pfc-victim",
    title="what a paused class stops besides the flow that caused it",
    published="PFC stops a whole class",
    points=_victims,
    measure=_victim,
    checks=_victim_checks,
    plot=Plot("what", "same_class", (), "", "flow of the same class (Gb/s)", False),
)


def _rates(quick: bool, seed: int) -> Iterator[Point]:
    for rate, size in product((100, 200, 400), (64 * KIB, MIB)):
        messages = (16 if quick else 256) * MIB // size
        flow = uc_flow(path=(0,), size=size, messages=messages, warm=messages // 4)
        ports = (Port(rate=rate * GBPS, delay=NEAR),)
        words = {"line_gbps": rate, "size": size}
        yield Point(words, Network(ports=ports, flows=(flow,), until=FOREVER, seed=seed))


def _one_rate(point: Point, played: Played) -> Row:
    return {"gbps": significant(played.goodput(0, point.network.flows[0]) / GBPS)}


def _rate_checks(rows: Sequence[Row]) -> Iterator[Check]:
    for row in rows:
        want = row["line_gbps"] * efficiency(row["size"], MTU, immediate=True)
        name = f"{row['line_gbps']}G, {row['size']} bytes"
        yield at_least(name, 0.999 * want, row["gbps"], unit=" Gb/s")


RATES = Scenario(
    id="radio-rates",
    title="one unreliable connection at 100, 200 and 400 Gb/s",
    published="near line rate at 100 to 400 Gb/s",
    points=_rates,
    measure=_one_rate,
    checks=_rate_checks,
    plot=Plot("line_gbps", "gbps", ("size",), "line (Gb/s)", "goodput (Gb/s)"),
)

SCENARIOS: tuple[Scenario, ...] = (TRANSPOSE, FAIR, PFC_VICTIM, RATES)
