# SPDX-License-Identifier: BSD-2-Clause
"""The way of a queue pair from state to state, as verbs allow it."""

from __future__ import annotations

import pytest

from roceproof.conformance.targets.verbs.work import steps
from roceproof.verbs.queue_pair import State

RESET, INIT, RTR, RTS, ERR = State.RESET, State.INIT, State.RTR, State.RTS, State.ERR


@pytest.mark.parametrize(
    ("start", "end", "way"),
    [
        (RESET, RTS, (INIT, RTR, RTS)),
        (RESET, INIT, (INIT,)),
        (INIT, RTS, (RTR, RTS)),
        (RTR, RTS, (RTS,)),
        (RTS, RTS, ()),
        (RTS, RESET, (RESET,)),
        (RTS, ERR, (ERR,)),
        (RTS, INIT, (RESET, INIT)),
        (RESET, ERR, (INIT, ERR)),
        (ERR, RTR, (RESET, INIT, RTR)),
        (ERR, RESET, (RESET,)),
    ],
)
def test_a_queue_pair_goes_where_verbs_let_it(
    start: State, end: State, way: tuple[State, ...]
) -> None:
    assert steps(start, end) == way
