# SPDX-License-Identifier: BSD-2-Clause
"""Captures that hold packets twice: whose doing that is, and what is explained without them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pytest
from explained import healthy, planted, records

from roceproof.conformance.diagnosis.report import explain
from roceproof.conformance.diagnosis.result import COPIES
from roceproof.conformance.wire.framing import locate
from roceproof.verbs.service import Service

SECOND_NS = 1_000_000_000


def ids(frames: Iterable[bytes]) -> list[str]:
    return [found.id for found in explain(records(frames))]


def routed(frame: bytes) -> bytes:
    """The frame behind a router: with other MAC addresses, and one hop fewer to go."""
    layout = locate(frame)
    assert layout is not None
    made = bytearray(frame)
    made[0:12] = b"\x02" * 12
    at = layout.ip + (8 if layout.version == 4 else 7)
    made[at] -= 1
    if layout.version == 4:
        made[layout.ip + 10 : layout.ip + 12] = bytes(2)
    return bytes(made)


def twice(frames: Sequence[bytes], every: int = 1) -> list[bytes]:
    return [
        each
        for place, frame in enumerate(frames)
        for each in ((frame, frame) if place % every == 0 else (frame,))
    ]


@pytest.mark.parametrize("service", [Service.RC, Service.UC])
def test_a_mirror_of_both_directions_accuses_nobody(service: Service) -> None:
    frames = healthy(3, services=(service,))
    assert ids(frames) == []
    assert ids(twice(frames)) == [COPIES]
    assert ids([each for frame in frames for each in (frame, routed(frame))]) == [COPIES]
    assert ids(twice(frames, every=3)) == [COPIES]


def test_what_else_is_wrong_is_explained_without_the_copies() -> None:
    frames = planted("S26", 3)
    assert "S26" in ids(frames)
    assert ids(twice(frames)) == [COPIES, *ids(frames)]


def test_a_device_that_sends_packets_twice_is_told_so() -> None:
    frames = healthy(3, services=(Service.UC,))
    own = frames[0][6:12]
    doubled = [
        each
        for place, frame in enumerate(frames)
        for each in ((frame, frame) if frame[6:12] == own and place % 3 == 0 else (frame,))
    ]
    assert COPIES not in ids(doubled)
    assert "P23" in ids(doubled)


def test_what_comes_again_after_a_pause_or_more_than_once_is_no_copy() -> None:
    frames = healthy(3, services=(Service.UC,))
    late = [
        record._replace(time_ns=number * SECOND_NS)
        for number, record in enumerate(records(twice(frames)))
    ]
    assert COPIES not in [found.id for found in explain(late)]
    assert COPIES not in ids([each for frame in frames for each in (frame,) * 3])


def test_packets_that_come_twice_do_not_say_that_messages_are_built_wrongly() -> None:
    frames = healthy(3, services=(Service.UC,), lengths=(3000,), path_mtus=(256,))
    own = frames[0][6:12]
    doubled = [each for frame in frames for each in [frame] * (1 + (frame[6:12] == own))]
    assert ids(doubled) == ["P23"]
