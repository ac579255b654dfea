# SPDX-License-Identifier: BSD-2-Clause
"""Packets that come from every power of two ahead of the expected PSN, and behind it."""

from collections.abc import Iterable, Iterator

from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.case import RESPONDER, case, needs, over
from roceproof.conformance.suite.connection import Connection
from roceproof.conformance.suite.intent import OUT_OF_ORDER, OUT_OF_SEQUENCE
from roceproof.conformance.suite.limits.within_limits import executed_of
from roceproof.conformance.suite.memory import at
from roceproof.conformance.suite.pattern import (
    ACK,
    NAK,
    READ_REQUEST,
    SEND_FIRST,
    SEND_LAST,
    SEND_MIDDLE,
    SEND_ONLY,
    SEQUENCE_ERROR,
    WRITE_FIRST,
    WRITE_LAST,
    WRITE_LAST_IMM,
    WRITE_MIDDLE,
    WRITE_ONLY,
    Maker,
    Pattern,
)
from roceproof.conformance.targets.capability import Capability
from roceproof.verbs.service import Service
from roceproof.verbs.work import Op, Region

pytestmark = [RESPONDER, needs(Capability.LOCKSTEP)]

SIMULATED = ["hdl", "model"]
HALF, WRAP = 1 << 23, 1 << 24
AHEAD = tuple(1 << bit for bit in range(23))
SLOT, MOST_RECEIVES = 8, 16
TORN = 2 * SLOT
"""Bytes behind a gap: with them a torn message has no length of a whole one, padded or not."""
FAMILIES = {
    Op.SEND: (SEND_FIRST, SEND_MIDDLE, SEND_LAST),
    Op.WRITE: (WRITE_FIRST, WRITE_MIDDLE, WRITE_LAST),
    Op.WRITE_IMM: (WRITE_FIRST, WRITE_MIDDLE, WRITE_LAST_IMM),
}
STARTING = {Op.WRITE: WRITE_ONLY, Op.SEND: SEND_ONLY, Op.READ: READ_REQUEST}
GOING_ON = (WRITE_MIDDLE, WRITE_LAST)


def both_ways() -> Iterator[int]:
    """Each power of two, ahead and behind."""
    for distance in AHEAD:
        yield from (distance, -distance)
    yield HALF


class Torn:
    """A UC queue pair whose messages are torn, and behind each a whole one that begins anywhere.

    Each begins a slot in front of the one before, so that the last bytes of all stay.
    """

    def __init__(self, bench: Bench, op: Op) -> None:
        executed_of(bench.claims, Service.UC, [op])
        self._bench, self._op = bench, op
        self._qp = bench.connect(Service.UC)
        self._left = 2 * len([*both_ways()])
        self._never = (self._left + 1) * SLOT + 2 * self._qp.mtu
        """Where what lies behind a gap must not go."""
        self._region = self._qp.region(self._never + 2 * self._qp.mtu + TORN)
        self._most = min(MOST_RECEIVES, bench.claims.receives)
        self._receives: list[tuple[int, int]] = []
        self._ends: list[tuple[int, bytes]] = []
        self._psn = 0

    def tear(self, distance: int, *, at_last: bool) -> None:
        """A message goes on at another PSN, and a whole one begins as far from there."""
        qp, (first, middle, last) = self._qp, FAMILIES[self._op]
        self._left -= 1
        begin, size = self._left * SLOT, SLOT - self._left % SLOT
        if self._op is not Op.WRITE:
            receive = qp.post_receive(self._region, offset=begin, length=3 * qp.mtu)
            self._receives.append((receive, qp.mtu + size))
        rest = [last(payload=TORN)] if at_last else [middle(payload=qp.mtu), last(payload=TORN)]
        length = len(rest) * qp.mtu + TORN
        self._send(0, [first(payload=qp.mtu, **self._place(self._never - qp.mtu, length))])
        self._send(distance, rest)
        whole = [first(payload=qp.mtu, **self._place(begin, qp.mtu + size)), last(payload=size)]
        end = self._send(distance, whole)
        self._ends.append((begin + qp.mtu, end.said["payload"]))
        if len(self._receives) == self._most:
            self._receive()

    def _place(self, offset: int, length: int) -> dict[str, int]:
        return {} if self._op is Op.SEND else {"dmalen": length, **at(self._region, offset)}

    def _send(self, distance: int, packets: Iterable[Pattern]) -> Pattern:
        """In a row, so far from where they belong; the last of them."""
        self._psn += distance
        for packet in packets:
            sent = self._qp.filled(packet.but(psn=self._psn % WRAP))
            self._qp.send(sent)
            self._psn += 1
        return sent

    def _receive(self) -> None:
        for receive, length in self._receives:
            self._qp.receives(receive, byte_len=length)
        self._receives.clear()

    def ends_well(self) -> None:
        """Every whole message has come, and nothing of another."""
        self._receive()
        region, (place, data) = self._region, self._ends[-1]
        self._bench.comes_true(lambda: region.read(place, len(data)) == data)
        lost = [data for place, data in self._ends if region.read(place, len(data)) != data]
        if lost:
            count = f"{len(lost)} of {len(self._ends)} whole messages behind torn ones"
            text = f"memory: other bytes than are due of {count}"
            raise self._bench.failed(text, rules=["UC-05"])
        behind = region.size - self._never
        if self._op is not Op.SEND and region.read(self._never, behind) != bytes(behind):
            raise self._bench.failed("memory holds what came behind a gap", rules=["UC-04"])
        self._qp.expect_silence()


@case(
    *("UC-04", "UC-05"),
    needs=[Capability.UC],
    smoke=True,
    targets=SIMULATED,
    breaks=OUT_OF_SEQUENCE | OUT_OF_ORDER,
)
@over("op", FAMILIES, ids=lambda op: op.name)
def test_a_uc_message_is_torn_by_every_power_of_two(bench: Bench, op: Op) -> None:
    torn = Torn(bench, op)
    for distance in both_ways():
        for at_last in (False, True):
            torn.tear(distance, at_last=at_last)
    torn.ends_well()


@case(
    *("PSN-14", "NAK-01"),
    needs=[Capability.RC],
    smoke=True,
    targets=SIMULATED,
    breaks=OUT_OF_SEQUENCE | OUT_OF_ORDER,
)
def test_a_request_from_every_power_of_two_ahead_is_out_of_sequence(bench: Bench) -> None:
    executed_of(bench.claims, Service.RC, [Op.WRITE])
    qp, draw = bench.connect(), bench.random
    region = qp.region()
    starting = [maker for op, maker in STARTING.items() if qp.executes(op)]
    for turn, distance in enumerate((*AHEAD, HALF - 1)):
        psn = 2 * turn
        first, last = a_write(qp, region, psn)
        qp.send(early(qp, draw.choice(starting), region, psn + distance))
        qp.expect(NAK(SEQUENCE_ERROR, psn=psn))
        qp.send(first, early(qp, draw.choice(GOING_ON), region, psn + 1 + distance))
        qp.expect(NAK(SEQUENCE_ERROR, psn=psn + 1), allowing=[ACK(psn=psn)])
        qp.send(last)
        qp.expect(ACK(psn=psn + 1, msn=turn + 1))
    assert region.read(qp.mtu + SLOT, SLOT) == bytes(SLOT), "what came early was written"


@case(
    *("PSN-13", "OPC-09"),
    needs=[Capability.RC],
    smoke=True,
    targets=SIMULATED,
    breaks=OUT_OF_SEQUENCE | OUT_OF_ORDER,
)
def test_a_request_from_every_power_of_two_behind_is_a_duplicate(bench: Bench) -> None:
    executed_of(bench.claims, Service.RC, [Op.WRITE])
    qp, draw = bench.connect(), bench.random
    region = qp.region()
    qp.send(WRITE_ONLY(psn=0, a=1))
    qp.expect(ACK(psn=0))
    for turn, distance in enumerate((*AHEAD, HALF - 1)):
        psn = 1 + 2 * turn
        first, last = a_write(qp, region, psn)
        behind = psn - distance
        qp.send(early(qp, WRITE_ONLY, region, behind).but(a=1))
        qp.expect(ACK(psn=frozenset({behind, psn - 1})))
        behind += 1
        qp.send(first, early(qp, draw.choice(GOING_ON), region, behind).but(a=1))
        qp.expect(ACK(psn=frozenset({behind, psn})), allowing=[ACK(psn=psn)])
        qp.send(last)
        qp.expect(ACK(psn=psn + 1, msn=turn + 2))
    if region.read(qp.mtu + SLOT, SLOT) != bytes(SLOT):
        raise bench.failed("a WRITE that was acknowledged as a duplicate wrote", rules=["DUP-02"])


def a_write(qp: Connection, region: Region, psn: int) -> list[Pattern]:
    """Two packets to the beginning of memory."""
    first = WRITE_FIRST(psn=psn, payload=qp.mtu, dmalen=qp.mtu + SLOT, **at(region))
    return [first, WRITE_LAST(psn=psn + 1, payload=SLOT, a=1)]


def early(qp: Connection, maker: Maker, region: Region, psn: int) -> Pattern:
    """A request that is right but for its place, to bytes that no other names."""
    size = qp.mtu if maker is WRITE_MIDDLE else 0 if maker is READ_REQUEST else SLOT
    has_place = maker in (WRITE_ONLY, READ_REQUEST)
    place = {"dmalen": SLOT, **at(region, qp.mtu + SLOT)} if has_place else {}
    return qp.filled(maker(psn=psn, payload=size, **place))
