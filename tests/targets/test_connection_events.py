# SPDX-License-Identifier: BSD-2-Clause
"""A device tells each step of a connection once, in order, and with the same facts."""

from __future__ import annotations

from dataclasses import replace

import pytest

from roceproof.conformance.targets.hdl.connection_events import ConnectionEvents
from roceproof.dpi.contract.connection_records import ConnectionEvent, ConnectionStep
from roceproof.verbs.service import PathMtu

EVENT = ConnectionEvent(
    qpn=0x11,
    step=ConnectionStep.ANSWERED,
    path_mtu=PathMtu.from_size(1024),
    remote_qpn=0x22,
    sq_psn=3,
    rq_psn=4,
    udp_sport=0xC005,
    ip_id=6,
)
STEPS = {
    "A": EVENT,
    "E": replace(EVENT, step=ConnectionStep.ESTABLISHED),
    "X": replace(EVENT, step=ConnectionStep.ENDED),
    "B": replace(EVENT, qpn=0x12),
    "F": replace(EVENT, step=ConnectionStep.ESTABLISHED, rq_psn=5),
}


def wrong(steps: str, *, called: bool = False) -> list[str]:
    events = ConnectionEvents()
    if called:
        events.called(EVENT.qpn)
    events.add(STEPS[step] for step in steps)
    return events.wrong


@pytest.mark.parametrize("steps", ["", "A", "AA", "AE", "AEX", "AX", "AEXAE", "ABE", "AXAX"])
def test_a_story_that_can_be(steps: str) -> None:
    assert wrong(steps) == []


@pytest.mark.parametrize("steps", ["", "E", "EX", "X", "XAE", "BE"])
def test_a_story_of_a_call_that_can_be(steps: str) -> None:
    assert wrong(steps, called=True) == []


@pytest.mark.parametrize(
    ("steps", "words"),
    [
        ("A", "says answered of queue pair 0x11 behind nothing; want no call"),
        ("EE", "says established of queue pair 0x11 behind established; want nothing or ended"),
        ("XE", "says established of queue pair 0x11 behind ended; want answered"),
    ],
)
def test_a_story_of_a_call_that_cannot_be(steps: str, words: str) -> None:
    (told,) = wrong(steps, called=True)
    assert words in told


@pytest.mark.parametrize(
    ("steps", "words"),
    [
        ("AEA", "says answered of queue pair 0x11 behind established; want nothing or ended"),
        ("AEE", "says established of queue pair 0x11 behind established; want answered"),
        ("E", "says established of queue pair 0x11 behind nothing"),
        ("AXX", "says ended of queue pair 0x11 behind ended; want answered or established"),
        ("AXE", "says established of queue pair 0x11 behind ended"),
        ("BE", "says established of queue pair 0x11 behind nothing"),
        ("AF", "tells otherwise of queue pair 0x11 when it is established than before"),
    ],
)
def test_a_story_that_cannot_be(steps: str, words: str) -> None:
    (told,) = wrong(steps)
    assert words in told
