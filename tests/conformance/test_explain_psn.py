# SPDX-License-Identifier: BSD-2-Clause
"""Every PSN fault is named, healthy traffic is left in peace, and what cannot be told is said."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from roceproof.conformance.capture.reader import read
from roceproof.conformance.capture.record import Flow, Record
from roceproof.conformance.diagnosis.report import explain
from roceproof.conformance.diagnosis.result import CORRUPT, LOST, UNDECIDED, Diagnosis
from roceproof.conformance.faults.conversation.network import TimedFrame
from roceproof.conformance.faults.conversation.traffic import Conversation
from roceproof.conformance.faults.psn_catalogue import PSN_FAULTS, captures
from roceproof.conformance.wire.codec import Packet, build, parse
from roceproof.verbs.service import Service

SEEDS = (1, 2)
MORE_SEEDS = range(3, 15)
VARIANTS = [
    pytest.param(row.id, variant, id=f"{row.id}-{variant}")
    for row in PSN_FAULTS.values()
    for variant in range(len(row.variants))
]
DISTURBANCES = (
    {},
    {"loss": 0.03},
    {"unseen_loss": 0.03},
    {"rnr_rate": 0.2},
    {"reconnects": 2},
    {"loss": 0.05, "unseen_loss": 0.02, "rereads_whole": True},
)
# Where one capture cannot separate two faults, both are named.
ALIKE = {
    ("P06", 1): {"P06", "P25"},  # every request received was acknowledged
    ("P10", 0): {"P09", "P10"},  # a register that all share goes on, too
    ("P12", 1): {"P12", "P16", "P23"},  # single PSNs left out between messages
    ("P16", 0): {"P16"},
    ("P20", 0): {"P20", "MSN-02"},  # executed and not counted looks like taken for a duplicate
    ("P23", 0): {"P14", "P23"},  # a PSN that is repeated for good, or late and not on time again
    ("P23", 1): {"P16", "P23"},  # a single PSN skipped is a single PSN skipped
    ("P24", 0): {"P24", "PSN-19"},  # any bits that are stuck there look like that
    ("P24", 1): {"P05", "P24"},  # AckReq on every packet is legal
    ("P24", 2): {"P24", "PSN-19"},
}
NOT_EXPECTED = {"P02", "P20", "MSN-02"}
WITHOUT_FACTS = {"P01": {"P01", "P02", "P20"}, "P02": NOT_EXPECTED, "P20": NOT_EXPECTED}


def records(frames: Iterable[TimedFrame]) -> Iterator[Record]:
    for number, frame in enumerate(frames, 1):
        yield Record("tap", frame[0], Flow.UNKNOWN, frame[1], number=number)


def diagnoses(fault: str, variant: int, seed: int, *, facts: bool) -> list[Diagnosis]:
    found = []
    for capture in captures(fault, Conversation(seed=seed), variant=variant):
        found += explain(records(capture.frames), capture.facts if facts else None)
    return found


def names(found: Iterable[Diagnosis]) -> set[str]:
    """The signatures; what the network broke, or was made to break, is not one."""
    return {name for each in found for name in (each.id, *each.equivalent)} - {CORRUPT, LOST}


def check_named(fault: str, variant: int, seed: int) -> None:
    found = diagnoses(fault, variant, seed, facts=True)
    allowed = ALIKE.get((fault, variant), {fault})
    if not found:
        # AckReq set by the upper byte, and the first message of several packets, look legal.
        assert (fault, variant) in {("P24", 1), ("P20", 0)}, "not seen at all"
        return
    assert names(found) <= allowed, [each.text for each in found]
    assert fault in names(found)


@pytest.mark.sampled(every=4)
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("fault", "variant"), VARIANTS)
def test_a_psn_fault_is_named(fault: str, variant: int, seed: int) -> None:
    check_named(fault, variant, seed)


@pytest.mark.slow
@pytest.mark.parametrize(("fault", "variant"), VARIANTS)
def test_a_psn_fault_is_named_over_many_seeds(
    fault: str, variant: int, subtests: pytest.Subtests
) -> None:
    for seed in MORE_SEEDS:
        with subtests.test(seed=seed):
            check_named(fault, variant, seed)


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize("fault", sorted(WITHOUT_FACTS))
def test_without_configured_psns_only_the_class_is_named(fault: str) -> None:
    for variant in range(len(PSN_FAULTS[fault].variants)):
        found = [names(diagnoses(fault, variant, seed, facts=False)) for seed in (1, 2, 3)]
        assert all(each <= WITHOUT_FACTS[fault] for each in found)
        assert any(fault in each for each in found)


@pytest.mark.sampled(every=5)
@pytest.mark.parametrize("disturbance", DISTURBANCES, ids=str)
def test_healthy_traffic_is_not_accused_whatever_the_network_does(
    disturbance: dict[str, float],
) -> None:
    for seed in range(1, 5):
        capture = Conversation(seed=seed, **disturbance).capture()  # type: ignore[arg-type]
        for facts in (None, capture.facts):
            found = explain(records(capture.frames), facts)
            assert not found, (seed, [each.text for each in found])


def test_a_torn_uc_message_is_the_networks_fault() -> None:
    captured = read(Path(__file__).parents[1] / "captures" / "rxe" / "uc_write_gap.pcapng.gz")
    (found,) = explain(captured)
    assert found.id == LOST
    assert "lost in front of the capture" in found.text


def test_the_wrong_packets_are_counted_and_named() -> None:
    (found,) = diagnoses("P03", 0, 1, facts=True)
    assert found.explained == len(found.frames) <= found.of
    assert "counts messages instead of packets" in found.text
    assert "every packet" in found.advice


def test_an_unknown_way_of_counting_is_undecided() -> None:
    capture = Conversation(
        seed=1, connections=1, services=(Service.RC,), messages=(40, 0)
    ).capture()
    requests = [parse(frame) for _, frame in capture.frames]
    first = next(packet for packet in requests if packet)
    strange = [
        (time, build(_stretched(packet, first.bth.psn)))
        for (time, _), packet in zip(capture.frames, requests, strict=True)
        if packet and packet.src_mac == first.src_mac
    ]
    (found,) = explain(records(strange))  # type: ignore[arg-type]
    assert found.id == UNDECIDED
    assert found.explained == 0 < found.of


def _stretched(packet: Packet, start: int) -> Packet:
    """Three PSNs for every packet."""
    psn = (3 * packet.bth.psn - 2 * start) % (1 << 24)
    return replace(packet, bth=replace(packet.bth, psn=psn))
