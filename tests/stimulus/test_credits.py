# SPDX-License-Identifier: BSD-2-Clause
"""Plans in which a queue pair obeys end-to-end credits: who goes beyond them, and who does not."""

from __future__ import annotations

from dataclasses import replace

import pytest
from random_devices import opener

from roceproof.conformance.stimulus.requester.play import Play
from roceproof.conformance.suite.reporting.failure import CaseFailed
from roceproof.conformance.targets.forwarding import ForwardingTarget
from roceproof.conformance.targets.model.device import ModelFactory
from roceproof.verbs.queue_pair import Qp, QpSpec

CREDITS_3, NO_LIMIT = 3, 31


class Ignores(ForwardingTarget):
    """Sends whatever credits it is given."""

    def open(self, spec: QpSpec) -> Qp:
        return replace(super().open(replace(spec, flow_control=False)), spec=spec)


def played(wrap: type[ForwardingTarget], *, syndrome: int) -> None:
    """A first message, answered so, and eight more, of which nobody answers any."""
    with opener(ModelFactory(), wrap)(1, None) as bench:
        play = Play(bench)
        play.connect(0, flow_control=True)
        play.post(0)
        play.until()
        play.answer(0, syndrome=syndrome, msn=1)
        play.post(0, count=8)
        play.wait(20_000)
        play.finish()


@pytest.mark.parametrize("syndrome", [0, CREDITS_3, NO_LIMIT])
def test_a_device_that_obeys_credits_is_not_accused(syndrome: int) -> None:
    played(ForwardingTarget, syndrome=syndrome)


def test_a_device_that_ignores_them_is() -> None:
    with pytest.raises(CaseFailed) as accused:
        played(Ignores, syndrome=CREDITS_3)
    assert accused.value.rules == ("CRED-03",)
    assert "want  no more than message 5 by its credits" in str(accused.value)


def test_nobody_is_accused_where_there_is_no_limit() -> None:
    played(Ignores, syndrome=NO_LIMIT)
