# SPDX-License-Identifier: BSD-2-Clause
"""Data acquisition: many unreliable connections that write, each message flagged by an immediate.

UC WRITE with immediate at path MTU 4096. What is not delivered whole completes nothing, so that the
gap in the immediates is all that tells of it.
"""

from collections.abc import Iterator, Sequence
from itertools import product
from math import sqrt

from roceproof.conformance.scenarios.line import efficiency, line_bytes, packets
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
    significant,
    within,
)

MTU = 4096
KIB, MIB = 1 << 10, 1 << 20
NEAR = US // 2


def uc_flow(*, path: tuple[int, ...], size: int, messages: int, **words: int) -> Flow:
    """A connection that writes with immediate."""
    return Flow(
        kind="uc",
        path=path,
        mtu=MTU,
        size=size,
        messages=messages,
        immediate=True,
        **words,  # type: ignore[arg-type]
    )


def _sizes(quick: bool, seed: int) -> Iterator[Point]:
    for size in (4 * KIB, 16 * KIB, 50_000, MIB, 16 * MIB, *(() if quick else (200 * MIB,))):
        messages = max(8, (32 if quick else 512) * MIB // size)
        flow = uc_flow(path=(0,), size=size, messages=messages, warm=messages // 4)
        ports = (Port(rate=100 * GBPS, delay=NEAR),)
        yield Point({"size": size}, Network(ports=ports, flows=(flow,), until=FOREVER, seed=seed))


def _rate(point: Point, played: Played) -> Row:
    plan = point.network.flows[0]
    rate = played.goodput(0, plan)
    return {"gbps": significant(rate / GBPS), "messages_s": significant(rate / 8 / plan.size)}


def _size_checks(rows: Sequence[Row]) -> Iterator[Check]:
    for row in rows:
        want = 100 * efficiency(row["size"], MTU, immediate=True)
        yield within(f"{row['size']} bytes: line arithmetic", want, row["gbps"], of=0.001)


SIZE = Scenario(
    id="daq-size",
    title="goodput over message size, one connection at 100 Gb/s",
    published="over 98 from 50 KiB; 16 KiB 0.33 above 4 KiB; 1 MiB 0.2 above 16 KiB",
    points=_sizes,
    measure=_rate,
    checks=_size_checks,
    plot=Plot("size", "gbps", (), "message size (bytes)", "goodput (Gb/s)"),
)

QUEUE = 1000


def _starve(quick: bool, seed: int) -> Iterator[Point]:
    stalls = (200, 400, 1600) if quick else (100, 200, 330, 340, 400, 800, 1600, 3200)
    for size, stall, pause in product((4 * KIB, 16 * KIB), stalls, (False, True)):
        messages = 2 * int(stall * 1e-6 * 100e9 / 8 / size) + 2 * QUEUE
        begin = 50 * US
        if pause:
            ports: tuple[Port, ...] = (
                Port(rate=100 * GBPS, delay=NEAR, xoff=100_000, xon=50_000),
                Port(rate=200 * GBPS, buffer=400_000, stall_at=begin, stall_for=stall * US),
            )
            flow = uc_flow(path=(0, 1), size=size, messages=messages)
        else:
            ports = (Port(rate=100 * GBPS, delay=NEAR),)
            flow = uc_flow(
                path=(0,),
                size=size,
                messages=messages,
                receives=QUEUE,
                stall_at=begin,
                stall_for=stall * US,
            )
        network = Network(ports=ports, flows=(flow,), until=FOREVER, seed=seed)
        yield Point({"size": size, "stall_us": stall, "pause": pause}, network)


def _starved(point: Point, played: Played) -> Row:
    told = played.flows[0]
    row = _rate(point, played)
    lost = point.network.flows[0].messages - told["done"]
    return {"gbps": row["gbps"], "lost": lost, "by_immediates": told["by_immediates"]}


def _starve_checks(rows: Sequence[Row]) -> Iterator[Check]:
    for row in rows:
        where = f"{row['size']} bytes, {row['stall_us']} us"
        if row["pause"]:
            yield exactly(f"{where}, PAUSE: lost", 0, row["lost"])
            continue
        each = line_bytes(row["size"], MTU, immediate=True) * 8 / 100e9
        due = max(0.0, row["stall_us"] * 1e-6 / each - QUEUE)
        yield Check(
            f"{where}: lost is what comes without a receive",
            f"{due:.1f} +- 1",
            str(row["lost"]),
            abs(row["lost"] - due) <= 1,
        )
        yield exactly(f"{where}: told by immediates", row["lost"], row["by_immediates"])
    dips = [row["gbps"] for row in rows if row["pause"]]
    yield at_most("PAUSE: goodput dips", 0.99 * 97.5, min(dips), unit=" Gb/s")


STARVE = Scenario(
    id="daq-starve",
    title=f"the consumer stalls, {QUEUE} receives are posted",
    published="at 4-16 KiB an empty receive queue lost less than 500 kB",
    points=_starve,
    measure=_starved,
    checks=_starve_checks,
    plot=Plot("stall_us", "lost", ("size", "pause"), "stall (us)", "messages lost"),
)


def _many(quick: bool, seed: int) -> Iterator[Point]:
    counts = (4, 40, 2000) if quick else (4, 40, 400, 2000)
    bursts = (1, 16) if quick else (1, 4, 16, 64)
    for count, size, burst in product(counts, (8 * KIB, 16 * KIB), bursts):
        yield _to_one(count, size, seed, quick=quick, mode="paced", burst=burst)
    for count in (40, 400):
        yield _to_one(count, 16 * KIB, seed, quick=quick, mode="paced", burst=16, together=False)
    for count, mode, together in product((40, 400), ("PFC", "none"), (True, False)):
        yield _to_one(count, 16 * KIB, seed, quick=quick, mode=mode, together=together)


def _to_one(
    count: int,
    size: int,
    seed: int,
    *,
    quick: bool,
    mode: str,
    burst: int = 1,
    together: bool = True,
) -> Point:
    """Four senders of 25 Gb/s, of which the paced ones send 23, to one receiver."""
    packet = line_bytes(MTU, MTU, immediate=True)
    paced = {"pace": 23 * GBPS, "burst": (burst - 1) * packet} if mode == "paced" else {}
    pauses = {"xoff": 200_000, "xon": 100_000} if mode == "PFC" else {}
    out = 100 if mode == "paced" else 50
    senders = tuple(Port(rate=25 * GBPS, delay=NEAR, **paced, **pauses) for _ in range(4))
    slack = 0 if mode == "paced" else 5_000_000
    ports = (*senders, Port(rate=out * GBPS - slack, buffer=16 * MIB, delay=NEAR))
    if mode == "paced":
        messages = ENDLESS
        # Whole messages count, so that one of each queue pair may be missing or too many.
        rounds = 120 if quick else 600
        until = max(20 * US * 1000, rounds * int(count * size * 8 / 92e9 * SECOND))
    else:
        messages, until = max(8, (64 if quick else 512) * MIB // size // count), FOREVER
    flows = tuple(
        uc_flow(
            path=(number % 4, 4),
            size=size,
            messages=messages,
            start=0 if together else number * 3 * US,
        )
        for number in range(count)
    )
    words = {"mode": mode, "qps": count, "size": size, "burst": burst, "together": together}
    since = until // 6 if mode == "paced" else 0
    return Point(words, Network(ports=ports, flows=flows, until=until, since=since, seed=seed))


def _gathered(point: Point, played: Played) -> Row:
    plans, told, network = point.network.flows, played.flows, point.network
    end = network.until if network.since else max(each["last_time"] for each in told)
    done = [each["delivered_since"] for each in told]
    return {
        "gbps": significant(8 * sum(done) * SECOND / (end - network.since) / GBPS),
        "spread": significant((max(done) - min(done)) / max(done)),
        "lost": sum(
            plan.messages - each["done"]
            for plan, each in zip(plans, told, strict=True)
            if plan.messages != ENDLESS
        ),
        "by_immediates": sum(each["by_immediates"] for each in told),
        "dropped": sum(port["dropped"] for port in played.ports),
        "peak": played.ports[-1]["peak"],
        "pauses": sum(port["pauses_sent"] for port in played.ports),
    }


def _many_checks(rows: Sequence[Row]) -> Iterator[Check]:
    paced = [row for row in rows if row["mode"] == "paced"]
    for size in (8 * KIB, 16 * KIB):
        want = 4 * 23 * efficiency(size, MTU, immediate=True)
        some = [row["gbps"] for row in paced if row["size"] == size]
        worst = max(some, key=lambda rate: abs(rate - want))
        yield within(f"paced, {size} bytes: four times 23 of the line", want, worst, of=0.002)
    yield exactly("paced: dropped, paused", 0, sum(r["dropped"] + r["pauses"] for r in paced))
    packet = line_bytes(MTU, MTU, immediate=True)
    over = max(row["peak"] - 4 * row["burst"] * packet for row in paced)
    yield at_most("paced: the queue holds a burst of each sender at most; bytes over that", 0, over)
    yield at_most("paced: spread over the queue pairs", 0.02, max(row["spread"] for row in paced))
    pfc = [row for row in rows if row["mode"] == "PFC"]
    yield exactly("25 into 50 with PFC: dropped", 0, sum(row["dropped"] for row in pfc))
    none = [row for row in rows if row["mode"] == "none"]
    yield at_least("25 into 50 without: lost", 1, min(row["lost"] for row in none))
    told = [(row["lost"], row["by_immediates"]) for row in none]
    yield Check(
        "what is lost is told by immediates",
        "lost = told",
        ", ".join(f"{lost} = {told}" for lost, told in told),
        all(lost == told for lost, told in told),
    )


MANY_TO_ONE = Scenario(
    id="daq-many-to-one",
    title="four senders to one receiver, over 4 to 2000 queue pairs",
    published="90 Gb/s at 4, 400 and 2000 queue pairs, dips at 40",
    points=_many,
    measure=_gathered,
    checks=_many_checks,
    plot=Plot("qps", "gbps", ("mode", "size", "burst"), "queue pairs", "goodput (Gb/s)"),
)


_LATE, _LATE_FOR, _NONE = 2, 1000 * US, "none"


def _spread(quick: bool, seed: int) -> Iterator[Point]:
    for count, size, is_late in (
        *product((4, 400, 2000), (8 * KIB, 16 * KIB), (False,)),
        (4, 8 * KIB, True),
        (4, 16 * KIB, True),
    ):
        starves = {"receives": 16, "stall_for": _LATE_FOR}
        ports = (
            Port(rate=100 * GBPS, delay=NEAR, pace=100 * GBPS - 20_000_000),
            *(Port(rate=25 * GBPS, buffer=MIB, delay=NEAR) for _ in range(4)),
        )
        messages = max(8, (64 if quick else 512) * MIB // size // count)
        flows = tuple(
            uc_flow(
                path=(0, 1 + number % 4),
                size=size,
                messages=messages,
                **(starves if is_late and number % 4 == _LATE else {}),
            )
            for number in range(count)
        )
        words = {"qps": count, "size": size, "late": str(_LATE) if is_late else _NONE}
        yield Point(words, Network(ports=ports, flows=flows, until=FOREVER, seed=seed))


def _each(point: Point, played: Played) -> Row:
    ends = [max(each["last_time"] for each in played.flows[number::4]) for number in range(4)]
    done = [
        sum(each["done"] for each in played.flows[number::4]) * point.words["size"]
        for number in range(4)
    ]
    rates = [8 * some * SECOND / end / GBPS for some, end in zip(done, ends, strict=True)]
    lost = [sum(each["by_immediates"] for each in played.flows[place::4]) for place in range(4)]
    flagged = [place for place, each in enumerate(lost) if each]
    return {
        "least_gbps": significant(min(rates)),
        "most_gbps": significant(max(rates)),
        "dropped": sum(port["dropped"] for port in played.ports),
        "flagged_at": " ".join(map(str, flagged)) or _NONE,
    }


def _spread_checks(rows: Sequence[Row]) -> Iterator[Check]:
    for row in rows:
        where = f"{row['qps']} queue pairs, {row['size']} bytes"
        yield exactly(f"{where}: late, named by immediates", row["late"], row["flagged_at"])
        if row["late"] != _NONE:
            continue
        want = 25 * efficiency(row["size"], MTU, immediate=True)
        yield within(f"{where}: the slowest receiver", want, row["least_gbps"], of=0.005)
    yield exactly("dropped", 0, sum(row["dropped"] for row in rows))


ONE_TO_MANY = Scenario(
    id="daq-one-to-many",
    title="one sender to four receivers, over 4 to 2000 queue pairs",
    published="four times 24.4 Gb/s up to 400 queue pairs; at 2000 receivers timed out while the"
    " sender prepared",
    points=_spread,
    measure=_each,
    checks=_spread_checks,
    plot=Plot("qps", "least_gbps", ("size",), "queue pairs", "the slowest receiver (Gb/s)"),
)


def _flags(quick: bool, seed: int) -> Iterator[Point]:
    powers = (-4, -3, -2) if quick else (-6, -5, -4, -3, -2)
    for power, size in product(powers, (4 * KIB, 16 * KIB, 64 * KIB, MIB)):
        each = round(10**power * 1e9)
        port = Port(rate=100 * GBPS, delay=NEAR, loss=each)
        count = (40_000 if quick else 1_000_000) // packets(size, MTU)
        flow = uc_flow(path=(0,), size=size, messages=count)
        words = {"loss": 10**power, "size": size, "messages": count}
        yield Point(words, Network(ports=(port,), flows=(flow,), until=FOREVER, seed=seed))


def _flagged(point: Point, played: Played) -> Row:
    told = played.flows[0]
    return {key: told[key] for key in ("injected", "by_immediates", "by_psns")}


def _flag_checks(rows: Sequence[Row]) -> Iterator[Check]:
    for row in rows:
        where = f"{row['loss']:.0e}, {row['size']} bytes"
        got = f"{row['by_immediates']} = {row['by_psns']} = {row['injected']}"
        alike = row["by_immediates"] == row["by_psns"] == row["injected"]
        yield Check(f"{where}: by immediates = by PSNs = injected", "three alike", got, alike)
        share = 1 - (1 - row["loss"]) ** packets(row["size"], MTU)
        due = share * row["messages"]
        room = 4 * sqrt(due * (1 - share)) + 1
        yield Check(
            f"{where}: messages lost are 1 - (1 - p)^n",
            f"{due:.0f} +- {room:.0f}",
            str(row["injected"]),
            abs(row["injected"] - due) <= room,
        )


LOSS_FLAGS = Scenario(
    id="daq-loss-flags",
    title="what is lost, by the receiver's immediates, by PSNs, and by the link that lost it",
    published="the immediate flags a queued region valid; torn messages consume no receive",
    points=_flags,
    measure=_flagged,
    checks=_flag_checks,
    plot=Plot("loss", "injected", ("size",), "share of packets lost", "messages lost", log_y=True),
)

SCENARIOS: tuple[Scenario, ...] = (SIZE, STARVE, MANY_TO_ONE, ONE_TO_MANY, LOSS_FLAGS)
