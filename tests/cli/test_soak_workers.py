# SPDX-License-Identifier: BSD-2-Clause
"""A process that is killed while it plays random plans ends the run with its cause."""

from __future__ import annotations

import signal

import pytest

from roceproof.common.errors import RoceproofError
from roceproof.soak_workers import come, soak_workers


def test_what_a_killed_process_had_to_do_is_not_waited_for() -> None:
    with soak_workers(1) as pool:
        assert list(come(pool.imap(abs, [-1, -2]))) == [1, 2]
        with pytest.raises(RoceproofError, match=r"has died \(killed by SIGKILL\), which says"):
            list(come(pool.imap(signal.raise_signal, [signal.SIGKILL])))
