# SPDX-License-Identifier: BSD-2-Clause
"""An interruption that is held comes once, at the end; what is let through comes at once."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator

import pytest

from roceproof.common import interruption
from roceproof.common.interruption import (
    SIGNALS,
    interruptions_held,
    interruptions_let_through,
    raise_interruptions,
)


@pytest.fixture(autouse=True)
def handlers(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    before = {number: signal.getsignal(number) for number in (*SIGNALS, signal.SIGALRM)}
    monkeypatch.setattr(sys, "unraisablehook", sys.unraisablehook)
    monkeypatch.setattr(interruption, "SAME_WISH_SECONDS", 0.0)
    raise_interruptions()
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def interrupt() -> None:
    os.kill(os.getpid(), signal.SIGINT)


def test_what_came_in_nested_blocks_is_raised_once_at_the_outermost_end() -> None:
    done = []
    with pytest.raises(KeyboardInterrupt):
        with interruptions_held():
            with interruptions_held():
                interrupt()
                interrupt()
            done.append("inner")
        done.append("after")
    assert done == ["inner"]
    with interruptions_held():
        pass  # nothing is left


def test_a_part_that_lets_through_is_interrupted_and_the_rest_is_not() -> None:
    done = []
    with pytest.raises(KeyboardInterrupt), interruptions_held():
        with pytest.raises(KeyboardInterrupt), interruptions_let_through():
            interrupt()
            done.append("unreachable")
        interrupt()
        done.append("tidied")
    assert done == ["tidied"]


def test_what_came_before_a_part_that_lets_through_ends_it_at_its_start() -> None:
    done = []
    with interruptions_held():
        interrupt()
        with pytest.raises(KeyboardInterrupt), interruptions_let_through():
            done.append("unreachable")
        interrupted_inside = True
    assert interrupted_inside and done == []
