# SPDX-License-Identifier: BSD-2-Clause
"""Fields of the contract's records at the ends of their range, each bit alone and missing."""

from collections.abc import Sequence

from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.case import RESPONDER, case, needs
from roceproof.conformance.suite.limits.within_limits import executed_of
from roceproof.conformance.suite.memory import at
from roceproof.conformance.suite.pattern import (
    ACCESS_ERROR,
    ACK,
    NAK,
    NO_CREDITS,
    READ_REQUEST,
    READ_RESP_ONLY,
    RNR,
    SEND_ONLY,
    UD_SEND_ONLY,
    WRITE_ONLY,
)
from roceproof.conformance.targets.capability import Capability
from roceproof.conformance.wire.framing import GRH_BYTES
from roceproof.dpi.contract.fields import contract_field
from roceproof.verbs.service import Service
from roceproof.verbs.work import Op

pytestmark = [RESPONDER, needs(Capability.LOCKSTEP), needs(Capability.RESET)]

SURE = 16
"""READs at once that every device takes which is told of more."""
SIMULATED = ["hdl", "model"]
MESSAGES = 256  # of which the contract counts so many as one
HALF, WRAP = 1 << 23, 1 << 24


def values_of(name: str) -> Sequence[int]:
    """What a field of a queue pair's record is to be, each once."""
    return sorted({*contract_field("qp_config_t", name).corners})


@case("READ-06", "READ-02", smoke=True, targets=SIMULATED)
def test_any_number_of_reads_may_be_agreed_on(bench: Bench) -> None:
    executed_of(bench.claims, Service.RC, [Op.READ])
    qp = bench.connect()
    region = qp.region(256, filled=True)
    for agreed in values_of("max_dest_rd_atomic"):
        if not agreed:
            continue
        qp.reconnect(max_dest_rd_atomic=agreed)
        count = min(agreed, SURE)
        sizes = [bench.random.randrange(1, 64) for _ in range(count)]
        qp.send(
            *(READ_REQUEST(psn=n, dmalen=size, **at(region, n)) for n, size in enumerate(sizes))
        )
        qp.expect(
            *(READ_RESP_ONLY(psn=n, payload=region.read(n, size)) for n, size in enumerate(sizes))
        )


@case("UD-02", needs=[Capability.UD], targets=SIMULATED)
def test_every_bit_of_a_qkey_counts(bench: Bench) -> None:
    qp = bench.connect(Service.UD)
    region = qp.region(512)
    for qkey in values_of("qkey"):
        qp.reconnect(qkey=qkey)
        receive = qp.post_receive(region)
        bit = 1 << bench.random.randrange(32)
        qp.send(
            UD_SEND_ONLY(psn=0, payload=8, qkey=qkey ^ bit),
            UD_SEND_ONLY(psn=1, payload=9, qkey=qkey),
        )
        qp.receives(receive, byte_len=GRH_BYTES + 9)


@case(
    "MSN-06",
    needs=[Capability.MSN_PRESET],
    targets=SIMULATED,
    unjudged={
        rule: "to the observer a count starts at 0" for rule in ("MSN-01", "MSN-02", "MSN-04")
    },
)
def test_messages_count_on_from_anywhere(bench: Bench) -> None:
    qp = bench.connect()
    for completed in values_of("completed"):
        qp.reconnect(completed_messages=completed * MESSAGES)
        qp.send(WRITE_ONLY(psn=0, a=1))
        qp.expect(ACK(psn=0, msn=(completed * MESSAGES + 1) % WRAP))


@case("PSN-12", "PSN-15", targets=SIMULATED)
def test_requests_begin_at_any_psn(bench: Bench) -> None:
    qp = bench.connect()
    for start in values_of("rq_psn"):
        qp.reconnect(rq_psn=start)
        qp.send(*(WRITE_ONLY(psn=n, a=int(n == 2)) for n in range(3)))
        qp.expect(ACK(psn=2, msn=3))


@case("RETH-05", "RETH-07", needs=[Capability.TOLD_KEYS], smoke=True, targets=SIMULATED)
def test_memory_lies_anywhere_and_is_named_by_any_key(bench: Bench) -> None:
    """Keys, domains and addresses are the bench's: this only goes through many of them."""
    executed_of(bench.claims, Service.RC, [Op.WRITE])
    qp = bench.connect()
    psn = 0
    for number in range(48):
        region = bench.target.register(64 + 8 * (number % 3))
        data = bench.random.randbytes(8)
        last = region.size - len(data)
        for offset in (0, last):
            qp.send(WRITE_ONLY(psn=psn, payload=data, a=1, **at(region, offset)))
            qp.expect(ACK(psn=psn))
            assert region.read(offset, len(data)) == data
            psn += 1
        if qp.executes(Op.READ):
            qp.send(READ_REQUEST(psn=psn, dmalen=len(data), **at(region, last)))
            qp.expect(READ_RESP_ONLY(psn=psn, payload=data))
            psn += 1
        region.deregister()


@case("RETH-10", needs=[Capability.TOLD_KEYS], smoke=True, targets=SIMULATED)
def test_every_bit_of_a_protection_domain_counts(bench: Bench) -> None:
    """Each region lies in a domain that is nearly the queue pair's."""
    executed_of(bench.claims, Service.RC, [Op.WRITE])
    qp = bench.connect()
    for _ in contract_field("memory_region_t", "pd").bits:
        region = bench.target.register_elsewhere(64)
        qp.send(WRITE_ONLY(psn=0, payload=8, a=1, **at(region)))
        qp.expect(NAK(ACCESS_ERROR, psn=0, msn=0))
        assert region.read(0, 8) == bytes(8)
        region.deregister()
        qp.reconnect()


@case("RETH-06", needs=[Capability.TOLD_KEYS], smoke=True, targets=SIMULATED)
def test_every_bit_of_a_key_counts(bench: Bench) -> None:
    executed_of(bench.claims, Service.RC, [Op.WRITE])
    qp = bench.connect()
    region = bench.target.register(64)
    near = [region.rkey ^ 1 << bit for bit in contract_field("memory_region_t", "rkey").bits]
    for key in (*near, *([region.lkey] if region.lkey else [])):
        place = at(region) | {"rkey": key}
        qp.send(WRITE_ONLY(psn=0, payload=8, a=1, **place))
        qp.expect(NAK(ACCESS_ERROR, psn=0, msn=0))
        qp.reconnect()
    assert region.read(0, 64) == bytes(64)


@case("CRED-02", "RNR-01", needs=[Capability.SHARED_RECEIVE], smoke=True, targets=SIMULATED)
def test_each_shared_queue_has_receives_of_its_own(bench: Bench) -> None:
    """As many queues as there are, the last among them; then each has none left."""
    count = min(bench.claims.qps, bench.claims.shared_queues, SURE)
    qps = [bench.connect(shared_receive=True, shared_queue=n) for n in range(count)]
    region = qps[0].region(64 * count)
    receives = [qp.post_receive(region, offset=64 * n, length=64) for n, qp in enumerate(qps)]
    for number in bench.random.sample(range(count), count):
        qp = qps[number]
        send = qp.filled(SEND_ONLY(psn=0, payload=1 + number, a=1))
        qp.send(send)
        qp.expect(ACK(psn=0, credits=NO_CREDITS))
        qp.receives(receives[number], byte_len=1 + number)
        assert region.read(64 * number, 1 + number) == send.said["payload"]
        qp.send(SEND_ONLY(psn=1, payload=1, a=1))
        qp.expect(RNR(psn=1))
