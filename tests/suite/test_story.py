# SPDX-License-Identifier: BSD-2-Clause
"""What a failure tells of frames that the device was offered, and the addresses that are drawn."""

from __future__ import annotations

from roceproof.conformance.runner.judging.scoreboard import judge
from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.pattern import ACK
from roceproof.conformance.suite.reporting.frame_timeline import Clock, story
from roceproof.conformance.suite.reporting.transcript import Entry
from roceproof.conformance.targets.drawn_address import (
    PEERS_LAST_BYTES,
    drawn_address,
    drawn_peer,
)
from roceproof.conformance.targets.interface import CasePlace
from roceproof.conformance.targets.model.device import ModelFactory
from roceproof.conformance.wire import frame_edits as edits
from roceproof.verbs.addresses import Host, link_local
from roceproof.verbs.work import Op

FRAMES = [
    Entry(100, True, bytes(60)),
    Entry(200, False, bytes(62)),
    Entry(200, False, bytes(64), comment="must be dropped"),
    Entry(900, True, bytes(60)),
]


def told(clock: Clock) -> list[str]:
    return story(FRAMES, lambda entry: f"{len(entry.frame)}", clock).splitlines()[1:]


def test_each_frame_offered_says_how_near_its_neighbours_were_in_cycles() -> None:
    first, second = told(Clock([300, 308], cycle_ps=4000))[1:3]
    assert first.endswith(
        "> 62  [62 bytes; 50 cycles behind the frame before, 2 cycles before the next]"
    )
    assert second.endswith(
        "[64 bytes; must be dropped, 2 cycles behind the frame before, 148 cycles before the next]"
    )


def test_without_a_clock_distances_are_told_in_nanoseconds() -> None:
    first, second = told(Clock([]))[1:3]
    assert "100 ns behind the frame before, 0 ns before the next" in first
    assert "700 ns before the next" in second


def test_a_frame_that_is_not_taken_whole_stands_behind_one_that_is() -> None:
    first, second = told(Clock([300]))[1:3]
    assert ("> 62 " in first, "> 64 " in second) == (True, True)


def test_a_wrong_icrc_that_was_offered_is_said() -> None:
    source = ModelFactory()
    with source.device(CasePlace(name="story", seed=1)) as target:
        bench = Bench(target, source.claims, seed=1)
        qp = bench.connect()
        qp.expect_message(qp.post(Op.WRITE, 8))
        qp.send(ACK(psn=0, msn=1).corrupted(edits.bad_icrc()))
        qp.does_not_complete()
        assert "wrong ICRC" in bench.story()


def test_a_device_and_its_peers_have_other_addresses_in_each_case() -> None:
    own = [drawn_address(seed) for seed in range(200)]
    assert len({host.mac for host in own}) == len({host.ip for host in own}) == 200
    assert len({host.ip[0] for host in own}) > 20
    assert not any(host.mac[0] & 1 for host in own)
    assert not any(host.ip[-1] in PEERS_LAST_BYTES for host in own)
    peers = [drawn_peer(host, 0, seed) for seed, host in enumerate(own)]
    beside = sum(peer.ip[:3] == host.ip[:3] for peer, host in zip(peers, own, strict=True))
    assert 60 < beside < 140


def test_peers_over_ipv6_are_on_the_link_as_often_as_behind_a_router() -> None:
    own = [Host(host.mac, link_local(host.mac)) for host in map(drawn_address, range(200))]
    peers = [drawn_peer(host, 0, seed) for seed, host in enumerate(own)]
    beside = sum(peer.ip[:15] == host.ip[:15] for peer, host in zip(peers, own, strict=True))
    assert 60 < beside < 140
    assert {peer.ip[:2].hex() for peer in peers} == {"fe80", "2001"}


def test_a_healthy_device_passes_under_every_address() -> None:
    source = ModelFactory()
    for seed in range(8):
        with source.device(CasePlace(name="address", seed=seed)) as target:
            bench = Bench(target, source.claims, seed=seed)
            bench.connect().transfer(Op.WRITE, 5)
            assert judge(bench) == []
