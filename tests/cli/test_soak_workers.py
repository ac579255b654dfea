# SPDX-License-Identifier: BSD-2-Clause
"""A process that is killed while it plays random plans ends the run with its cause."""

from __future__ import annotations

import signal
import sys
import time

import pytest

from roceproof.common.errors import RoceproofError
from roceproof.conformance.regression.soak_workers import come, soak_workers


def test_what_a_killed_process_had_to_do_is_not_waited_for() -> None:
    with soak_workers(1) as pool:
        assert list(come(pool.imap(abs, [-1, -2]))) == [1, 2]
        with pytest.raises(RoceproofError, match=r"has died \(killed by SIGKILL\), which says"):
            list(come(pool.imap(signal.raise_signal, [signal.SIGKILL])))


def test_nor_of_one_that_ends_as_if_all_were_well() -> None:
    with soak_workers(1) as pool, pytest.raises(RoceproofError, match="has died"):
        list(come(pool.imap(sys.exit, [0])))


def test_a_device_that_changes_meanwhile_ends_it_at_once() -> None:
    def look() -> None:
        raise RoceproofError("it has changed")

    with soak_workers(1) as pool, pytest.raises(RoceproofError, match="has changed"):
        list(come(pool.imap(time.sleep, [600]), look=look))
