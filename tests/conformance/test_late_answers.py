# SPDX-License-Identifier: BSD-2-Clause
"""A question behind a case is asked again of a device that was still answering another one."""

from __future__ import annotations

import pytest

from roceproof.conformance.runner.judging.scoreboard import judge
from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.targets.forwarding import ForwardingTarget
from roceproof.conformance.targets.interface import CasePlace, Target
from roceproof.conformance.targets.model.device import ModelFactory
from roceproof.conformance.wire.frame_edits import fix_ip_checksum
from roceproof.verbs.addresses import Host


class AnswersAnother(ForwardingTarget):
    """Drops so many questions, since an answer to another one waits to leave."""

    def __init__(self, target: Target, dropped: int) -> None:
        super().__init__(target)
        self._dropped = dropped

    def asides(self) -> list[bytes]:
        host = self.host
        frame = bytearray(bytes(6) + host.mac + b"\x08\0\x45" + bytes(19) + bytes(1200))
        frame[16:18], frame[23], frame[26:30] = (1220).to_bytes(2, "big"), 1, host.ip
        fix_ip_checksum(frame)
        return [bytes(frame)]

    def ping(self, peer: Host, *, timeout_ns: int) -> bool:
        self._dropped -= 1
        return self._dropped < 0 and super().ping(peer, timeout_ns=timeout_ns)


@pytest.mark.parametrize(("dropped", "is_lost"), [(0, False), (1, False), (2, True)])
def test_who_answers_another_question_is_asked_again(dropped: int, *, is_lost: bool) -> None:
    factory = ModelFactory()
    with factory.device(CasePlace(name="late", seed=1)) as target:
        bench = Bench(AnswersAnother(target, dropped), factory.claims, seed=1)
        failures = list(judge(bench))
    assert bool(failures) is is_lost, failures
