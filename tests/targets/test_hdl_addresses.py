# SPDX-License-Identifier: BSD-2-Clause
"""A device that asks for its peers' addresses is answered; the echo device asks what it is told."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from roceproof.common.paths import REPOSITORY
from roceproof.conformance.targets.hdl.device import HdlTarget
from roceproof.conformance.wire.neighbours import answer, is_advertised, solicit
from roceproof.dpi import PortOptions, Simulation, load_manifest
from roceproof.dpi.manifest.limits import Environment
from roceproof.verbs.addresses import Host
from roceproof.verbs.queue_pair import QpSpec
from roceproof.verbs.service import Service

pytestmark = pytest.mark.sim

OWN = Host(bytes.fromhex("020000000001"), bytes((192, 168, 1, 1)))
PEER = Host(bytes.fromhex("020000000b02"), bytes((192, 168, 1, 2)))
STRANGER = bytes((192, 168, 1, 3))
ANSWER_NS = 100_000


@pytest.fixture
def simulation() -> Iterator[Simulation]:
    manifest = load_manifest(REPOSITORY / "dpi" / "test" / "dut.toml")
    with Simulation.start(manifest, data_width=64, ports=[PortOptions()]) as started:
        yield started


def asides_of(simulation: Simulation, *, resolves: bool, wanted: bytes) -> list[bytes]:
    """What comes of ARP when the device asks for an address."""
    wants = Environment(resolves_addresses=resolves)
    target = HdlTarget(simulation, 6400, host=OWN, environment=wants)
    target.open(QpSpec(service=Service.RC, remote=PEER, remote_qpn=1, local_qpn=1))
    target.send(solicit(target.host, wanted))
    assert target.receive(ANSWER_NS) is None
    assert target.now_ns >= ANSWER_NS
    return target.asides()


def test_a_question_after_a_peer_is_answered_and_none_of_the_cases(simulation: Simulation) -> None:
    (reply,) = asides_of(simulation, resolves=True, wanted=PEER.ip)
    assert is_advertised(reply, PEER.ip)
    assert reply[22:28] == PEER.mac


def test_a_question_after_nobody_stays_one(simulation: Simulation) -> None:
    (question,) = asides_of(simulation, resolves=True, wanted=STRANGER)
    assert not is_advertised(question, STRANGER)


def test_a_device_that_is_told_all_addresses_is_not_answered(simulation: Simulation) -> None:
    (question,) = asides_of(simulation, resolves=False, wanted=PEER.ip)
    assert not is_advertised(question, PEER.ip)


def test_an_answer_is_handed_on_with_the_usual_pad_whatever_it_came_with(
    simulation: Simulation,
) -> None:
    target = HdlTarget(simulation, 6400, host=OWN)
    reply = answer(solicit(PEER, OWN.ip), {OWN.ip: OWN.mac})
    assert reply is not None
    sent = [reply[:42].ljust(size, b"\x5a") for size in (64, 61)]
    for frame in sent:
        target.send(frame)
    target.wait(ANSWER_NS)
    echoed = [frame[6:12] + frame[:6] + frame[12:] for frame in (reply, sent[1])]
    assert target.asides() == echoed
