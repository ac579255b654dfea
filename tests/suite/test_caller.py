# SPDX-License-Identifier: BSD-2-Clause
"""Whoever asks for a connection bears answers that are repeated, and being told to wait."""

from __future__ import annotations

from typing import Any

import pytest

from roceproof.conformance.model.cm.manager import ConnectionManager
from roceproof.conformance.model.cm.messages import Attribute, CmMessage
from roceproof.conformance.model.components import Components
from roceproof.conformance.model.segment import Segment
from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.cm.active_peer import Caller
from roceproof.conformance.suite.pattern import ACK, WRITE_ONLY
from roceproof.conformance.suite.reporting.failure import CaseFailed
from roceproof.conformance.targets.interface import CasePlace
from roceproof.conformance.targets.model.device import ModelFactory
from roceproof.conformance.wire.codec import Packet
from roceproof.verbs.addresses import Host


class AsksForTime(ConnectionManager):
    """Answers a REQ by MRA, and then by REP twice."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._later: list[tuple[Host, Segment]] = []

    def receive(self, packet: Packet) -> Segment | None:
        """MRA at once."""
        answer, message = super().receive(packet), CmMessage.unpack(packet.payload)
        if answer is None or message is None or message.attribute is not Attribute.REQ:
            return answer
        self._later += [(Host(packet.src_mac, packet.ip.src), answer)] * 2
        ids = {"remote_id": message["local_id"]}
        return self.datagram(CmMessage(Attribute.MRA, message.transaction, ids))

    def expire(self, now_ns: int) -> list[tuple[Host, Segment]]:
        """What was put off."""
        later, self._later = self._later, []
        return [*super().expire(now_ns), *later]


def test_it_waits_where_it_is_told_to_and_hears_once_what_comes_twice() -> None:
    source = ModelFactory(components=Components(connection_manager=AsksForTime))
    with source.device(CasePlace(name="caller", seed=1)) as target:
        caller = Caller(Bench(target, source.claims, seed=1))
        request = caller.request()
        reply = caller.ask(request, Attribute.REP)
        qp = caller.ready(request, reply)
        qp.send(WRITE_ONLY(psn=0, a=1))
        qp.expect(ACK(psn=0))
        goodbye = caller.follow_up(Attribute.DREQ, request, reply, qpn=reply["qpn"])
        caller.ask(goodbye, Attribute.DREP)


def test_another_answer_is_none() -> None:
    source = ModelFactory()
    with source.device(CasePlace(name="caller", seed=1)) as target:
        caller = Caller(Bench(target, source.claims, seed=1))
        with pytest.raises(CaseFailed, match="want  DREP"):
            caller.ask(caller.request(), Attribute.DREP)
