# SPDX-License-Identifier: BSD-2-Clause
"""What kept cores in FPGAs from talking with NICs, replayed and explained by name.

RC WRITE, from the endpoint in HDL with the faults of rtl/mutants/history, or configured as it was.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from roceproof.conformance.scenarios.frames.trial import Trial, scenes
from roceproof.conformance.scenarios.line import windowed
from roceproof.conformance.scenarios.network import FOREVER, GBPS, US, Flow, Network, Played, Port
from roceproof.conformance.scenarios.scenario import (
    Check,
    Plot,
    Point,
    Row,
    Scenario,
    Scene,
    SceneScenario,
    at_least,
    at_most,
    exactly,
    significant,
    within,
)

_UNHEARD = "retry_exc_err wr_flush_err"
_LANDED = Plot("regime", "landed", (), "regime", "messages landed", log_x=False)


def _lands(row: Row) -> Iterator[Check]:
    """All arrives, and no judge has anything to say."""
    where = row["regime"]
    yield exactly(f"{where}: landed", row["messages"], row["landed"])
    yield exactly(f"{where}: ended as", "success", row["ended_as"])
    yield exactly(f"{where}: broken rules and names", "", row["rules"] + row["names"])


def _never_lands(row: Row, *, rule: str, name: str) -> Iterator[Check]:
    where = row["regime"]
    yield exactly(f"{where}: landed", 0, row["landed"])
    yield exactly(f"{where}: ended as", _UNHEARD, row["ended_as"])
    yield from _named(row, rule=rule, name=name)


def _named(row: Row, *, rule: str, name: str) -> Iterator[Check]:
    yield exactly(f"{row['regime']}: broken rules", rule, row["rules"])
    yield exactly(f"{row['regime']}: named", name, row["names"])


_BOTH_WAYS = "fpga-ttl-unmasked-both-ways"


def _twins(_quick: bool, seed: int) -> Iterator[Scene]:
    yield from scenes(
        (
            Trial(name="healthy-to-itself", twin=""),
            Trial(name="buggy-to-itself", fault=_BOTH_WAYS, twin=_BOTH_WAYS),
            Trial(name="buggy-to-reference", fault=_BOTH_WAYS),
            Trial(name="healthy-to-buggy", twin=_BOTH_WAYS),
        ),
        seed,
    )


def _twin_checks(rows: Sequence[Row]) -> Iterator[Check]:
    healthy, twins, reference, other = rows
    yield from _lands(healthy)
    yield exactly("buggy-to-itself: landed", twins["messages"], twins["landed"])
    yield exactly("buggy-to-itself: ended as", "success", twins["ended_as"])
    yield from _named(twins, rule="ICRC-02 ICRC-18", name="S01")
    yield from _never_lands(reference, rule="ICRC-02", name="S01")
    yield from _never_lands(other, rule="", name="")
    yield exactly("NAKs", 0, sum(row["naks"] for row in rows))


TWIN = SceneScenario(
    id="fpga-twin",
    title="two devices with the same bug agree with each other: neither masks the TTL",
    published="two FPGAs talked with each other, and with no NIC",
    points=_twins,
    checks=_twin_checks,
    plot=_LANDED,
)


_GUEST = "-to-guest"


def _with_guest(trials: Sequence[Trial], seed: int, *, quick: bool) -> Iterator[Scene]:
    """To the reference model, and in a full run to Soft-RoCE, too."""
    live = [replace(trial, name=f"{trial.name}{_GUEST}", is_live=True) for trial in trials]
    yield from scenes(trials if quick else [*trials, *live], seed)


_STARTS = {
    "own-psn-ahead": Trial(name="own-psn-ahead", swaps_psns=True),
    "own-psn-behind": Trial(name="own-psn-behind", swaps_psns=True, own_psn=0xB00000),
}


def _psns(quick: bool, seed: int) -> Iterator[Scene]:
    yield from _with_guest([Trial(name="healthy"), *_STARTS.values()], seed, quick=quick)


def _psn_checks(rows: Sequence[Row]) -> Iterator[Check]:
    for row in rows:
        regime = row["regime"].removesuffix(_GUEST)
        if regime in _STARTS:
            yield from _never_lands(row, rule="PSN-01", name="P01")
            yield exactly(f"{row['regime']}: NAKs", int(regime == "own-psn-ahead"), row["naks"])
        else:
            yield from _lands(row)


PSN = SceneScenario(
    id="fpga-psn",
    title="the sender starts with its own queue pair's PSN",
    published="nothing arrived; it was seen in a dump only",
    points=_psns,
    checks=_psn_checks,
    plot=_LANDED,
)

_WRONG_ICRCS = {
    "psn-patched": ("fpga-psn-patched-behind-icrc", "S55"),
    "constant": ("fpga-icrc-constant", "S46"),
    "ttl-unmasked": ("fpga-ttl-unmasked", "S01"),
}


def _icrcs(quick: bool, seed: int) -> Iterator[Scene]:
    faulty = [Trial(name=name, fault=fault) for name, (fault, _) in _WRONG_ICRCS.items()]
    yield from _with_guest([Trial(name="healthy"), *faulty], seed, quick=quick)


def _icrc_checks(rows: Sequence[Row]) -> Iterator[Check]:
    for row in rows:
        regime = row["regime"].removesuffix(_GUEST)
        if regime in _WRONG_ICRCS:
            _, name = _WRONG_ICRCS[regime]
            yield from _never_lands(row, rule="ICRC-02", name=name)
            yield exactly(f"{row['regime']}: NAKs", 0, row["naks"])
        else:
            yield from _lands(row)


ICRC = SceneScenario(
    id="fpga-icrc",
    title="an ICRC of other PSNs, a constant one, and one with a wrong mask",
    published="the NIC counted ICRC errors; the cause was never found",
    points=_icrcs,
    checks=_icrc_checks,
    plot=_LANDED,
)

_IP_MTU = 1500


def _jumbos(_quick: bool, seed: int) -> Iterator[Scene]:
    yield from scenes(
        (
            Trial(
                name=f"{mtu}{'' if df else '-may-be-fragmented'}",
                fault="" if df else "fpga-may-be-fragmented",
                mtu=mtu,
                size=4096,
                ip_mtu=_IP_MTU,
                words={"mtu": mtu, "df": df},
            )
            for df in (True, False)
            for mtu in (256, 512, 1024, 2048, 4096)
        ),
        seed,
    )


def _jumbo_checks(rows: Sequence[Row]) -> Iterator[Check]:
    for row in rows:
        where, fits = row["regime"], row["mtu"] <= 1024
        rules = ([] if row["df"] else ["IP-03"]) + ([] if fits else ["MTU-09"])
        yield from _named(row, rule=" ".join(rules), name="")
        yield exactly(f"{where}: landed", row["messages"] if fits else 0, row["landed"])
        yield exactly(f"{where}: ended as", "success" if fits else _UNHEARD, row["ended_as"])
        sent = row["messages"] * 4096 // row["mtu"]
        yield exactly(f"{where}: dropped", 0 if fits else sent, row["dropped"])


JUMBO = SceneScenario(
    id="fpga-jumbo",
    title=f"a network of MTU {_IP_MTU} drops what is longer, with Don't Fragment or without",
    published="above 1024 B nothing passed the 1500 B network, DF or not",
    points=_jumbos,
    checks=_jumbo_checks,
    plot=Plot("mtu", "landed", ("df",), "path MTU (bytes)", "messages landed"),
)

_DEPTH, _ROUND_TRIP = 15, 6 * US


def _rates(quick: bool, seed: int) -> Iterator[Point]:
    for size in (128, 256, 512, 1024):
        flow = Flow(
            path=(0,),
            mtu=1024,
            size=size,
            depth=_DEPTH,
            messages=20_000 if quick else 2_000_000,
            warm=1000,
            back=_ROUND_TRIP // 2,
            timeout=100 * _ROUND_TRIP,
        )
        ports = (Port(rate=100 * GBPS, delay=_ROUND_TRIP // 2),)
        yield Point({"size": size}, Network(ports=ports, flows=(flow,), until=FOREVER, seed=seed))


def _rate(point: Point, played: Played) -> Row:
    rate = played.goodput(0, point.network.flows[0])
    return {
        "gbps": significant(rate / GBPS),
        "mmessages_s": significant(rate / 8 / point.words["size"] / 1e6),
    }


def _rate_checks(rows: Sequence[Row]) -> Iterator[Check]:
    for row in rows:
        rtt = _ROUND_TRIP / 1e12
        due = windowed(100e9, rtt, size=row["size"], depth=_DEPTH, mtu=1024) / 1e9
        yield within(f"{row['size']} bytes: 15 in a round trip", due, row["gbps"], of=0.01)
    rates = [row["mmessages_s"] for row in rows]
    yield at_least("the least message rate", 2.45, min(rates), unit=" M/s")
    yield at_most("the greatest message rate", 2.5, max(rates), unit=" M/s")


RATE = Scenario(
    id="fpga-rate",
    title="a flat message rate: 15 messages outstanding over 6 us",
    published="2.50, 5.05, 10.25 and 20.42 Gb/s at 128 to 1024 B; 5.6 to 6.0 us",
    points=_rates,
    measure=_rate,
    checks=_rate_checks,
    plot=Plot("size", "mmessages_s", (), "message size (bytes)", "messages a second (millions)"),
)

SCENARIOS: tuple[SceneScenario | Scenario, ...] = (TWIN, PSN, ICRC, JUMBO, RATE)
