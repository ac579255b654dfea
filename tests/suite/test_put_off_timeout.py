# SPDX-License-Identifier: BSD-2-Clause
"""Whether posted work puts a timeout off is judged by what has come when the last wait is over."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from roceproof.conformance.cases import test_requester_unanswered as unanswered
from roceproof.conformance.cases.test_requester_unanswered import MANY
from roceproof.conformance.suite.reporting.failure import CaseFailed
from roceproof.verbs.limits import Limits


class Busy:
    """Bench, target and connection in one: it completes in the wait behind so many posts."""

    def __init__(self, posts: int) -> None:
        self._left = posts
        self.target = self
        self.claims = SimpleNamespace(capabilities=(), limits=Limits())
        self.spec, self.inbox = SimpleNamespace(ack_timeout=1), list[Any]()
        self.now_ns, self.failed = 0, CaseFailed
        self._has_outcome = False

    def held_up_ns(self) -> int:
        return 0

    def has_outcome(self) -> bool:
        return self._has_outcome

    def post(self, *_: object) -> None:
        self._left -= 1

    def pump(self, *_: object) -> None:
        self._has_outcome = self._left <= 0


@pytest.mark.parametrize(("posts", "is_seen"), [(1, True), (MANY, True), (MANY + 1, False)])
def test_what_comes_in_the_last_wait_is_judged_by_its_time(
    posts: int, is_seen: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    busy, judged = Busy(posts), []
    monkeypatch.setattr(unanswered, "connect", lambda *_: busy)
    monkeypatch.setattr(unanswered, "write_all", lambda *_: ["message"])
    monkeypatch.setattr(unanswered, "last_sent_ns", lambda *_: 0)
    monkeypatch.setattr(unanswered, "ends_in_time", lambda *_, **__: judged.append(posts))
    case: Any = unanswered.test_packets_that_follow_do_not_put_it_off
    if is_seen:
        case(busy)
    else:
        with pytest.raises(CaseFailed, match="not given up for 6 T"):
            case(busy)
    assert judged == [posts] * is_seen
