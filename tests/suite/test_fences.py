# SPDX-License-Identifier: BSD-2-Clause
"""Fences and sweeps: a device that takes what it must drop is found, and the culprit is named."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from roceproof.conformance.model.components import Components
from roceproof.conformance.model.ingress import Ingress, QueuePairView
from roceproof.conformance.runner.judging.scoreboard import judge
from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.memory import at
from roceproof.conformance.suite.pattern import WRITE_ONLY, Pattern
from roceproof.conformance.suite.reporting.failure import CaseFailed
from roceproof.conformance.suite.sweep import accepts_each, drops_each
from roceproof.conformance.targets.interface import CasePlace
from roceproof.conformance.targets.model.device import ModelFactory
from roceproof.conformance.wire import frame_edits as edits
from roceproof.conformance.wire.codec import Packet, parse
from roceproof.conformance.wire.framing import Layout
from roceproof.conformance.wire.icrc import Judgement, check
from roceproof.verbs.service import Service

VERSIONS = {f"TVer {version}": WRITE_ONLY(psn=0, a=1, tver=version) for version in (1, 2, 3)}


class TakesAnyIcrc(Ingress):
    """A port that does not look at the ICRC."""

    def is_icrc_right(self, frame: bytes, layout: Layout, packet: Packet) -> bool:
        """Any is."""
        return True


class TakesAnyQpn(Ingress):
    """A port that takes each packet for its one queue pair."""

    def find(self, packet: Packet) -> QueuePairView | None:
        """The last that there is."""
        return list(self.queue_pairs.values())[-1]


class TakesAnyAddress(Ingress):
    """A port that does not look at IP addresses."""

    def are_addresses_right(self, queue_pair: QueuePairView, packet: Packet) -> bool:
        """Any are."""
        return True


UNCHECKED: dict[type[Ingress], Pattern] = {
    TakesAnyIcrc: WRITE_ONLY(psn=0).corrupted(edits.bad_icrc()),
    TakesAnyQpn: WRITE_ONLY(psn=0, qpn=0xABCDE),
    TakesAnyAddress: WRITE_ONLY(psn=0, dst_ip=bytes([10, 9, 8, 7])),
}
"""What a port lets in, and that it must not."""


class TakesVersion2(Ingress):
    """A port that takes packets of two transport versions."""

    def is_version_right(self, packet: Packet) -> bool:
        """Both are right."""
        return packet.bth.version in (0, 2)


def bench_of(parts: Components) -> Iterator[Bench]:
    source = ModelFactory(components=parts)
    with source.device(CasePlace(name="fences", seed=1)) as target:
        yield Bench(target, source.claims, seed=1)


@pytest.fixture
def bench() -> Iterator[Bench]:
    yield from bench_of(Components())


@pytest.fixture
def faulty() -> Iterator[Bench]:
    yield from bench_of(Components(ingress=TakesVersion2))


def test_what_is_dropped_lets_the_fence_pass_and_the_observer_too(bench: Bench) -> None:
    drops_each(bench, VERSIONS)
    assert judge(bench) == []


def test_an_ack_of_what_must_be_dropped_is_not_taken_for_the_fences(faulty: Bench) -> None:
    with pytest.raises(CaseFailed, match="want  READ_RESP_ONLY psn=\\+0"):
        faulty.connect().drops(WRITE_ONLY(psn=0, a=1, tver=2), fence=0)


def test_a_sweep_names_the_one_that_was_not_dropped(faulty: Bench) -> None:
    with pytest.raises(CaseFailed, match="not dropped: TVer 2"):
        drops_each(faulty, VERSIONS)


def test_a_queue_pair_without_reads_is_fenced_by_a_write(bench: Bench) -> None:
    qp = bench.connect(access=frozenset({"remote_write"}))
    qp.drops(WRITE_ONLY(psn=0, a=1, tver=1), fence=0)


@pytest.mark.parametrize("is_asked", [False, True])
@pytest.mark.parametrize("port", UNCHECKED, ids=lambda port: port.__name__)
@pytest.mark.parametrize("right", ["remote_write", "remote_read"])
def test_no_fence_takes_what_was_let_in_for_dropped(
    port: type[Ingress], right: str, is_asked: bool
) -> None:
    for bench in bench_of(Components(ingress=port)):
        qp = bench.connect(access=frozenset({"remote_write", right}))
        with pytest.raises(CaseFailed):
            qp.drops(UNCHECKED[port].but(a=int(is_asked)), fence=0)


def test_a_fence_on_uc_reaches_memory(bench: Bench) -> None:
    bench.connect(Service.UC).drops(WRITE_ONLY(psn=0, tver=1), fence=0)


def test_each_of_what_must_be_taken_has_a_psn_of_its_own(bench: Bench) -> None:
    qp = bench.connect()
    assert accepts_each(qp, [WRITE_ONLY()] * 3) == 3
    with pytest.raises(CaseFailed, match="nothing in time"):
        accepts_each(qp, [WRITE_ONLY(), WRITE_ONLY(tver=1)], start=3)


@pytest.mark.parametrize("size", [16, 20, 31])
def test_a_truncated_packet_has_lengths_and_icrc_of_its_own(bench: Bench, size: int) -> None:
    frame = bench.connect().frame(WRITE_ONLY().resealed(edits.truncate(size)))
    packet = parse(frame)
    assert packet is not None
    assert packet.udp_length == 8 + size
    assert check(frame).judgement is Judgement.OK
    assert len(frame) >= 60


def test_a_header_changed_with_its_checksum_has_the_icrc_that_it_had(bench: Bench) -> None:
    qp = bench.connect()
    changed = qp.frame(WRITE_ONLY().corrupted(edits.checksummed(edits.flip_ip(8))))
    assert check(changed).judgement is Judgement.OK
    qp.send(WRITE_ONLY(psn=0).corrupted(edits.checksummed(edits.flip_ip(8))))
    qp.fence(1)


@pytest.mark.parametrize("service", [Service.RC, Service.UC])
def test_a_fence_waits_until_all_before_it_is_taken(service: Service) -> None:
    source = ModelFactory()
    with source.device(CasePlace(name="fences", seed=1)) as target:
        bench = Bench(target, source.claims, seed=1)
        qp = bench.connect(service, path_mtu=4096)
        region, packets = qp.region(4096), 100
        long = (WRITE_ONLY(psn=psn, payload=4096, **at(region)) for psn in range(packets))
        qp.send(*long)
        qp.fence(packets)


def test_a_device_that_still_takes_what_it_was_sent_is_not_dead() -> None:
    source = ModelFactory()
    with source.device(CasePlace(name="fences", seed=1)) as target:
        bench = Bench(target, source.claims, seed=1)
        qp = bench.connect(Service.UC, path_mtu=4096)
        region = qp.region(4096)
        qp.send(*(WRITE_ONLY(psn=psn, payload=4096, **at(region)) for psn in range(100)))
        assert not judge(bench)
