# SPDX-License-Identifier: BSD-2-Clause
"""The MAC of rtl/mac, from its client to XGMII and back: frames, gaps, damage and pauses."""

from __future__ import annotations

import random
import shutil
import zlib
from collections.abc import Sequence
from itertools import pairwise, product
from pathlib import Path

import pytest
from mac_bench import (
    ERROR,
    IDLE,
    LANES,
    ORDERED,
    OWN_MAC,
    PREAMBLE,
    START,
    TERMINATE,
    Heard,
    Line,
    Log,
    Sent,
    build,
    play,
    with_fcs,
)

from roceproof.conformance.wire.mac_control import LONGEST, global_pause, priority_pause

pytestmark = [
    pytest.mark.sim,
    pytest.mark.skipif(
        shutil.which("verilator") is None, reason="verilator is not installed: run `make setup`"
    ),
]

PEER_MAC = bytes.fromhex("020000000002")
SHORTEST, GAP, MOST_DEFICIT = 60, 12, 3
HELD_FROM, FREE_FROM = 9, 9
"""Cycles behind the end of a pause of 64 bytes in which no frame starts any more; behind a pause
of no time, in which one may."""
RX_BEATS, PAUSE_BEATS, ASKED_CLASSES, ASKED_QUANTA = 1024, 64, (1, 3), 256  # of mac_tb
QUANTUM = 8
POLYNOMIAL = 0xEDB88320
TO_LINK = bytes.fromhex("0180c2000001")


@pytest.fixture(scope="module")
def binary() -> Path:
    return build()


def frames_of(lengths: Sequence[int], *, seed: int = 1) -> list[bytes]:
    """Frames of no MAC control; those that are long enough say that they are IPv4."""
    rng = random.Random(seed)
    frames = [rng.randbytes(length) for length in lengths]
    return [frame[:12] + b"\x08\x00"[: len(frame) - 12] + frame[14:] for frame in frames]


def padded(frame: bytes) -> bytes:
    return frame.ljust(SHORTEST, b"\0")


# what is received


def test_frames_of_every_length_come_from_both_lanes_at_the_shortest_gaps(
    binary: Path, tmp_path: Path
) -> None:
    lengths = [*range(60, 140), 1514, *range(1000, 1008), 8180]
    frames = [frame for frame in frames_of(lengths) for _ in range(2)]
    line = Line()
    for number, frame in enumerate(frames):
        line.frame(frame, lane=4 * (number % 2), gap=5 if number % 3 else 40)
    log = play(binary, tmp_path, heard=line, cycles=line.cycle + 3000)
    assert log.received == frames


def test_a_client_that_pauses_gets_every_frame(binary: Path, tmp_path: Path) -> None:
    frames = frames_of([60, 61, 300, 64, 1514, 67] * 4)
    line = Line()
    rng = random.Random(2)
    for frame in frames:
        line.frame(frame, lane=rng.choice((0, 4)), gap=400)
    line.deaf = {cycle for cycle in range(line.cycle) if rng.random() < 0.4}
    assert play(binary, tmp_path, heard=line, cycles=line.cycle + 1000).received == frames


def wrong_for(residue: int, zeros: int) -> int:
    """What is wrong in an FCS if, so many zeros behind it, these bits of the CRC are."""
    for _ in range(8 * (4 + zeros)):
        residue = (residue ^ POLYNOMIAL) << 1 | 1 if residue >> 31 else residue << 1
    return residue


def damaged(frame: bytes) -> list[list[int]]:
    """What must be dropped: the frame with a fault in every place where one can be."""
    whole = [*PREAMBLE, *with_fcs(frame), TERMINATE]
    first = len(PREAMBLE)
    found = []
    for at in range(first, len(whole) - 1):
        found.append([*whole[:at], whole[at] ^ 1 << at % 8, *whole[at + 1 :]])
        found.append([*whole[:at], ERROR, *whole[at + 1 :]])
    for at in range(len(frame)):  # with the FCS of what the character's bits say
        fitting = with_fcs(frame[:at] + bytes([ERROR & 0xFF]) + frame[at + 1 :])
        body = [*fitting[:at], ERROR, *fitting[at + 1 :]]
        found.append([*PREAMBLE, *body, TERMINATE])
    for bit, zeros in product((7, 31), range(LANES)):
        fcs = zlib.crc32(frame) ^ wrong_for(1 << bit, zeros)
        found.append([*PREAMBLE, *frame, *fcs.to_bytes(4, "little"), TERMINATE])
    for at in range(first + 58, len(whole)):
        for ended in (IDLE, ORDERED, START):
            found.append([*whole[:at], ended, *whole[at + 1 :]])
    found.append(whole[:-1])
    found.append([*whole[: first - 1], *whole[first:]])
    found.append([*whole[:3], IDLE, *whole[4:]])
    found.append([*whole[: first - 1], ERROR, *whole[first:]])
    found += [[*PREAMBLE, *with_fcs(frame[:size]), TERMINATE] for size in range(SHORTEST)]
    found += [[*PREAMBLE, *frame[:size], TERMINATE] for size in range(5)]
    return found


def test_damaged_frames_are_dropped_whole_and_their_neighbours_are_not(
    binary: Path, tmp_path: Path
) -> None:
    first, second = frames_of([71, 66])
    line, expected = Line(), []
    for number, body in enumerate(damaged(first)):
        good = second[:-2] + number.to_bytes(2, "big")
        for lane in (0, 4):
            line.say(body, lane=lane)
            line.frame(good, lane=4 * (number % 2))
            expected.append(good)
    log = play(binary, tmp_path, heard=line, cycles=line.cycle + 200)
    assert log.received == expected


def test_a_frame_that_begins_over_another_is_heard(binary: Path, tmp_path: Path) -> None:
    cut, whole = frames_of([200, 80])
    line, expected = Line(), []
    for size in range(8, 40):
        good = whole[:-1] + bytes([size])
        line.say([*PREAMBLE, *cut[:size]], lane=size % 2 * 4)
        line.frame(good, lane=size % 4 // 2 * 4, gap=0)
        expected.append(good)
    assert play(binary, tmp_path, heard=line, cycles=line.cycle + 200).received == expected


def test_ordered_sets_between_frames_are_nothing(binary: Path, tmp_path: Path) -> None:
    frames = frames_of([60, 61, 62, 63] * 4)
    line = Line()
    for number, frame in enumerate(frames):
        for lane in (0, 4, 4, 0)[: number // 4 + 1]:
            line.say([ORDERED, 0, 0, number % 2 + 1], lane=lane)
        line.frame(frame, lane=number % 2 * 4, gap=number % 3 * 4)
    assert play(binary, tmp_path, heard=line, cycles=line.cycle + 200).received == frames


def test_frames_without_room_are_lost_whole_and_those_behind_come(
    binary: Path, tmp_path: Path
) -> None:
    frames = frames_of([300] * 50)
    line = Line()
    for frame in frames[:40]:
        line.frame(frame)
    line.listen(until=line.cycle + 50)
    line.deaf = {*range(line.cycle)}
    line.listen(until=line.cycle + 1100)
    for frame in frames[40:]:
        line.frame(frame)
    received = play(binary, tmp_path, heard=line, cycles=line.cycle + 400).received
    kept = len(received) - 10
    assert RX_BEATS // 38 - 1 <= kept <= RX_BEATS // 38 + 1
    assert received == frames[:kept] + frames[40:]


# what is sent


def gaps(heard: Sequence[Heard]) -> list[int]:
    return [after.start - before.end for before, after in pairwise(heard)]


def worst_deficit(heard: Sequence[Heard]) -> int:
    deficit = worst = 0
    for gap in gaps(heard):
        deficit = max(0, deficit + GAP - gap)
        worst = max(worst, deficit)
    return worst


def of_client(log: Log) -> list[Heard]:
    """The frames on its line but those of MAC control."""
    return [each for each in log.frames() if each.data[12:14] != b"\x88\x08"]


@pytest.mark.parametrize("gap", [0, 30])
def test_frames_leave_whole_padded_and_with_their_fcs(
    gap: int, binary: Path, tmp_path: Path
) -> None:
    lengths = [*range(1, 150), 1514, 9216, *random.Random(3).choices(range(14, 300), k=200)]
    frames = frames_of(lengths)
    sent = [Sent(frame, mark=number % 3 != 1) for number, frame in enumerate(frames)]
    log = play(binary, tmp_path, sent=sent, cycles=16_000, plusargs=[f"gap={gap}"])
    heard = list(log.frames())
    assert [each.data for each in heard] == [with_fcs(padded(frame)) for frame in frames]
    assert log.left == [
        each.end // LANES for each, told in zip(heard, sent, strict=True) if told.mark
    ]
    assert worst_deficit(heard) <= MOST_DEFICIT
    assert gap or {each.start % LANES for each in heard} == {0, 4}


def test_gaps_are_twelve_bytes_on_average_whatever_the_lengths(
    binary: Path, tmp_path: Path
) -> None:
    rows = [[size] * 60 for size in range(60, 69)] + [random.Random(4).choices(range(60, 90), k=99)]
    for lengths in rows:
        sent = [Sent(frame) for frame in frames_of(lengths)]
        found = gaps(list(play(binary, tmp_path, sent=sent, cycles=1600).frames()))
        assert len(found) == len(lengths) - 1
        assert min(found) >= GAP - MOST_DEFICIT
        assert abs(sum(found) - GAP * len(found)) <= MOST_DEFICIT, lengths[0]


# pauses that are heard


def starts_behind(log: Log, cycle: int) -> list[int]:
    """The cycles in which frames of the client start from this one on."""
    return [at for each in of_client(log) if (at := each.start // LANES) >= cycle]


def paused(
    binary: Path, tmp_path: Path, *pauses: tuple[int, bytes], priority: int = 0
) -> tuple[Log, list[int]]:
    """Frames without end on that class, pauses in those cycles, and when each pause has ended."""
    line = Line()
    for cycle, pause in pauses:
        line.listen(until=cycle)
        line.frame(pause)
    sent = [Sent(frame, priority) for frame in frames_of([60] * 300)]
    log = play(binary, tmp_path, heard=line, sent=sent, cycles=4500)
    assert not log.received
    assert [each.data for each in of_client(log)] == [with_fcs(each.data) for each in sent]
    return log, line.ends


def of_class(priority: int, quanta: int) -> bytes:
    """A priority pause of one class; the times of others, which it does not name, are long."""
    pause = bytearray(priority_pause({priority: quanta}, src_mac=PEER_MAC))
    for other in range(8):
        if other != priority:
            pause[18 + 2 * other : 20 + 2 * other] = b"\1\0"
    return bytes(pause)


@pytest.mark.parametrize("quanta", [3, 4, 45])
def test_a_pause_holds_the_next_frame_for_just_its_quanta(
    quanta: int, binary: Path, tmp_path: Path
) -> None:
    pauses = [global_pause(quanta, src_mac=PEER_MAC), of_class(0, quanta)]
    pauses.append(OWN_MAC + pauses[0][6:])
    begin = [400 + 1000 * n for n in range(len(pauses))]
    log, ends = paused(binary, tmp_path, *zip(begin, pauses, strict=True))
    for end in ends:
        assert starts_behind(log, end + HELD_FROM)[0] == end + FREE_FROM + quanta * QUANTUM


@pytest.mark.parametrize("is_global", [True, False])
def test_a_later_pause_counts_anew_and_one_of_no_time_lifts_it(
    is_global: bool, binary: Path, tmp_path: Path
) -> None:
    long, short, none = (
        global_pause(quanta, src_mac=PEER_MAC) if is_global else of_class(0, quanta)
        for quanta in (LONGEST, 30, 0)
    )
    log, ends = paused(binary, tmp_path, (300, long), (600, short), (1200, long), (1500, none))
    assert starts_behind(log, ends[0] + HELD_FROM)[0] == ends[1] + FREE_FROM + 30 * QUANTUM
    assert starts_behind(log, ends[2] + HELD_FROM)[0] == ends[3] + FREE_FROM


@pytest.mark.parametrize("priority", range(8))
def test_a_priority_pause_holds_its_class_alone(
    priority: int, binary: Path, tmp_path: Path
) -> None:
    pauses = [of_class(each, 40) for each in range(8)]
    log, ends = paused(
        binary, tmp_path, *((300 + 100 * n, pause) for n, pause in enumerate(pauses)),
        priority=priority,
    )  # fmt: skip
    starts = starts_behind(log, 0)
    longest = max(after - before for before, after in pairwise(starts))
    assert longest > 40 * QUANTUM - 12
    assert starts_behind(log, ends[priority] + HELD_FROM)[0] == (
        ends[priority] + FREE_FROM + 40 * QUANTUM
    )


def test_what_is_no_pause_of_this_link_holds_nothing(binary: Path, tmp_path: Path) -> None:
    pause = global_pause(200, src_mac=PEER_MAC)
    others = {
        "to another station": PEER_MAC + pause[6:],
        "of another opcode": pause[:14] + b"\0\2" + pause[16:],
        "of no class": priority_pause({}, src_mac=PEER_MAC),
    }
    log, _ = paused(
        binary, tmp_path, *((300 * n, each) for n, each in enumerate(others.values(), 1))
    )
    assert set(gaps(of_client(log))) <= set(range(9, 16))


def test_a_damaged_pause_holds_nothing_and_no_frame_is_taken_for_one(
    binary: Path, tmp_path: Path
) -> None:
    pause = global_pause(200, src_mac=PEER_MAC)
    line = Line()
    for number, body in enumerate(damaged(pause)[::7]):
        line.say(body, lane=number % 2 * 4, gap=300)
    frames = [pause[:12] + of_type + pause[14:] for of_type in (b"\x08\x00", b"\x89\x08")]
    for frame in frames:
        line.frame(frame)
    sent = [Sent(each) for each in frames_of([60] * 400)]
    log = play(binary, tmp_path, heard=line, sent=sent, cycles=max(line.cycle, 4500))
    assert log.received == frames
    assert len(of_client(log)) == len(sent)
    assert set(gaps(of_client(log))) <= set(range(9, 16))


# pauses that are asked for


def asked(log: Log) -> list[tuple[int, bytes]]:
    """The MAC's own pauses, and when they end."""
    control = [each for each in log.frames() if each.data[12:14] == b"\x88\x08"]
    return [(each.end // LANES, each.data) for each in control]


@pytest.mark.parametrize("held", [False, True])
def test_a_pause_is_asked_for_while_the_client_is_behind_again_in_time_and_lifted(
    held: bool, binary: Path, tmp_path: Path
) -> None:
    """Between the client's own frames, and also while these are held."""
    frames = frames_of([100] * 8)
    line = Line()
    if held:
        line.frame(global_pause(LONGEST, src_mac=PEER_MAC))
    begin = line.cycle
    for frame in frames:
        line.frame(frame)
    line.listen(until=3300)
    line.deaf = {*range(begin, 3000)}
    sent = [Sent(frame) for frame in frames_of([200] * 200)]
    log = play(binary, tmp_path, heard=line, sent=sent, cycles=9000)
    pauses = asked(log)
    wanted = [dict.fromkeys(ASKED_CLASSES, quanta) for quanta in (*[ASKED_QUANTA] * 3, 0)]
    assert [pause for _, pause in pauses] == [
        with_fcs(priority_pause(each, src_mac=OWN_MAC)) for each in wanted
    ]
    times = [at for at, _ in pauses]
    full = line.ends[held + PAUSE_BEATS // 13]
    assert full < times[0] < full + 60
    half = ASKED_QUANTA * QUANTUM // 2
    assert all(abs(after - before - half) < 60 for before, after in pairwise(times[:3]))
    assert 3000 < times[-1] < 3100 + 60
    assert log.received == frames
    assert len(of_client(log)) == (0 if held else len(sent))


def test_a_client_that_keeps_up_asks_for_no_pause(binary: Path, tmp_path: Path) -> None:
    line = Line()
    for frame in frames_of([100] * 40):
        line.frame(frame)
    assert not asked(play(binary, tmp_path, heard=line, cycles=line.cycle + 300))


@pytest.mark.parametrize("priority", [0, ASKED_CLASSES[0]])
def test_between_two_macs_nothing_is_lost_of_a_class_that_is_paused(
    priority: int, binary: Path, tmp_path: Path
) -> None:
    """The MAC hears itself, and its client takes nothing at first."""
    line = Line()
    line.listen(until=2500)
    line.deaf = {*range(line.cycle)}
    frames = frames_of([100] * 150)
    sent = [Sent(frame, priority) for frame in frames]
    log = play(binary, tmp_path, heard=line, sent=sent, cycles=5200, plusargs=["loop"])
    assert (log.received == frames) == (priority in ASKED_CLASSES)
    assert len(of_client(log)) == len(sent)
