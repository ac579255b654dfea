# SPDX-License-Identifier: BSD-2-Clause
"""The control experiment: what a case took for granted, tried again with nothing else around it.

A fresh device gets as many queue pairs of the same services and path MTUs, and on one of them the
same kinds of messages, one at a time, each answered at once. If that stops as the case has
stopped, the case was not what stopped it, and nothing can be said about what it is for.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import pytest

from roceproof.conformance.model.ingress import GSI_QPN
from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.checks.comparison import compared
from roceproof.conformance.suite.connection import Connection
from roceproof.conformance.suite.expect.prediction import Posted
from roceproof.conformance.suite.notation import Mismatch
from roceproof.conformance.suite.reporting.failure import CaseFailed
from roceproof.conformance.suite.reporting.failure_site import Kind, Stop
from roceproof.conformance.targets.capability import Capability
from roceproof.conformance.targets.interface import Beyond, CasePlace, DeviceDied, DeviceFactory
from roceproof.verbs.service import Service
from roceproof.verbs.work import Op

_SEED = 20_260
_MOST_MESSAGES = 6
_MOST_PACKETS = 16
_LOW_NUMBER = 0x1234
_ANSWERED_WITH_DATA = (Op.READ, Op.CMP_SWAP, Op.FETCH_ADD)


class Pair(NamedTuple):
    """What is repeated of a queue pair."""

    service: Service
    path_mtu: int
    is_ipv6: bool
    is_compatible: bool = False
    """Its peer's IPv4 address is given as ::a.b.c.d, as only IPv6 of old has it."""
    has_low_number: bool = False
    """Its own number has no more than 16 bits."""


class Message(NamedTuple):
    """What is repeated of a message."""

    op: Op
    size: int
    offset: int


@dataclass(frozen=True)
class Skeleton:
    """What is left of a case if nothing in it is special."""

    pairs: tuple[Pair, ...]
    on: int
    messages: tuple[Message, ...]
    is_fence: bool = False
    answer: tuple[tuple[str, int], ...] = ()
    """Fields of the ACKs."""
    is_late: bool = False
    """They come when the wire has been quiet for some time."""


@dataclass(frozen=True)
class Outcome:
    """What came of it: where it stopped, if it did, and all fields that were wrong."""

    failure: CaseFailed | None
    wrong: tuple[Mismatch, ...] = ()
    has_sent: bool = False
    is_tried: bool = True

    @property
    def is_fine(self) -> bool:
        """Whether it went on to its end, and nothing was wrong."""
        return self.is_tried and self.failure is None and not self.wrong


class Controls:
    """The control experiments of a session with one kind of device, each done once."""

    def __init__(self, factory: DeviceFactory) -> None:
        self._factory = factory
        self._done: dict[Skeleton, Outcome] = {}

    def of(self, skeleton: Skeleton) -> Outcome:
        """What comes of that on a fresh device."""
        if skeleton not in self._done:
            self._done[skeleton] = self._try(skeleton)
        return self._done[skeleton]

    def _try(self, skeleton: Skeleton) -> Outcome:
        place = CasePlace(name="control", seed=_SEED)
        try:
            with self._factory.device(place) as target:
                return _worked(Bench(target, self._factory.claims, seed=_SEED), skeleton)
        except DeviceDied as death:
            return Outcome(CaseFailed(f"{death.said}: {death}", stop=Stop(Kind.DEATH)))
        except (Beyond, pytest.skip.Exception):
            # What has stopped the case is no reason to skip it.
            return Outcome(None, is_tried=False)


def works_anew(bench: Bench, stop: Stop) -> bool:
    """Whether on the same device a new queue pair does what a case has waited for in vain.

    Like the one where it stopped: it sends such messages, or serves the fence.
    """
    skeleton = skeleton_of(bench, stop)
    if not skeleton.pairs:
        return True
    try:
        qp = bench.fresh(**_asked_of(bench, skeleton.pairs[skeleton.on]))
        for message in skeleton.messages:
            _carry(bench, qp, message, skeleton)
        if not skeleton.messages and Capability.RESPONDER in bench.claims.capabilities:
            qp.fence(0)
    except (CaseFailed, DeviceDied):
        return False
    except (Beyond, pytest.skip.Exception):
        return True  # what it may not be asked says nothing
    return True


def skeleton_of(bench: Bench, stop: Stop) -> Skeleton:
    """All queue pairs of a case, and the messages up to the one where it has stopped."""
    connections = [each for each in bench.connections if each.qp.qpn != GSI_QPN]
    pairs = tuple(_pair(each) for each in connections)
    on = next((i for i, each in enumerate(connections) if each is stop.at), 0)
    if stop.kind is Kind.NO_ANSWER or not connections:
        return Skeleton(pairs, on, (), is_fence=stop.kind is Kind.NO_ANSWER)
    posted = repeated(connections[on], stop)
    return Skeleton(pairs, on, tuple(_message(each, pairs[on].path_mtu) for each in posted))


def repeated(connection: Connection, stop: Stop) -> list[Posted]:
    """The last messages of a queue pair up to the one where its case has stopped."""
    posted = connection.lives[-1].posted
    if stop.message is not None:
        posted = posted[: stop.message.ordinal]
    return posted[-_MOST_MESSAGES:]


def _pair(connection: Connection) -> Pair:
    spec = connection.spec
    return Pair(spec.service, spec.path_mtu, len(spec.remote.ip) == 16)


def _message(posted: Posted, mtu: int) -> Message:
    work = posted.work
    size = work.size
    if size > _MOST_PACKETS * mtu:
        size = (_MOST_PACKETS - 1) * mtu + size % mtu
    return Message(work.op, size, work.offset)


def _worked(bench: Bench, skeleton: Skeleton) -> Outcome:
    failure = None
    try:
        pairs = [_connected(bench, each) for each in skeleton.pairs]
        if skeleton.is_fence:
            pairs[skeleton.on].fence(0)
        for message in skeleton.messages:
            _carry(bench, pairs[skeleton.on], message, skeleton)
    except CaseFailed as stopped:
        failure = stopped
    wrong = {each.field: each for packet in compared(bench) for each in packet.wrong}
    return Outcome(failure, tuple(wrong.values()), has_sent=bool(bench.frames_sent()))


def _connected(bench: Bench, pair: Pair) -> Connection:
    return bench.connect(**_asked_of(bench, pair))


def _asked_of(bench: Bench, pair: Pair) -> dict[str, Any]:
    remote = bench.peer(ipv6=pair.is_ipv6)
    if pair.is_compatible:
        remote = remote._replace(ip=bytes(16 - len(remote.ip)) + remote.ip)
    number: dict[str, Any] = {"local_qpn": _LOW_NUMBER} if pair.has_low_number else {}
    return {"service": pair.service, "path_mtu": pair.path_mtu, "remote": remote, **number}


def _carry(bench: Bench, qp: Connection, message: Message, skeleton: Skeleton) -> None:
    if message.op in _ANSWERED_WITH_DATA:
        qp.serve(expected=qp.lives[-1].posted[-1].end_psn if qp.lives[-1].posted else 0)
        posted = qp.post(message.op, message.size)
        qp.expect_message(posted)
        qp.completes(posted)
        qp.answer_with = None
        return
    posted = qp.post(message.op, message.size, offset=message.offset)
    qp.expect_message(posted)
    if skeleton.is_late:
        bench.settle()
    if qp.spec.service is Service.RC:
        qp.ack(posted, **dict(skeleton.answer))
    qp.completes(posted)
