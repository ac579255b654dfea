# SPDX-License-Identifier: BSD-2-Clause
"""Soft-RoCE as a target, claim by claim, and what happens when it dies."""

from __future__ import annotations

from collections.abc import Iterator

import far_end
import pytest
from far_end import answer, frame, silence, spec_for

from roceproof.conformance.headers import Reth
from roceproof.conformance.targets.interface import CasePlace, Target
from roceproof.conformance.targets.rxe import RxeSource

pytestmark = [pytest.mark.rxe, pytest.mark.xdist_group("rxe")]

PLACE = CasePlace(name="test", seed=1)
WRITE_ONLY, ACKNOWLEDGE = 0x0A, 0x11


@pytest.fixture(scope="module")
def source() -> Iterator[RxeSource]:
    started = RxeSource()
    yield started
    started.close()


@pytest.fixture
def target(source: RxeSource) -> Iterator[Target]:
    with source.device(PLACE) as device:
        yield device


def test_a_write_lands_and_is_acknowledged(target: Target) -> None:
    qp = target.open(spec_for(target))
    region = target.register(4096)
    for psn, data in enumerate((b"abcde", b"fgh")):
        reth = Reth(region.addr + 8 * psn, region.rkey, len(data))
        target.send(frame(target, qp, WRITE_ONLY, psn, reth, data=data))
        got = answer(target)
        assert got.bth.opcode == ACKNOWLEDGE
        assert got.bth.dest_qpn == far_end.REMOTE_QPN
        assert got.bth.psn == (far_end.PSN + psn) & 0xFFFFFF
        assert got.aeth
        assert got.aeth.msn == psn + 1
    assert region.read(0, 12) == b"abcde\0\0\0fgh\0"


def test_a_frame_with_a_wrong_icrc_is_dropped_and_the_next_is_taken(target: Target) -> None:
    qp = target.open(spec_for(target))
    region = target.register(64)
    good = frame(target, qp, WRITE_ONLY, 0, Reth(region.addr, region.rkey, 4), data=b"good")
    bad = good[:-1] + bytes([good[-1] ^ 1])
    target.send(bad)
    silence(target)
    assert region.read(0, 4) == bytes(4)
    target.send(good)
    assert answer(target).bth.opcode == ACKNOWLEDGE
    assert region.read(0, 4) == b"good"
