# SPDX-License-Identifier: BSD-2-Clause
"""Every number that a device compares, changed in each single bit: none of these is its own.

One bit that is not looked at is one alias; a number that differs in several shows nothing of it.
"""

from roceproof.conformance.stimulus.requester.play import Play
from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.case import REQUESTER, case, needs
from roceproof.conformance.suite.limits.within_limits import fixed_values
from roceproof.conformance.suite.sweep import FIRST_ACK, ignores_each
from roceproof.conformance.suite.traffic import one_bit
from roceproof.conformance.suite.traffic.storm_crowd import operations, served
from roceproof.conformance.targets.capability import Capability
from roceproof.verbs.service import Service

pytestmark = [REQUESTER, needs(Capability.LOCKSTEP)]

REFUSED = 0x61
QPN_BITS, FIRST = 24, 0x2AAAAA
reliable = [Capability.RC]
ANSWERS = FIRST_ACK, FIRST_ACK.but(syndrome=REFUSED)


@case("GID-02", smoke=True, needs=reliable)
def test_no_bit_of_a_strangers_address_makes_it_the_peer(bench: Bench) -> None:
    ignores_each(bench, one_bit.strangers_address(*ANSWERS))


@case("GID-05", smoke=True, needs=reliable)
def test_no_bit_of_another_stations_address_makes_it_the_device(bench: Bench) -> None:
    ignores_each(bench, one_bit.stations_address(*ANSWERS))


@case("BTH-11", smoke=True, needs=reliable)
def test_no_bit_of_another_queue_pairs_number_makes_it_this_one(bench: Bench) -> None:
    ignores_each(bench, one_bit.queue_pair(*ANSWERS))


@case("BTH-07", smoke=True, needs=reliable)
def test_no_bit_of_another_partition_makes_it_the_devices(bench: Bench) -> None:
    ignores_each(bench, one_bit.partition(*ANSWERS))


@case("UDP-01", smoke=True, needs=reliable)
def test_no_bit_of_another_port_makes_it_that_of_roce(bench: Bench) -> None:
    ignores_each(bench, one_bit.port(*ANSWERS))


@case("UDP-01", smoke=True, needs=reliable)
def test_no_bit_of_another_protocol_makes_it_udp(bench: Bench) -> None:
    ignores_each(bench, one_bit.protocol(*ANSWERS))


@case("ETH-01", smoke=True, needs=reliable)
def test_no_bit_of_another_ethertype_makes_it_ip(bench: Bench) -> None:
    ignores_each(bench, one_bit.ethertype(*ANSWERS))


@case("LIVE-03", smoke=True, needs=reliable)
def test_no_bit_of_another_stations_mac_makes_it_the_device(bench: Bench) -> None:
    ignores_each(bench, one_bit.stations_mac(*ANSWERS))


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
