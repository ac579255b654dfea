# SPDX-License-Identifier: BSD-2-Clause
"""Every number that a responder compares, changed in each single bit: none of these is its own."""

from collections.abc import Callable

import pytest

from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.case import RESPONDER, case, needs, over
from roceproof.conformance.suite.limits.within_limits import executed_of
from roceproof.conformance.suite.memory import at
from roceproof.conformance.suite.pattern import (
    ATOMIC_ACK,
    CMP_SWAP,
    UD_SEND_ONLY,
    WRITE_ONLY,
    Pattern,
)
from roceproof.conformance.suite.sweep import drops_each
from roceproof.conformance.suite.traffic import one_bit
from roceproof.conformance.targets.capability import Capability
from roceproof.verbs.service import Service
from roceproof.verbs.work import Op

pytestmark = [RESPONDER, needs(Capability.LOCKSTEP)]

SIMULATED = ["hdl", "model"]
GOOD = WRITE_ONLY(psn=0, a=1)
HEADER, ORIGINAL, SWAPPED = 40, 0x0123456789ABCDEF, 0x5A5A5A5A5A5A5A5A
Aliases = Callable[[Pattern], dict[str, Pattern]]
COMPARED: dict[Aliases, str] = {
    one_bit.strangers_address: "GID-02",
    one_bit.stations_address: "GID-05",
    one_bit.queue_pair: "BTH-11",
    one_bit.partition: "BTH-07",
    one_bit.port: "UDP-01",
    one_bit.protocol: "UDP-01",
    one_bit.ethertype: "ETH-01",
    one_bit.stations_mac: "LIVE-03",
}
"""With the rule that each alias breaks."""
over_compared = over(
    "aliases",
    [
        pytest.param(aliases, id=aliases.__name__, marks=pytest.mark.rules(rule))
        for aliases, rule in COMPARED.items()
    ],
)


@case(needs=[Capability.RC], smoke=True, targets=SIMULATED)
@over_compared
def test_no_bit_of_another_number_makes_it_the_devices(bench: Bench, aliases: Aliases) -> None:
    executed_of(bench.claims, Service.RC, [Op.WRITE])
    drops_each(bench, aliases(GOOD))


@case(needs=[Capability.UC], smoke=True, targets=SIMULATED)
@over_compared
def test_no_bit_of_another_number_lets_a_uc_write_pass(bench: Bench, aliases: Aliases) -> None:
    executed_of(bench.claims, Service.UC, [Op.WRITE])
    qp = bench.connect(Service.UC)
    region = qp.region()
    good = qp.filled(WRITE_ONLY(psn=0, payload=8, **at(region)))
    qp.drops(*aliases(good).values(), fence=0)
    if region.read(0, 8) != bytes(8):
        raise bench.failed("memory holds what came to nobody")


@case("UD-02", needs=[Capability.UD], smoke=True, targets=SIMULATED)
def test_no_bit_of_another_qkey_makes_it_the_queue_pairs(bench: Bench) -> None:
    executed_of(bench.claims, Service.UD, [Op.SEND])
    qp = bench.connect(Service.UD, qkey=bench.random.getrandbits(32))
    receive = qp.post_receive(qp.region())
    keys = [qp.spec.qkey ^ 1 << bit for bit in range(32)]
    qp.send(*(UD_SEND_ONLY(psn=n, payload=8, qkey=key) for n, key in enumerate(keys)))
    qp.send(UD_SEND_ONLY(psn=len(keys), payload=9, qkey=qp.spec.qkey))
    qp.receives(receive, byte_len=HEADER + 9)


@case("ATOM-04", needs=[Capability.RC], smoke=True, targets=SIMULATED)
def test_no_bit_of_another_operand_makes_it_equal(bench: Bench) -> None:
    executed_of(bench.claims, Service.RC, [Op.CMP_SWAP])
    qp = bench.connect()
    region = qp.region(8)
    region.write(0, ORIGINAL.to_bytes(8, "little"))
    place = at(region)
    for bit in range(64):
        qp.send(CMP_SWAP(psn=bit, compare=ORIGINAL ^ 1 << bit, swap=SWAPPED, **place))
        qp.expect(ATOMIC_ACK(psn=bit, original=ORIGINAL))
    qp.send(CMP_SWAP(psn=64, compare=ORIGINAL, swap=SWAPPED, **place))
    qp.expect(ATOMIC_ACK(psn=64, original=ORIGINAL))
