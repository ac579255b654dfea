# SPDX-License-Identifier: BSD-2-Clause
"""The Soft-RoCE guest may die in a case: that is told once, and the next case has another."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from verbs_peer import answer, frame, silence, spec_for

from roceproof.conformance.targets.interface import CasePlace, DeviceDied
from roceproof.conformance.targets.verbs.rxe import RxeFactory
from roceproof.conformance.targets.verbs.target import VerbsTarget
from roceproof.conformance.wire.headers import Reth
from roceproof.verbs.queue_pair import Qp
from roceproof.verbs.work import Region

pytestmark = pytest.mark.rxe

PLACE = CasePlace(name="death", seed=1)
NOTICE_SECONDS = 2.0
REPLACED_SECONDS = 5.0  # about 0.5 s, and more on a busy machine


@pytest.fixture
def source() -> Iterator[RxeFactory]:
    started = RxeFactory()
    yield started
    started.close()


def parent_of(pid: int) -> int:
    stat = Path(f"/proc/{pid}/stat").read_text()
    return int(stat.rpartition(")")[2].split()[1])


def own_guests() -> set[int]:
    """The QEMUs whose keepers are our children."""
    found = set()
    for place in Path("/proc").glob("[0-9]*"):
        pid = int(place.name)
        try:
            is_qemu = (place / "cmdline").read_bytes().startswith(b"/usr/bin/qemu-system-x86_64\0")
            if is_qemu and parent_of(parent_of(pid)) == os.getpid():
                found.add(pid)
        except OSError:
            continue
    return found


class Guest:
    """The guest of one case, ready to take a WRITE, and ready to be killed."""

    def __init__(self, source: RxeFactory, before: set[int], target: VerbsTarget) -> None:
        (self.pid,) = own_guests() - before
        self.target = target
        self.qp: Qp = target.open(spec_for(target))
        self.region: Region = target.register(64)

    def write(self, psn: int) -> bytes:
        reth = Reth(self.region.addr, self.region.rkey, 4)
        return frame(self.target, self.qp, 0x0A, psn, reth, data=b"data")


def begun(source: RxeFactory, before: set[int], target: object) -> Guest:
    assert isinstance(target, VerbsTarget)
    return Guest(source, before, target)


def works(source: RxeFactory) -> None:
    with source.device(PLACE) as target:
        assert isinstance(target, VerbsTarget)
        qp = target.open(spec_for(target))
        target.send(frame(target, qp, 0x04, 0, data=b"anyone?"))
        assert answer(target).aeth


def test_a_guest_killed_while_frames_are_awaited_is_a_death_with_its_last_frame(
    source: RxeFactory,
) -> None:
    before = own_guests()
    with source.device(PLACE) as target:
        guest = begun(source, before, target)
        last = guest.write(0)
        target.send(last)
        assert target.receive(target.patience.answer_ns)
        os.kill(guest.pid, signal.SIGKILL)
        start = time.monotonic()
        with pytest.raises(DeviceDied) as caught:
            target.receive(60_000_000_000)
        assert time.monotonic() - start < NOTICE_SECONDS
        assert f"the last frame sent to it: {last.hex()}" in str(caught.value)
    start = time.monotonic()
    works(source)
    assert time.monotonic() - start < REPLACED_SECONDS


@pytest.mark.slow
def test_a_guest_killed_while_the_agent_is_asked_is_a_death_with_its_last_words(
    source: RxeFactory,
) -> None:
    with (
        pytest.raises(
            DeviceDied, match=r"last frame sent to it: none\nlast console lines:\n.*ended"
        ),
        source.device(PLACE) as target,
    ):
        assert isinstance(target, VerbsTarget)
        target.device.call("quit")
        target.register(64)
    works(source)


@pytest.mark.slow
def test_a_death_that_the_case_did_not_see_is_told_at_its_end(source: RxeFactory) -> None:
    before = own_guests()
    with pytest.raises(DeviceDied), source.device(PLACE) as target:
        guest = begun(source, before, target)
        os.kill(guest.pid, signal.SIGKILL)
    works(source)


def test_a_guest_that_stands_still_is_a_death_after_a_deadline(source: RxeFactory) -> None:
    before = own_guests()
    with (
        pytest.raises(DeviceDied, match="did not answer 'reset' in time"),
        source.device(PLACE) as target,
    ):
        guest = begun(source, before, target)
        os.kill(guest.pid, signal.SIGSTOP)
        target.send(guest.write(0))
        silence(target)
    works(source)


def test_a_case_that_fails_on_a_living_guest_leaves_it_for_the_next(source: RxeFactory) -> None:
    works(source)
    guests = own_guests()
    with pytest.raises(ZeroDivisionError), source.device(PLACE):
        raise ZeroDivisionError
    works(source)
    assert own_guests() == guests


def test_closing_leaves_no_guest(source: RxeFactory) -> None:
    before = own_guests()
    works(source)
    source.close()
    assert own_guests() == before


def test_the_claims_have_reasons_for_what_is_absent_and_versions_name_the_kernel() -> None:
    claims = RxeFactory.claims
    assert not claims.capabilities & set(claims.absent)
    assert all(claims.absent.values())
    assert "QEMU" in RxeFactory().versions()["qemu"]
