# SPDX-License-Identifier: BSD-2-Clause
"""Every number that a device compares, changed in each single bit: none of these is its own.

One bit that is not looked at is one alias; a number that differs in several shows nothing of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from roceproof.conformance.stimulus.play import Play
from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.case import REQUESTER, case, needs
from roceproof.conformance.suite.pattern import Edit, Pattern
from roceproof.conformance.suite.storm_crowd import operations, served
from roceproof.conformance.suite.sweep import FIRST_ACK, ignores_each
from roceproof.conformance.suite.within_limits import fixed_values
from roceproof.conformance.targets.capability import Capability
from roceproof.conformance.wire.frame_edits import flip_ip, flip_udp
from roceproof.verbs.service import Service

pytestmark = [REQUESTER, needs(Capability.LOCKSTEP)]

DST_PORT, QPN, P_KEY = (2, 3), (13, 14, 15), (10, 11)  # counted from the UDP header
SOURCE, DESTINATION = range(12, 16), range(16, 20)  # counted from the IP header
FULL_MEMBER = 15
REFUSED = 0x61
QPN_BITS, FIRST = 24, 0x2AAAAA
reliable = [Capability.RC]


def flipped(
    flip: Callable[[int, int], Edit], offsets: Iterable[int], *, spared: int | None = None
) -> dict[str, Pattern]:
    """ACKs and NAKs with each bit of some bytes flipped, good otherwise."""
    bits = [(at, bit) for at in reversed([*offsets]) for bit in range(8)]
    answers = FIRST_ACK, FIRST_ACK.but(syndrome=REFUSED)
    return {
        f"bit {number} flipped": answers[number % 2].resealed(flip(at, 1 << bit))
        for number, (at, bit) in enumerate(bits)
        if number != spared
    }


def of_another_link(offsets: Iterable[int]) -> dict[str, Pattern]:
    """The same with bits of the Ethernet header."""
    bits = [(at, bit) for at in offsets for bit in range(8)]
    return {
        f"byte {at} bit {bit} flipped": FIRST_ACK.corrupted(of_frame(at, 1 << bit))
        for at, bit in bits
    }


def of_frame(at: int, mask: int) -> Edit:
    """Flip bits of a frame."""

    def edit(frame: bytearray) -> None:
        frame[at] ^= mask

    return edit


@case("GID-02", smoke=True, needs=reliable)
def test_no_bit_of_a_strangers_address_makes_it_the_peer(bench: Bench) -> None:
    ignores_each(bench, flipped(flip_ip, SOURCE))


@case("GID-05", smoke=True, needs=reliable)
def test_no_bit_of_another_stations_address_makes_it_the_device(bench: Bench) -> None:
    ignores_each(bench, flipped(flip_ip, DESTINATION))


@case("BTH-11", smoke=True, needs=reliable)
def test_no_bit_of_another_queue_pairs_number_makes_it_this_one(bench: Bench) -> None:
    ignores_each(bench, flipped(flip_udp, QPN))


@case("BTH-07", smoke=True, needs=reliable)
def test_no_bit_of_another_partition_makes_it_the_devices(bench: Bench) -> None:
    ignores_each(bench, flipped(flip_udp, P_KEY, spared=FULL_MEMBER))


@case("UDP-01", smoke=True, needs=reliable)
def test_no_bit_of_another_port_makes_it_that_of_roce(bench: Bench) -> None:
    ignores_each(bench, flipped(flip_udp, DST_PORT))


@case("ETH-01", smoke=True, needs=reliable)
def test_no_bit_of_another_ethertype_makes_it_ip(bench: Bench) -> None:
    ignores_each(bench, of_another_link((12, 13)))


@case("LIVE-03", smoke=True, needs=reliable)
def test_no_bit_of_another_stations_mac_makes_it_the_device(bench: Bench) -> None:
    ignores_each(bench, of_another_link(range(6)))


@case("QPS-06", "QPS-07", "QPS-02", smoke=True, needs=[Capability.RESTART], targets=["hdl"])
def test_no_bit_of_another_queue_pairs_number_lets_its_work_leave(bench: Bench) -> None:
    service = served(bench, Service.RC, Service.UC)[0]
    op = operations(bench, service)[0].name
    fixed_values(bench.claims, {"local_qpn": FIRST})
    play = Play(bench)
    play.connect(0, service=service.name, local_qpn=FIRST)
    for bit in range(QPN_BITS):
        play.idle(1 + bit, service=service.name, local_qpn=FIRST ^ 1 << bit)
        play.post(1 + bit, op, 5)
        play.settle()
        play.post(0, op, 5)
        play.reset(1 + bit)
        play.settle()
    play.finish()
