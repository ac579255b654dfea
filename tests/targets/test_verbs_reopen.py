# SPDX-License-Identifier: BSD-2-Clause
"""A queue pair comes back from what it was refused, however late the kernel puts it into error."""

from __future__ import annotations

import errno
from typing import Any

import pytest
from test_verbs_haste import HOST, LONG, BusyWire, target

from roceproof.conformance.targets.interface import Refused
from roceproof.rxe_env.client.verbs import Verbs
from roceproof.rxe_env.errors import AgentError
from roceproof.verbs.queue_pair import QpSpec
from roceproof.verbs.service import Service

SPEC = QpSpec(service=Service.RC, remote=HOST, remote_qpn=18)


class Wire(BusyWire):
    def discard(self, is_stale: object) -> None:
        pass


class Late(Verbs):
    """Refuses those of the steps to RTR for which `late` says so, as it does in error."""

    def __init__(self) -> None:
        self.steps: list[str] = []
        self.late: list[bool] = []

    def call(self, op: str, *, within: float = 5.0, **fields: Any) -> dict[str, Any]:
        if op == "modify_qp":
            self.steps.append(fields["state"])
            if fields["state"] == "RTR" and self.late and self.late.pop(0):
                raise AgentError("modify_qp", "Invalid argument", errno.EINVAL)
        return {"pd": 1, "cq": 2, "qp": 3, "qpn": 17, "wcs": [], "ah": 4, "hop_limit": 64}


def test_one_that_was_put_into_error_late_goes_through_reset_again() -> None:
    kernel = Late()
    anew = target(Wire(), LONG, verbs=kernel)
    qp = anew.open(SPEC)
    kernel.steps, kernel.late = [], [True, False]
    anew.reopen(qp, SPEC)
    assert kernel.steps == ["RESET", "INIT", "RTR", "RESET", "INIT", "RTR", "RTS"]


def test_one_that_is_refused_whatever_was_before_is_refused() -> None:
    kernel = Late()
    anew = target(Wire(), LONG, verbs=kernel)
    qp = anew.open(SPEC)
    kernel.late = [True, True]
    with pytest.raises(Refused, match="Invalid argument"):
        anew.reopen(qp, SPEC)
