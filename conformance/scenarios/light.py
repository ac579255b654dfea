# SPDX-License-Identifier: BSD-2-Clause
"""The light transmitter's tests, and how many messages it takes to fill a line at all.

RC WRITE, one transmitter through a switch, and several that share a receiver who pauses them.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise, product
from math import ceil

from roceproof.conformance.scenarios.daq import KIB, MIB, NEAR
from roceproof.conformance.scenarios.line import efficiency, windowed
from roceproof.conformance.scenarios.network import (
    ENDLESS,
    FOREVER,
    GBPS,
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
    significant,
    within,
)

_TIMEOUT = (4096 << 16) * 1000


def _throughput(quick: bool, seed: int) -> Iterator[Point]:
    sizes = (256, 4 * KIB, 256 * KIB) if quick else tuple(1 << power for power in range(8, 21))
    mtus = (256, 1024, 4096) if quick else (256, 512, 1024, 2048, 4096)
    for rate, mtu, size in product((10, 25, 100), mtus, sizes):
        messages = max(64, (2 if quick else 16) * MIB // size)
        flow = Flow(
            path=(0,),
            mtu=mtu,
            size=size,
            depth=16,
            messages=messages,
            warm=16,
            back=NEAR,
            timeout=_TIMEOUT,
        )
        ports = (Port(rate=rate * GBPS, delay=NEAR),)
        words = {"line_gbps": rate, "mtu": mtu, "size": size}
        yield Point(words, Network(ports=ports, flows=(flow,), until=FOREVER, seed=seed))


def _one_rate(point: Point, played: Played) -> Row:
    plan, told = point.network.flows[0], played.flows[0]
    return {
        "gbps": significant(played.goodput(0, plan) / GBPS),
        "latency_us": significant(told["latency_least"] / US),
    }


def _throughput_checks(rows: Sequence[Row]) -> Iterator[Check]:
    for rate, mtu in sorted({(row["line_gbps"], row["mtu"]) for row in rows}):
        curve = sorted(
            (row for row in rows if (row["line_gbps"], row["mtu"]) == (rate, mtu)),
            key=lambda row: row["size"],
        )
        plateau = curve[-1]
        want = rate * efficiency(plateau["size"], mtu)
        name = f"{rate}G, path MTU {mtu}: plateau"
        yield at_least(name, 0.999 * want, plateau["gbps"], unit=" Gb/s")
        rises = all(a["gbps"] <= 1.001 * b["gbps"] for a, b in pairwise(curve))
        words = ", ".join(f"{row['gbps']:.3g}" for row in curve)
        yield Check(f"{rate}G, path MTU {mtu}: rises to it", "rising", words, rises)


THROUGHPUT = Scenario(
    id="light-throughput",
    title="one transmitter at 10, 25 and 100 Gb/s",
    published="9.64 of 10 and 24.10 of 25 Gb/s at 262 kB, path MTU 4096",
    points=_throughput,
    measure=_one_rate,
    checks=_throughput_checks,
    plot=Plot("size", "gbps", ("line_gbps", "mtu"), "message size (bytes)", "throughput (Gb/s)"),
)


def _pauses(quick: bool, seed: int) -> Iterator[Point]:
    thresholds = (50_000, 200_000) if quick else (25_000, 50_000, 100_000, 200_000, 400_000)
    until = (30 if quick else 300) * 1000 * US
    for rate, senders, xoff in product((10, 25), (1, 2, 3, 4), thresholds):
        ports = (
            *(Port(rate=rate * GBPS, delay=NEAR, xoff=xoff, xon=xoff // 2) for _ in range(senders)),
            Port(rate=rate * GBPS - rate * 50_000, buffer=16 * MIB, delay=NEAR),
        )
        flows = tuple(
            Flow(
                path=(number, senders),
                mtu=4096,
                size=256 * KIB,
                depth=16,
                messages=ENDLESS,
                back=2 * NEAR,
                timeout=_TIMEOUT,
                start=number * US,
            )
            for number in range(senders)
        )
        network = Network(ports=ports, flows=flows, until=until, since=until // 4, seed=seed)
        yield Point({"line_gbps": rate, "senders": senders, "xoff": xoff}, network)


def _paused(point: Point, played: Played) -> Row:
    rates = [played.rate_since(number, point.network) / GBPS for number in range(len(played.flows))]
    told = played.flows[0]
    return {
        "gbps": significant(sum(rates)),
        "unlike": significant((max(rates) - min(rates)) / max(rates)),
        "lost": sum(port["dropped"] for port in played.ports),
        "resent": sum(flow["resent"] for flow in played.flows),
        "latency_us": significant(told["latency_sum"] / max(1, told["done"]) / US),
    }


def _pause_checks(rows: Sequence[Row]) -> Iterator[Check]:
    yield exactly("dropped, or sent again", 0, sum(row["lost"] + row["resent"] for row in rows))
    for rate, xoff in sorted({(row["line_gbps"], row["xoff"]) for row in rows}):
        some = [row for row in rows if (row["line_gbps"], row["xoff"]) == (rate, xoff)]
        alone, *others = sorted(some, key=lambda row: row["senders"])
        where = f"{rate}G, threshold {xoff}"
        worst = max(others, key=lambda row: abs(row["gbps"] - alone["gbps"]))
        yield within(f"{where}: total as of one alone", alone["gbps"], worst["gbps"], of=0.002)
        alike = max(row["unlike"] for row in others)
        yield Check(f"{where}: equal", "within 5 %", f"{alike:.1%}", alike <= 0.05)
        yield _latency_grows(f"{where}: latency grows with the senders (us)", [alone, *others])
    shared = [row for row in rows if row["senders"] > 1]
    for rate, senders in sorted({(row["line_gbps"], row["senders"]) for row in shared}):
        some = [row for row in shared if (row["line_gbps"], row["senders"]) == (rate, senders)]
        name = f"{rate}G, {senders} senders: latency grows with the threshold (us)"
        yield _latency_grows(name, sorted(some, key=lambda row: row["xoff"]))


def _latency_grows(name: str, rows: Sequence[Row]) -> Check:
    """From each row to the next."""
    times = [row["latency_us"] for row in rows]
    grows = all(a < b for a, b in pairwise(times))
    return Check(name, "growing", ", ".join(f"{time:.0f}" for time in times), grows)


PAUSE = Scenario(
    id="light-pause",
    title="one to four transmitters, and a receiver that pauses them",
    published="9.63 and 24.09 Gb/s in all, latency 2.9 and 4 times that of one alone",
    points=_pauses,
    measure=_paused,
    checks=_pause_checks,
    plot=Plot("senders", "latency_us", ("line_gbps", "xoff"), "senders", "latency (us)", False),
)


def _depths(quick: bool, seed: int) -> Iterator[Point]:
    sizes = (64 * KIB, MIB) if quick else (4 * KIB, 64 * KIB, 256 * KIB, MIB)
    for rtt, size in product((1, 10, 100, 1000, 95_000), sizes):
        full = 10 * GBPS * efficiency(size, 4096)
        fills = ceil(full * rtt * 1e-6 / 8 / size) + 1
        for depth in (fills - 1, fills):
            flow = Flow(
                path=(0,),
                mtu=4096,
                size=size,
                depth=depth,
                messages=5 * depth,
                warm=depth,
                back=rtt * US // 2,
                timeout=_TIMEOUT,
            )
            network = Network(
                ports=(Port(rate=10 * GBPS, delay=rtt * US // 2),),
                flows=(flow,),
                until=FOREVER,
                seed=seed,
            )
            words = {"rtt_us": rtt, "size": size, "depth": depth, "fills": fills}
            yield Point(words, network)


def _depth_checks(rows: Sequence[Row]) -> Iterator[Check]:
    for row in rows:
        law = windowed(
            10 * GBPS, row["rtt_us"] * 1e-6, size=row["size"], depth=row["depth"], mtu=4096
        )
        what = "fills" if row["depth"] == row["fills"] else "one fewer"
        name = f"{row['rtt_us']} us, {row['size']} bytes, {row['depth']}: {what}"
        yield within(name, law / GBPS, row["gbps"], of=0.001, unit=" Gb/s")


DEPTH = Scenario(
    id="verbs-depth",
    title="how many messages must be outstanding to fill 10 Gb/s, from 1 us to 95 ms",
    published="3 to 8 outstanding, more when the far end is far",
    points=_depths,
    measure=_one_rate,
    checks=_depth_checks,
    plot=Plot("rtt_us", "depth", ("size",), "round trip (us)", "messages that fill", log_y=True),
)

SCENARIOS: tuple[Scenario, ...] = (THROUGHPUT, PAUSE, DEPTH)
