# SPDX-License-Identifier: BSD-2-Clause
"""What was queued for a device is joined with the cycles in which the device took it."""

from __future__ import annotations

from roceproof.conformance.targets.bus_events import Received, Watch
from roceproof.dpi.session.events import Inbound, Taken


def test_what_was_given_gets_the_cycle_in_which_it_was_taken() -> None:
    watch = Watch()
    watch.give(Inbound.FRAME, Received(0, b"first"))
    watch.give(Inbound.FRAME, Received(0, b"second"))
    moved = watch.moved([Taken(5, Inbound.FRAME), Taken(9, Inbound.FRAME)], [], [])
    assert moved == [Received(5, b"first"), Received(9, b"second")]


def test_the_records_of_a_responder_s_memory_are_no_movement() -> None:
    taken = [Taken(3, Inbound.REGION), Taken(4, Inbound.RECEIVE)]
    assert Watch().moved(taken, [], []) == []
