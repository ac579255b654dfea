# SPDX-License-Identifier: BSD-2-Clause
"""What a port holds back for a pause, and for how long."""

from __future__ import annotations

from roceproof.conformance.model.pause import Pauses
from roceproof.conformance.wire.mac_control import LONGEST, global_pause, priority_pause

MAC = bytes.fromhex("020000000b02")


def held(pauses: Pauses, now_ns: int) -> list[int]:
    return [priority for priority in range(8) if pauses.holds(priority, now_ns)]


def test_a_priority_pause_holds_the_classes_it_names_for_its_time() -> None:
    pauses = Pauses()
    assert pauses.take(priority_pause({3: 10, 5: 20}, src_mac=MAC), 1000)
    assert held(pauses, 1000) == [3, 5]
    assert pauses.next_end(1000) == 1512
    assert held(pauses, 1512) == [5]
    assert pauses.next_end(1512) == 2024
    assert held(pauses, 2024) == []
    assert pauses.next_end(2024) is None


def test_a_pause_of_no_time_lifts_one() -> None:
    pauses = Pauses()
    pauses.take(priority_pause({3: LONGEST}, src_mac=MAC), 0)
    pauses.take(priority_pause({3: 0}, src_mac=MAC), 5)
    assert held(pauses, 5) == []


def test_a_global_pause_is_mac_control_but_holds_no_class() -> None:
    pauses = Pauses()
    assert pauses.take(global_pause(LONGEST, src_mac=MAC), 0)
    assert held(pauses, 1) == []


def test_a_pause_cut_short_holds_nothing() -> None:
    pauses = Pauses()
    assert pauses.take(priority_pause({0: LONGEST}, src_mac=MAC)[:30], 0)
    assert held(pauses, 1) == []


def test_a_pause_to_another_group_or_station_holds_nothing() -> None:
    pauses, frame = Pauses(), priority_pause({0: LONGEST}, src_mac=MAC)
    for destination in (frame[:5] + b"\0", MAC):
        assert pauses.take(destination + frame[6:], 0)
        assert held(pauses, 1) == []


def test_other_frames_are_no_mac_control() -> None:
    assert not Pauses().take(bytes(60), 0)
