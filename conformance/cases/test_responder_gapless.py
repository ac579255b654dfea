# SPDX-License-Identifier: BSD-2-Clause
"""Requests of every kind right behind those of every other, of any length, on all services."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from random import Random
from typing import Any, NamedTuple

from roceproof.conformance.model.segmentation import TAKE_RECEIVE
from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.case import RESPONDER, case, needs, over
from roceproof.conformance.suite.checks.responses import read_responses
from roceproof.conformance.suite.connection import Connection
from roceproof.conformance.suite.limits.within_limits import skip_for_requests
from roceproof.conformance.suite.memory import at, otherwise
from roceproof.conformance.suite.pattern import (
    ACK,
    ATOMIC_ACK,
    CMP_SWAP,
    FETCH_ADD,
    READ_REQUEST,
    SEND_FIRST,
    SEND_LAST,
    SEND_LAST_IMM,
    SEND_ONLY,
    SEND_ONLY_IMM,
    UD_SEND_ONLY,
    UD_SEND_ONLY_IMM,
    WRITE_FIRST,
    WRITE_LAST,
    WRITE_LAST_IMM,
    WRITE_ONLY,
    WRITE_ONLY_IMM,
    Maker,
    Pattern,
)
from roceproof.conformance.suite.reporting.failure import CaseFailed
from roceproof.conformance.suite.reporting.failure_heads import WITHOUT_A_PAUSE
from roceproof.conformance.targets.capability import Capability
from roceproof.conformance.targets.interface import Claims
from roceproof.conformance.wire import frame_edits as edits
from roceproof.conformance.wire.framing import GRH_BYTES
from roceproof.conformance.wire.notation import first_difference
from roceproof.conformance.wire.psn import packet_count
from roceproof.verbs.service import Service
from roceproof.verbs.work import Op, Region

pytestmark = [RESPONDER, needs(Capability.LOCKSTEP)]

SIMULATED = ["hdl", "model"]
CONNECTED = (Op.SEND, Op.SEND_IMM, Op.WRITE, Op.WRITE_IMM)
SERVED = {
    Service.RC: (*CONNECTED, Op.READ, Op.CMP_SWAP, Op.FETCH_ADD),
    Service.UC: CONNECTED,
    Service.UD: (Op.SEND, Op.SEND_IMM),
}
MAKERS: dict[Op, tuple[Maker, Maker, Maker]] = {
    Op.SEND: (SEND_ONLY, SEND_FIRST, SEND_LAST),
    Op.SEND_IMM: (SEND_ONLY_IMM, SEND_FIRST, SEND_LAST_IMM),
    Op.WRITE: (WRITE_ONLY, WRITE_FIRST, WRITE_LAST),
    Op.WRITE_IMM: (WRITE_ONLY_IMM, WRITE_FIRST, WRITE_LAST_IMM),
}
LANES = 64  # bytes of the widest stream
SLOT, SLOTS = 512, 8
BURST = SLOTS
"""Messages, each with a slot of its own."""
ROUNDS = 2
DEEPEST = 16  # READs at once
WORDS = 1 << 64
TELLING = 4
"""Bytes in a row that are not the same by chance."""
BESIDE = "calls for nothing", "is damaged"


class Kind(NamedTuple):
    """What a request does on which service; no service's is what a device has to drop."""

    service: Service | None
    what: Op | str


def kinds_of(claims: Claims) -> list[Kind]:
    """All that the device executes, and frames that it must not."""
    found = [Kind(None, what) for what in BESIDE]
    for service, operations in SERVED.items():
        if Capability[service.name] in claims.capabilities:
            found += [Kind(service, op) for op in operations if claims.does_execute(service, op)]
    return found


def each_behind_each(kinds: Sequence[Kind]) -> Iterator[Kind]:
    """A row, closed to a ring, in which each kind comes once behind every other and itself."""
    for place, kind in enumerate(kinds):
        yield kind
        for later in kinds[place + 1 :]:
            yield from (kind, later)


class Flow:
    """One queue pair, what was sent to it in this burst and what must come of it."""

    def __init__(
        self, bench: Bench, service: Service, draw: Random, dropped: Sequence[bytes]
    ) -> None:
        self._bench, self._service, self._draw, self._dropped = bench, service, draw, dropped
        self.qp: Connection = bench.connect(service, max_dest_rd_atomic=DEEPEST)
        self._region: Region = bench.target.register(SLOTS * SLOT)
        self._psn = 0
        self._held = bytearray(draw.randbytes(self._region.size))
        self._region.write(0, bytes(self._held))
        self._answers: list[Pattern] = []
        self._ends: list[tuple[int, dict[str, int | None]]] = []

    def packets(self, op: Op, place: int) -> list[Pattern]:
        """One message to a place of the burst, of any length; its receive is there."""
        draw, mtu, offset = self._draw, self.qp.mtu, place * SLOT
        size = draw.choice([draw.randrange(2 * LANES), mtu - draw.randrange(LANES)])
        if op is Op.READ:
            return [self._read(offset, min(size, SLOT))]
        if op in (Op.CMP_SWAP, Op.FETCH_ADD):
            return [self._atomic(op, offset)]
        is_long = self._service is not Service.UD and draw.random() < 0.2
        return self._message(op, offset, min(size, mtu, SLOT - GRH_BYTES), is_long=is_long)

    def _message(self, op: Op, offset: int, size: int, *, is_long: bool) -> list[Pattern]:
        draw, mtu, is_asked = self._draw, self.qp.mtu, int(self._service is Service.RC)
        imm = draw.getrandbits(32) if op in (Op.SEND_IMM, Op.WRITE_IMM) else None
        start = offset
        if op in TAKE_RECEIVE:
            length = SLOT if op is not Op.WRITE_IMM else 0
            number = self.qp.post_receive(self._region, offset=offset, length=length)
            front = GRH_BYTES if self._service is Service.UD else 0
            start += front
        is_long = is_long and 2 * mtu <= SLOT
        data = draw.randbytes(max(size, 1) + mtu if is_long else size)
        self._held[start : start + len(data)] = data
        if op in TAKE_RECEIVE:
            self._ends.append((number, {"byte_len": front + len(data), "immediate": imm}))
        only, first, last = MAKERS[op]
        if self._service is Service.UD:
            only = UD_SEND_ONLY if op is Op.SEND else UD_SEND_ONLY_IMM
        where = {"dmalen": len(data), **at(self._region, start)}
        said = {"a": is_asked} | ({} if imm is None else {"imm": imm})
        made = [only(psn=self._psn, payload=data, **said, **where)]
        if is_long:
            made = [
                first(psn=self._psn, payload=data[:mtu], **where),
                last(psn=self._psn + 1, payload=data[mtu:], **said),
            ]
        self._psn += len(made)
        if is_asked:
            self._answers.append(ACK(psn=self._psn - 1))
        return made

    def _read(self, offset: int, size: int) -> Pattern:
        """Of a slot that nothing in this burst writes to."""
        request = READ_REQUEST(psn=self._psn, dmalen=size, **at(self._region, offset))
        data = bytes(self._held[offset : offset + size])
        self._answers += read_responses(self.qp, self._psn, data)
        self._psn += packet_count(size, self.qp.mtu)
        return request

    def _atomic(self, op: Op, offset: int) -> Pattern:
        word = slice(offset, offset + 8)
        value, swap = int.from_bytes(self._held[word], "little"), self._draw.getrandbits(64)
        maker = CMP_SWAP if op is Op.CMP_SWAP else FETCH_ADD
        request = maker(psn=self._psn, swap=swap, compare=value, **at(self._region, offset))
        self._answers.append(ATOMIC_ACK(psn=self._psn, original=value))
        after = swap if op is Op.CMP_SWAP else (value + swap) % WORDS
        self._held[word] = after.to_bytes(8, "little")
        self._psn += 1
        return request

    def ends(self) -> None:
        """All of it was served, and memory holds it."""
        self.qp.expect(*self._answers)
        for number, fields in self._ends:
            self.qp.receives(number, **fields)
        self._answers.clear()
        self._ends.clear()
        if self._service is Service.UD:  # of the room in front nothing is asked here
            now = self._region.read(0, self._region.size)
            for start in range(0, len(now), SLOT):
                self._held[start : start + GRH_BYTES] = now[start : start + GRH_BYTES]
        want, region = bytes(self._held), self._region
        if not self._bench.comes_true(lambda: region.read(0, region.size) == want):
            found = region.read(0, region.size)
            text = f"memory of queue pair {self._service.name} holds {otherwise(want, found, b'')}"
            first = first_difference(want, found)
            rules = []
            if any(found[first : first + TELLING] in frame for frame in self._dropped):
                text, rules = f"{text}, as a packet with a wrong ICRC had them", ["ICRC-15"]
            raise self._bench.failed(text, rules=rules)


class Row:
    """Plays such a row on a device in bursts without a pause; if it is calm, frame by frame."""

    def __init__(self, bench: Bench, seed: int, *, is_calm: bool) -> None:
        self._bench, self._draw, self._is_calm = bench, Random(seed), is_calm
        self._dropped: list[bytes] = []
        kinds = kinds_of(bench.claims)
        services = dict.fromkeys(kind.service for kind in kinds if kind.service is not None)
        self._flows = {
            service: Flow(bench, service, self._draw, self._dropped)
            for service, _ in zip(services, range(bench.claims.qps), strict=False)
        }
        if not self._flows:
            skip_for_requests(bench.claims, *SERVED)
        self._kinds = [kind for kind in kinds if kind.service in {None, *self._flows}]

    def goes_by(self) -> None:
        """All of it is served."""
        for _ in range(ROUNDS):
            self._goes_by_once()

    def _goes_by_once(self) -> None:
        self._draw.shuffle(self._kinds)
        row = [*each_behind_each(self._kinds)]
        most = 1 if self._is_calm else max(2, min(BURST, self._bench.claims.receives))
        burst: list[Kind] = []
        for before, kind in pairwise([row[-1], *row]):
            if len(burst) == most:
                self._send(burst)
                burst = [] if self._is_calm else [before]
            burst.append(kind)
        self._send(burst)

    def _send(self, burst: Sequence[Kind]) -> None:
        frames = [frame for place, kind in enumerate(burst) for frame in self._frames(kind, place)]
        for qp, frame in frames:
            if qp is None:
                self._bench.send(frame, is_void=True)
            else:
                qp.send(frame)
            if self._is_calm:
                self._bench.settle()
        for flow in self._flows.values():
            flow.ends()

    def _frames(self, kind: Kind, place: int) -> list[tuple[Connection | None, Any]]:
        draw, size = self._draw, self._draw.randrange(2 * LANES)
        if kind.service is not None and isinstance(kind.what, Op):
            flow = self._flows[kind.service]
            return [(flow.qp, each) for each in flow.packets(kind.what, place)]
        if kind.what == BESIDE[0]:
            frame = b"\xff" * 6 + self._bench.peers[1].mac + b"\x88\xb5" + draw.randbytes(1500)
            return [(None, frame[: 60 + size])]
        qp = self._bench.connections[0]
        write = qp.filled(WRITE_ONLY(psn=0, payload=size, va=0, rkey=0))
        damaged = write.corrupted(edits.bad_icrc(1 << draw.randrange(32)))
        self._dropped.append(qp.frame(damaged))
        return [(None, self._dropped[-1])]


def served(bench: Bench, seed: int) -> None:
    """Such a row; what is wrong without pauses alone is told as that."""
    try:
        Row(bench, seed, is_calm=False).goes_by()
    except CaseFailed as failure:
        if failure.rules:
            raise
        try:
            with bench.another(seed) as calm:
                Row(calm, seed, is_calm=True).goes_by()
        except CaseFailed:
            failure.rules = ("LIVE-03",)
            raise failure from None
        head, _, rest = str(failure).partition("\n")
        text = f"{head}; {WITHOUT_A_PAUSE}\n{rest}"
        raise CaseFailed(text, rules=["ETH-08", "LIVE-03"], entries=failure.entries) from None


@case("LIVE-03", "ETH-08", smoke=True, targets=SIMULATED)
def test_requests_of_all_kinds_behind_each_other(bench: Bench) -> None:
    served(bench, bench.random.getrandbits(32))


@case("LIVE-03", "ETH-08", targets=SIMULATED)
@over("part", range(8))
def test_requests_of_all_kinds_and_lengths_behind_each_other(bench: Bench, part: int) -> None:
    if part % 2 and Capability.DISTURBANCE in bench.claims.capabilities:
        bench.target.disturb(rx_gap=5 * part)
    served(bench, bench.random.getrandbits(32))
