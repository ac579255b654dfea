# SPDX-License-Identifier: BSD-2-Clause
"""Two hosts exchange the numbers of queue pairs over a channel that loses, doubles and delays.

The sender asks until it is answered, the receiver gives the same answer to the same question, and
says in it whether it is ready: its queue pair can receive, and receives are posted. A sender that
does not wait for that writes too early. Both devices are the reference model; UC WRITE with
immediate, and each queue pair has memory of its own.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import product
from pathlib import Path
from random import Random
from typing import NamedTuple

from roceproof.conformance.scenarios.frames.pair import Pair
from roceproof.conformance.scenarios.frames.trial import facts_of, keep, verdict
from roceproof.conformance.scenarios.hosts.host import Clock
from roceproof.conformance.scenarios.scenario import (
    Check,
    Plot,
    Row,
    Scene,
    SceneScenario,
    at_least,
    at_most,
    exactly,
)
from roceproof.conformance.targets.interface import CasePlace, Target
from roceproof.conformance.targets.model.device import ModelFactory
from roceproof.verbs.queue_pair import Qp, QpSpec, State
from roceproof.verbs.service import Service
from roceproof.verbs.work import Op, Region, Work

_MTU, _SIZE = 1024, 1500
_US = 1000
_TRAVEL, _RETRY = 10 * _US, 100 * _US
_PREPARE = (20 * _US, 200 * _US)
"""Within what the receiver makes a queue pair ready."""
_TURN = 2 * _US
"""From one message to the next, of all queue pairs in turn: two thirds of the line."""


class Channel(NamedTuple):
    """What becomes of a reply: a share of them is lost, comes twice, or so much later."""

    lost: float = 0
    doubled: float = 0
    late: int = 0


_CHANNELS = {
    "clean": Channel(),
    "lost": Channel(lost=0.4),
    "doubled": Channel(doubled=0.5),
    "late": Channel(late=5 * _RETRY // 2),
}


def _scenes(quick: bool, seed: int) -> Iterator[Scene]:
    count = 16 if quick else 64
    for channel, waits in product(_CHANNELS, (True, False)):
        words: Row = {"channel": channel, "waits": waits, "qps": count, "messages": 16 * count}
        yield Scene(words, partial(play, words, seed))


@dataclass
class _Connection:
    """One queue pair, as the sender and as the receiver know it."""

    near: QpSpec
    far: QpSpec
    data: list[bytes]
    qp: Qp | None = None
    region: Region | None = None
    is_asked: bool = False
    ready_at: int | None = None
    begun_at: int | None = None
    immediates: list[int] = field(default_factory=list)


class _Exchange:
    """Both ends of the exchange, and what they do to their devices."""

    def __init__(self, near: Target, far: Target, words: Row, seed: int) -> None:
        self.pair = Pair(near, far)
        self.clock = Clock()
        self.requests = self.ignored = self.early = 0
        self._near, self._far = near, far
        self._channel, self._waits = _CHANNELS[words["channel"]], words["waits"]
        self._draw = Random(seed)
        draw, each = self._draw, words["messages"] // words["qps"]
        psns = [draw.getrandbits(24) for _ in range(words["qps"])]
        self.connections = [
            _Connection(
                near=QpSpec(
                    service=Service.UC,
                    remote=far.host,
                    local_qpn=0x100 + number,
                    remote_qpn=0x2000 + 7 * number,
                    path_mtu=_MTU,
                    sq_psn=psn,
                ),
                far=QpSpec(
                    service=Service.UC,
                    remote=near.host,
                    local_qpn=0x2000 + 7 * number,
                    remote_qpn=0x100 + number,
                    path_mtu=_MTU,
                    rq_psn=psn,
                    state=State.INIT,
                ),
                data=[draw.randbytes(_SIZE) for _ in range(each)],
            )
            for number, psn in enumerate(psns)
        ]

    def run(self) -> None:
        """From the first question to the last frame."""
        for number in range(len(self.connections)):
            self._after(number * _US, partial(self._ask, number))
        self.clock.run()
        self.pair.advance(100 * _US)

    def _after(self, delay: int, do: partial[None]) -> None:
        def at_last() -> None:
            self.pair.advance(self.clock.now - self._now)
            do()

        self.clock.after(delay, at_last)

    @property
    def _now(self) -> int:
        return self.pair.elapsed_ns

    def _ask(self, number: int) -> None:
        if self.connections[number].begun_at is None:
            self.requests += 1
            self._after(_TRAVEL, partial(self._asked, number))
            self._after(_RETRY, partial(self._ask, number))

    def _asked(self, number: int) -> None:
        connection = self.connections[number]
        if not connection.is_asked:
            connection.is_asked = True
            connection.region = self._far.register(_SIZE * len(connection.data))
            connection.qp = self._far.open(connection.far)
            self._after(self._draw.randint(*_PREPARE), partial(self._prepare, number))
        is_ready = connection.ready_at is not None
        copies = 1 + (self._draw.random() < self._channel.doubled)
        for _ in range(copies):
            if self._draw.random() >= self._channel.lost:
                travel = _TRAVEL + self._draw.randint(0, self._channel.late)
                self._after(travel, partial(self._answered, number, is_ready))

    def _prepare(self, number: int) -> None:
        connection = self.connections[number]
        assert connection.qp is not None and connection.region is not None
        self._far.set_state(connection.qp, State.RTR)
        for place in range(len(connection.data)):
            self._far.post_receive(connection.qp, wr_id=place, region=connection.region, length=0)
        connection.ready_at = self._now

    def _answered(self, number: int, is_ready: bool) -> None:
        connection = self.connections[number]
        if connection.begun_at is not None:
            self.ignored += 1
        elif is_ready or not self._waits:
            connection.begun_at = self._now
            qp, pace = self._near.open(connection.near), len(self.connections) * _TURN
            for place in range(len(connection.data)):
                self._after(place * pace, partial(self._write, number, qp, place))

    def _write(self, number: int, qp: Qp, place: int) -> None:
        connection = self.connections[number]
        assert connection.region is not None
        self.early += connection.ready_at is None
        work = Work(
            wr_id=place,
            op=Op.WRITE_IMM,
            data=connection.data[place],
            remote_addr=connection.region.addr + place * _SIZE,
            rkey=connection.region.rkey,
            immediate=number << 16 | place,
        )
        self._near.post(qp, work)


def play(words: Row, seed: int, folder: Path) -> Row:
    """What came of it."""
    with (
        ModelFactory().device(CasePlace(name="sender", seed=seed)) as near,
        ModelFactory().device(CasePlace(name="receiver", seed=seed + 1)) as far,
    ):
        exchange = _Exchange(near, far, words, seed)
        exchange.run()
        landed = wrong = flagged = 0
        for number, connection in enumerate(exchange.connections):
            assert connection.qp is not None and connection.region is not None
            outcomes = far.completions(connection.qp, count=0, timeout_ns=0)
            told = {outcome.immediate for outcome in outcomes}
            due = {number << 16 | place for place in range(len(connection.data))}
            flagged += len(due - told)
            wrong += len(told - due) + len(outcomes) - len(told)
            for place, data in enumerate(connection.data):
                found = connection.region.read(place * _SIZE, _SIZE)
                landed += found == data
                wrong += found not in (data, bytes(_SIZE))
        facts = facts_of(
            near.host, far.host, [(each.near, each.far) for each in exchange.connections]
        )
    waits = "orderly" if words["waits"] else "early"
    keep(exchange.pair, facts, folder / f"{words['channel']}-{waits}")
    return {
        "requests": exchange.requests,
        "ignored": exchange.ignored,
        "early": exchange.early,
        "landed": landed,
        "flagged": flagged,
        "wrong": wrong,
        **verdict(exchange.pair.records, facts),
    }


def _checks(rows: Sequence[Row]) -> Iterator[Check]:
    for row in rows:
        where = f"replies {row['channel']}, sender {'waits' if row['waits'] else 'is early'}"
        yield exactly(f"{where}: landed wrong", 0, row["wrong"])
        yield exactly(f"{where}: broken rules and names", "", row["rules"] + row["names"])
        lost = row["messages"] - row["landed"]
        yield exactly(f"{where}: lost is what immediates flag", lost, row["flagged"])
        if row["waits"]:
            yield exactly(f"{where}: early, lost", (0, 0), (row["early"], lost))
        else:
            yield at_least(f"{where}: lost", 1, lost)
            yield at_most(f"{where}: lost, of {row['early']} early", row["early"], lost)
        if row["channel"] in ("lost", "late"):
            yield at_least(f"{where}: questions", row["qps"] + 1, row["requests"])
        if row["channel"] == "doubled":
            yield at_least(f"{where}: replies that were ignored", 1, row["ignored"])


EXCHANGE = SceneScenario(
    id="daq-exchange",
    title="numbers of queue pairs exchanged while replies are lost, doubled or late",
    published="over TCP: numbers, then RTR and RTS, receives, and only then sends",
    points=_scenes,
    checks=_checks,
    plot=Plot("channel", "flagged", ("waits",), "replies", "messages flagged lost", log_x=False),
)

SCENARIOS: tuple[SceneScenario, ...] = (EXCHANGE,)
