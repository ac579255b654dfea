# SPDX-License-Identifier: BSD-2-Clause
"""A question behind a case is asked again of a device that was still answering another one."""

from __future__ import annotations

import pytest

from roceproof.conformance.runner.judging.scoreboard import judge
from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.targets.forwarding import ForwardingTarget
from roceproof.conformance.targets.interface import CasePlace, Target
from roceproof.conformance.targets.model.device import ModelFactory
from roceproof.conformance.targets.ping import NUMBER
from roceproof.conformance.wire.icmp import icmp_frame
from roceproof.verbs.addresses import Host

ECHO_REPLY = 0
ANOTHER = bytes(4) + bytes(1200)
OURS_SPOILT = 2 * NUMBER.to_bytes(2, "big") + bytes(48)


class Answers(ForwardingTarget):
    """Answers so many of the last questions by a ping that says other than was asked."""

    def __init__(self, target: Target, wrongly: int, said: bytes) -> None:
        super().__init__(target)
        self._wrongly, self._said = wrongly, said

    def asides(self) -> list[bytes]:
        return [icmp_frame(self.host, self.host, ECHO_REPLY, self._said)]

    def ping(self, peer: Host, *, timeout_ns: int) -> bool:
        self._wrongly -= 1
        return self._wrongly < 0 and super().ping(peer, timeout_ns=timeout_ns)


@pytest.mark.parametrize(
    ("wrongly", "said", "is_lost"),
    [
        (0, ANOTHER, False),
        (1, ANOTHER, False),
        (2, ANOTHER, True),
        (1, OURS_SPOILT, True),
    ],
)
def test_who_answers_another_question_is_asked_again(
    wrongly: int, said: bytes, *, is_lost: bool
) -> None:
    factory = ModelFactory()
    with factory.device(CasePlace(name="late", seed=1)) as target:
        bench = Bench(Answers(target, wrongly, said), factory.claims, seed=1)
        failures = list(judge(bench))
    assert bool(failures) is is_lost, failures
