# SPDX-License-Identifier: BSD-2-Clause
"""The event model against a second one, under sanitizers, and with descriptions that are wrong."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from second_model import connection

from roceproof.conformance.scenarios.event_model import (
    SANITISED,
    EventModelError,
    event_model,
    play,
    play_all,
)
from roceproof.conformance.scenarios.line import efficiency
from roceproof.conformance.scenarios.network import GBPS, MS, SECOND, US, Flow, Network, Port

RC = Flow(
    path=(0,), mtu=1024, size=10_000, depth=4, messages=200, back=7 * US, timeout=MS, retries=7
)
LINE = Network(ports=(Port(rate=10 * GBPS, delay=5 * US),), flows=(RC,), until=60 * SECOND)


@pytest.mark.parametrize("loss", [0, 10**5, 10**7, 10**8, 3 * 10**8])
def test_a_connection_over_a_lossy_wire_counts_as_a_second_model_does(loss, subtests) -> None:
    for seed, size, depth in ((1, 10_000, 4), (2, 1, 16), (3, 1024, 1), (4, 50_001, 2)):
        with subtests.test(f"{seed}: {depth} x {size}"):
            flow = replace(RC, size=size, depth=depth)
            port = replace(LINE.ports[0], loss=loss)
            network = replace(LINE, ports=(port,), flows=(flow,), seed=seed)
            played, want = play(network), connection(network)
            (told_port,), (told,) = played.ports, played.flows
            got = {key: told[key] for key in ("resent", "naks", "timeouts", "done", "failed")}
            got |= {key: told_port[key] for key in ("sent", "lost")}
            assert got == {key: want[key] for key in got}


def test_every_packet_is_accounted_for() -> None:
    ports = (Port(rate=10 * GBPS), Port(rate=GBPS, buffer=30_000, loss=10**7, twice=10**7))
    flow = replace(RC, kind="uc", path=(0, 1))
    played = play(replace(LINE, ports=ports, flows=(flow,)))
    first, second = played.ports
    assert first["sent"] == second["sent"] + second["dropped"] == 200 * 10
    told = played.flows[0]
    assert told["done"] + told["by_immediates"] == 200
    assert second["dropped"] > 0 and second["lost"] > 0


def test_the_same_seed_plays_the_same_and_another_one_otherwise() -> None:
    lossy = replace(LINE, ports=(replace(LINE.ports[0], loss=10**8),))
    assert play(lossy) == play(lossy) != play(replace(lossy, seed=2))


def test_sanitizers_find_nothing_and_change_nothing() -> None:
    pauses = Port(rate=10 * GBPS, delay=US, xoff=50_000, xon=20_000, pace=9 * GBPS, burst=9000)
    narrow = Port(rate=4 * GBPS, buffer=500_000, swap=10**7, stall_at=MS, stall_for=MS)
    lossy = Port(rate=10 * GBPS, buffer=20_000, loss=10**6)
    flows = (
        replace(RC, path=(0, 1)),
        replace(RC, path=(0, 2), kind="uc", immediate=True, priority=1, receives=3, stall_for=MS),
        replace(RC, path=(0, 1, 2), kind="tcp", depth=500),
        replace(RC, path=(0, 2), pace=GBPS, pace_messages=True, start=MS),
    )
    network = Network(
        ports=(pauses, narrow, lossy), flows=flows, until=20 * MS, since=MS, sample=MS
    )
    assert play(network) == play(network, flags=SANITISED)


@pytest.mark.parametrize("size", [1000, 1 << 20, 64 << 20])
def test_messages_of_any_length_are_spaced_as_they_should(size: int) -> None:
    flow = replace(RC, size=size, depth=2, messages=6, warm=2, timeout=SECOND)
    flow = replace(flow, pace=GBPS, pace_messages=True)
    played = play(replace(LINE, flows=(flow,)))
    assert played.goodput(0, flow) == pytest.approx(GBPS * efficiency(size, 1024), rel=0.001)


def test_nothing_plays_on_when_nobody_wants_more() -> None:
    endless = replace(RC, kind="uc", messages=1 << 40)
    networks = [LINE, *[replace(LINE, flows=(endless,), until=10**6 * SECOND)] * 3]
    played = play_all(networks, jobs=3)
    assert next(played) == play(LINE)
    begun = event_models()
    assert len(begun) == 2
    played.close()
    assert not event_models()


def event_models() -> list[int]:
    """Event models that this process has started."""
    own = Path("/proc/self/task")
    found = [each.read_text().split() for each in own.glob("*/children")]
    names = [(int(n), Path(f"/proc/{n}/comm").read_text()) for each in found for n in each]
    return [number for number, name in names if name.startswith("event-model")]


def test_what_describes_no_network_is_refused_with_the_word(subtests) -> None:
    good = "port rate=1\nflow path=0 mtu=256 size=1 depth=1 messages=1\n"
    rows = {
        "flow path=1 mtu=1 depth=1\n": "no such port",
        "port\n" + good: "without a rate",
        "port rate=1 rat=1\n": "no such key: rat",
        "port rate\n": "no key=value",
        "port rate=-1\n": "not a whole number: -1",
        "port rate=1e9\n": "not a whole number",
        "hop rate=1\n": "neither run, port nor flow: hop",
        "port rate=1\nflow mtu=256 depth=1\n": "without a path",
        "port rate=1\nflow path=0 mtu=0 depth=1\n": "out of range",
        "port rate=1\nflow path=0 mtu=9001 depth=1\n": "out of range",
        "port rate=1\nflow path=0 mtu=1 depth=0\n": "out of range",
        "port rate=1\nflow path=0 mtu=1 depth=1 kind=3\n": "out of range",
        "port rate=1\nflow path=0 mtu=1 depth=1 priority=2\n": "out of range",
        "port rate=1\nflow path=0 mtu=1 depth=1048577\n": "out of range",
        "port rate=1\nflow path=0 mtu=1 depth=1 size=2147483649\n": "out of range",
        "port rate=1\nflow path=0 mtu=1 depth=1 size=2000000000 messages=10000000000\n": "counted",
        "port rate=1 xon=1\n" + good: "xon above xoff",
        "port rate=1\nflow path=0,0,0,0,0,0,0,0,0 mtu=1 depth=1\n": "more ports in a path than 8",
        "run until=999999999999 sample=1\n" + good: "too many samples",
        "\n": "neither run, port nor flow",
    }
    for text, words in rows.items():
        with subtests.test(text):
            done = subprocess.run(
                [event_model(SANITISED)], input=text, capture_output=True, text=True, check=False
            )
            assert done.returncode == 2
            assert words in done.stderr
            assert not done.stdout


def test_a_network_that_it_refuses_is_an_error_with_its_words() -> None:
    with pytest.raises(EventModelError, match="without a rate"):
        play(replace(LINE, ports=(Port(rate=0),)))
