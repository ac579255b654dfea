# SPDX-License-Identifier: BSD-2-Clause
"""What a device that retransmits may still send when an answer must have taken effect."""

from dataclasses import replace

import pytest

from roceproof.conformance.stimulus.requester.incarnation import Life
from roceproof.conformance.stimulus.requester.retry_checker import WatchedTrack
from roceproof.conformance.stimulus.requester.state import Response
from roceproof.verbs.addresses import Host
from roceproof.verbs.queue_pair import QpSpec
from roceproof.verbs.service import Service
from roceproof.verbs.work import Op, Outcome, Work

HOST, PEER = Host(bytes(5) + b"\1", b"\x0a\0\0\1"), Host(bytes(5) + b"\2", b"\x0a\0\0\2")
PACKETS, NO_RECEIVE, REFUSED = 4, 0x2A, 0x62
LAG = 5_000  # ns: for so long an answer may wait
FAILED = Outcome(wr_id=1, status="rem_access_err", syndrome=REFUSED, time_ns=30_000)


def repeating() -> tuple[WatchedTrack, list[bytes]]:
    """Four packets have left, and the first two again for a sequence NAK; and their frames."""
    life = Life(
        spec=QpSpec(service=Service.RC, remote=PEER, remote_qpn=9, path_mtu=256, ack_timeout=0),
        host=HOST,
    )
    track, work = WatchedTrack(life), Work(op=Op.WRITE, wr_id=1, data=bytes(256 * PACKETS))
    track.posted(work)
    start = life.spec.sq_psn
    frames = [life.frame(work, n, start, life.spec.ip_id + n) for n in range(PACKETS)]
    copies = [life.frame(work, n, start, life.spec.ip_id + PACKETS + n) for n in range(PACKETS)]
    for at, frame in enumerate(frames):
        assert leaves(track, frame, 1_000 * at)
    hears(track, 0x60, 10_000)
    for at, frame in enumerate(copies[:2]):
        assert leaves(track, frame, 20_000 + 1_000 * at)
    assert not track.violations
    return track, copies


def leaves(track: WatchedTrack, frame: bytes, begun_ns: int) -> bool:
    return track.takes(frame, begun_ns + 300, begun_ns=begun_ns) is not None


def hears(track: WatchedTrack, syndrome: int, now_ns: int) -> None:
    start = track.life.spec.sq_psn
    track.answered(Response(start, syndrome, now_ns, now_ns + LAG))


@pytest.mark.parametrize(("late_ns", "is_held"), [(LAG - 1_000, False), (LAG + 1_000, True)])
def test_copies_leave_in_an_rnr_wait_for_as_long_as_an_answer_may_wait(
    late_ns: int, is_held: bool
) -> None:
    track, copies = repeating()
    hears(track, NO_RECEIVE, 22_000)
    assert leaves(track, copies[2], 22_000 + late_ns)
    assert bool(track.violations) is is_held


@pytest.mark.parametrize(("begun_ns", "is_held"), [(29_900, False), (30_100, True)])
def test_one_frame_that_had_begun_leaves_behind_a_failure(begun_ns: int, is_held: bool) -> None:
    track, copies = repeating()
    hears(track, REFUSED, 22_000)
    assert FAILED.time_ns is not None
    assert track.completes(FAILED, FAILED.time_ns)
    assert leaves(track, copies[2], begun_ns)
    assert bool(track.violations) is is_held


def test_nobody_knows_what_had_begun_where_completions_have_no_time() -> None:
    track, copies = repeating()
    hears(track, REFUSED, 22_000)
    assert track.completes(replace(FAILED, time_ns=None), 30_000)
    assert leaves(track, copies[2], 40_000)
    assert not track.violations
