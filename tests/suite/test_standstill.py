# SPDX-License-Identifier: BSD-2-Clause
"""A device that stands still after so much is told by that, and only where it is what all share."""

from __future__ import annotations

from typing import Any

import pytest
from test_one_cause import also, told
from test_root_findings import NO_COMPLETION, NO_PACKET, Session

_RESTS = {"qpc": 1, "wr": 3, "pl": 9, "rx": 16, "left": 4, "tx": 20, "cpl": 2}


def standing(
    waits: str = "", *, moved: int = 900, **beats: int
) -> dict[str, tuple[int, bool, bool, int]]:
    """How the streams stand, some of which wait for the device."""
    told = _RESTS | beats
    return {name: (told[name], name in waits.split(), False, moved) for name in told}


def session_of(
    stuck: dict[str, Any], *, passing: int = 4, count: int = 12, stop: str = NO_PACKET
) -> Session:
    """Cases that wait in vain at the same place, and others that get less far."""
    session = Session()
    for number in range(count):
        session.add(({"nth": number % 3, "mtu": 256 << number % 5}, stop), broken=("LIVE-01",))
        varied = {
            "wr": 4 + number % 5,
            "rx": 16 + number,
            "left": 4 + number,
            "tx": 20 + 9 * number,
            "cpl": number % 4,
        }
        also(session, standing=standing(**varied | stuck), lost="ARP")
    for number in range(passing):
        session.add(({}, ""))
        also(session, standing=standing(wr=1, rx=8, left=2 + number % 2, cpl=1, moved=300), lost="")
    return session


@pytest.mark.parametrize(
    ("stuck", "stop", "says"),
    [
        ({"left": 7}, NO_PACKET, "after 7 frames no other leaves: tx_tvalid_o is low"),
        (
            {"wr": 5, "waits": "wr"},
            NO_PACKET,
            "after 5 work requests no other is taken: wr_ready_o is low",
        ),
        (
            {"cpl": 5, "wr": 6},
            NO_COMPLETION,
            "after 5 completions no other comes: cpl_valid_o is low",
        ),
        ({"qpc": 2, "waits": "rx wr"}, NO_PACKET, "after 2 configurations the device stands still"),
        ({"moved": 6000, "waits": "rx"}, NO_PACKET, "after cycle 6,000 the device stands still"),
    ],
)
def test_it_is_told_after_how_many_of_what(stuck: dict[str, Any], stop: str, says: str) -> None:
    session = session_of(stuck, stop=stop)
    (finding,) = told(session)
    assert finding["sentence"] == f"stop: {says}"
    assert finding["count"] == 12


def test_a_frame_that_never_ends_is_told_as_that() -> None:
    session = session_of({"left": 3})
    for seen in session.seen.values():
        count, waits, _, moved = seen["standing"]["tx"]
        seen["standing"]["tx"] = (count, waits, True, moved)
    sentence = told(session)[0]["sentence"]
    assert "after 3 frames the next does not end: tx_tvalid_o goes low before tx_tlast" in sentence


def test_frames_without_end_are_one_finding_wherever_they_end_a_case() -> None:
    session = Session()
    for number, count in enumerate(("142", "2,033", "206")):
        came = f"{count} ARP, ICMP and pause frames came of the device"
        endless = f"{came} in 1,409 cycles, and the case"
        session.add(({}, ""), head=f"{'no end: ' * (number < 2)}{endless}")
    assert [each["count"] for each in told(session)] == [3]


def test_a_case_that_gets_further_contradicts_it() -> None:
    session = session_of({"left": 7})
    session.add(({}, ""))
    also(session, standing=standing(left=9), lost="")
    assert "after" not in told(session)[0]["sentence"]


@pytest.mark.parametrize(
    ("stuck", "says"),
    [
        ({"left": 7}, "after 7 frames no other leaves"),
        ({"moved": 6000, "waits": "rx"}, "after cycle 6,000 the device stands still"),
    ],
)
def test_cases_that_reset_their_device_count_more_and_go_with_the_others(
    stuck: dict[str, Any], says: str
) -> None:
    session = session_of(stuck, count=60, passing=20)
    for name in ("case 03", "case 30"):
        stands = session.seen[name]["standing"]
        beats, waits, amid, moved = stands["left"]
        stands["left"] = (beats + 4, waits, amid, 3 * moved)
    (finding,) = told(session)
    assert finding["sentence"].startswith(f"stop: {says}")
    assert finding["count"] == 60


def test_those_that_fail_later_and_alive_contradict_the_cycle_of_few_that_are_dead() -> None:
    session = session_of({"moved": 6000, "waits": "rx"})
    for number in range(12):
        session.add(({"nth": number % 3}, NO_PACKET), broken=("LIVE-01",))
        more = standing(wr=4 + number, cpl=4 + number, moved=9000)
        also(session, standing=more, lost="ARP")
    assert all("cycle" not in each["sentence"] for each in told(session))


def test_many_that_pass_with_as_much_contradict_it() -> None:
    session = session_of({"left": 7})
    for _ in range(4):
        session.add(({}, ""))
        also(session, standing=standing(left=7), lost="")
    assert "after" not in told(session)[0]["sentence"]


def test_few_cases_are_no_evidence() -> None:
    assert "after" not in told(session_of({"left": 7}, count=7))[0]["sentence"]


def test_cases_that_want_the_same_show_what_they_want_and_no_count() -> None:
    assert "after" not in told(session_of({"left": 7, "wr": 4, "rx": 16}))[0]["sentence"]


def test_what_dead_devices_outside_of_them_contradict_is_not_the_count_after_which_it_dies() -> (
    None
):
    session = session_of({"qpc": 16, "waits": "rx"})
    for number in range(4):
        session.add(({"nth": number}, NO_PACKET), broken=("LIVE-01",))
        also(session, standing=standing("rx", wr=number), lost="ARP")
    assert all("16 configurations" not in each["sentence"] for each in told(session))


@pytest.mark.parametrize(("feature", "stands"), [({}, True), ({"rest": 1}, False)])
def test_devices_that_die_of_something_rare_are_one_finding_but_not_of_what_they_send(
    feature: dict[str, Any], stands: bool
) -> None:
    session = Session()
    for number in range(4):
        session.add((feature, NO_PACKET), broken=("LIVE-01",))
        also(session, standing=standing("rx", rx=9 + 30 * number, moved=100), lost="ARP")
        session.add(({}, ""))
        also(session, standing=standing(rx=400, left=40, cpl=3, wr=30), lost="")
    (finding,) = told(session)
    assert ("the device stands still: rx_tready_o is low" in finding["sentence"]) == stands


def test_a_device_that_heeds_no_frame_from_one_of_them_on_is_told_by_its_number() -> None:
    session = Session()
    for number in range(12):
        session.add(({"nth": number % 3}, NO_COMPLETION), broken=("LIVE-01",))
        streams = standing(rx=60 + number, left=4 + number, tx=20 + 9 * number, cpl=number % 3)
        also(session, standing=streams | {"heard": (6 + number, False, False, 0)})
        also(session, lost="ARP")
    session.add(({}, ""))
    also(session, standing=standing(rx=40) | {"heard": (6, False, False, 0)}, lost="")
    (finding,) = told(session)
    assert finding["sentence"].startswith("stop: after 6 frames that it hears frames are taken and")
    also(session, standing=standing(rx=90) | {"heard": (9, False, False, 0)})
    assert "that it hears" not in told(session)[0]["sentence"]
