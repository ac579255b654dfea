# SPDX-License-Identifier: BSD-2-Clause
"""SEND with invalidate: the key that it names, and no other, names nothing any more."""

from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.case import RESPONDER, case, needs, over
from roceproof.conformance.suite.connection import Connection
from roceproof.conformance.suite.intent import OUT_OF_SEQUENCE
from roceproof.conformance.suite.memory import at
from roceproof.conformance.suite.packet_flow import is_refusal
from roceproof.conformance.suite.pattern import (
    ACCESS_ERROR,
    ACK,
    NAK,
    RNR,
    SEND_FIRST,
    SEND_LAST_INV,
    SEND_ONLY_INV,
    WRITE_ONLY,
)
from roceproof.conformance.suite.reporting.failure import AS_CONTRACTED
from roceproof.conformance.targets.capability import Capability
from roceproof.verbs.work import Region

pytestmark = RESPONDER

invalidating = needs(Capability.INVALIDATE)


def lives(qp: Connection, *regions: Region) -> None:
    """A WRITE to each of them is served on a new queue pair."""
    for psn, region in enumerate(regions):
        qp.send(WRITE_ONLY(psn=psn, payload=8, a=1, **at(region)))
        qp.expect(ACK(psn=psn))


@case("INV-01", "RETH-06", smoke=True)
@invalidating
@over("packets", [1, 2])
def test_a_send_with_invalidate_kills_the_key(bench: Bench, packets: int) -> None:
    qp, other = bench.connect(), bench.connect()
    neighbours = [qp.region(), qp.region(), qp.region()]
    region, inbox = neighbours.pop(1), qp.region()
    number = qp.post_receive(inbox)
    size = length = 8 - packets  # with a pad
    last = qp.filled(SEND_ONLY_INV(psn=0, payload=size, inv=region.rkey, a=1))
    if packets == 2:
        qp.send(SEND_FIRST(psn=0, payload=qp.mtu))
        last = qp.filled(SEND_LAST_INV(psn=1, payload=size, inv=region.rkey, a=1))
        length += qp.mtu
    qp.send(last)
    qp.expect(ACK(psn=packets - 1, msn=1))
    qp.receives(number, byte_len=length, immediate=None, invalidated=region.rkey)
    arrived = inbox.read(length - size, size)
    assert arrived == last.said["payload"], "other bytes than those of the SEND"
    other.send(WRITE_ONLY(psn=0, payload=8, a=1, **at(region)))
    other.expect(NAK(ACCESS_ERROR, psn=0))
    lives(bench.connect(), *neighbours)


@case("INV-01", "RETH-06", smoke=True, targets=["hdl", "model"])
@invalidating
@over("packets", [1, 2])
def test_a_send_may_kill_the_key_of_the_memory_that_it_fills(bench: Bench, packets: int) -> None:
    qp = bench.connect()
    inbox = qp.region()
    number = qp.post_receive(inbox)
    data = qp.random.randbytes((packets - 1) * qp.mtu + 8)
    if packets == 2:
        qp.send(SEND_FIRST(psn=0, payload=data[: qp.mtu]))
    last = SEND_ONLY_INV if packets == 1 else SEND_LAST_INV
    qp.send(last(psn=packets - 1, payload=data[-8:], inv=inbox.rkey, a=1))
    qp.expect(ACK(psn=packets - 1, msn=1))
    qp.receives(number, byte_len=len(data), invalidated=inbox.rkey)
    bench.holds(inbox, data, what="a SEND that kills the key of its own receive")
    qp.send(WRITE_ONLY(psn=packets, payload=8, a=1, **at(inbox)))
    qp.expect(NAK(ACCESS_ERROR, psn=packets))


@case("INV-01", "RNR-01", smoke=True)
@invalidating
def test_a_send_that_finds_no_receive_kills_no_key(bench: Bench) -> None:
    qp = bench.connect()
    region = qp.region()
    send = qp.filled(SEND_ONLY_INV(psn=0, payload=8, inv=region.rkey, a=1))
    qp.send(send)
    qp.expect(RNR(psn=0, msn=0))
    lives(bench.connect(), region)
    number = qp.post_receive(qp.region())
    qp.send(send)
    qp.expect(ACK(psn=0, msn=1))
    qp.receives(number, byte_len=8, invalidated=region.rkey)


@case("INV-01", "DUP-02")
@invalidating
def test_a_repeated_send_with_invalidate_is_acknowledged_again(bench: Bench) -> None:
    qp = bench.connect()
    region = qp.region()
    number = qp.post_receive(qp.region())
    send = qp.filled(SEND_ONLY_INV(psn=0, payload=8, inv=region.rkey, a=1))
    qp.send(send)
    qp.expect(ACK(psn=0, msn=1))
    qp.receives(number, byte_len=8, invalidated=region.rkey)
    qp.send(send)
    qp.expect(ACK(psn=0, msn=1))
    qp.fence(1, msn=2)


@case("DUP-01", "INV-01", smoke=True, breaks=OUT_OF_SEQUENCE)
@invalidating
def test_a_repeated_send_with_invalidate_kills_no_other_key(bench: Bench) -> None:
    qp = bench.connect()
    region, other = qp.region(), qp.region()
    number = qp.post_receive(qp.region())
    send = qp.filled(SEND_ONLY_INV(psn=0, payload=8, inv=region.rkey, a=1))
    qp.send(send)
    qp.expect(ACK(psn=0, msn=1))
    qp.receives(number, byte_len=8, invalidated=region.rkey)
    qp.send(send.but(inv=other.rkey))
    qp.expect(ACK(psn=0, msn=1))
    lives(bench.connect(), other)


@case("INV-02", unjudged={"MSN-01": "it is not said whether a message counts that cannot end"})
def test_a_key_that_cannot_be_invalidated_ends_in_an_ack_an_error_or_silence(bench: Bench) -> None:
    qp, bystander = bench.connect(), bench.bystander()
    qp.post_receive(qp.region())
    qp.send(SEND_ONLY_INV(psn=0, payload=8, inv=0x12345678, a=1))
    qp.expect_silence(allowing=[ACK(psn=0), NAK(ACCESS_ERROR, psn=0)])
    bystander.fence(0)


@case("INV-02", AS_CONTRACTED, smoke=True)
@invalidating
def test_a_key_that_is_almost_right_kills_nothing(bench: Bench) -> None:
    qp = bench.connect()
    regions = [bench.target.register(4096) for _ in range(3)]
    inbox = qp.region()
    known = {region.rkey for region in (*regions, inbox)} | inbox.built_in
    is_quick = Capability.LOCKSTEP in bench.claims.capabilities
    near = {regions[1].rkey ^ 1 << bit for bit in (range(32) if is_quick else (8, 17, 31))}
    for key in sorted({0, regions[1].lkey, *near} - known):
        qp.reconnect()
        qp.post_receive(inbox)
        qp.send(SEND_ONLY_INV(psn=0, payload=8, inv=key, a=1))
        qp.expect_silence(allowing=[ACK(psn=0), NAK(ACCESS_ERROR, psn=0)])
    lives(bench.connect(), *regions)


@case("INV-01", AS_CONTRACTED, "RETH-10", smoke=True, targets=["hdl", "model"])
@invalidating
def test_a_key_of_another_protection_domain_is_not_killed(bench: Bench) -> None:
    qps = [bench.connect(domain=number) for number in range(2)]
    regions, inboxes = ([qp.region(64) for qp in qps] for _ in range(2))
    for qp, inbox, theirs in zip(qps, inboxes, reversed(regions), strict=True):
        qp.post_receive(inbox)
        qp.send(SEND_ONLY_INV(psn=0, payload=8, inv=theirs.rkey, a=1))
        qp.expect_silence(allowing=[ACK(psn=0), NAK(ACCESS_ERROR, psn=0)])
    for domain, region in enumerate(regions):
        owner = bench.connect(domain=domain)
        owner.send(WRITE_ONLY(psn=0, payload=8, a=1, **at(region)))
        if is_refusal(owner.peek()):
            text = "a SEND with invalidate killed a key of another protection domain"
            raise bench.failed(text, rules=["RETH-10"])
        owner.expect(ACK(psn=0))
