# SPDX-License-Identifier: BSD-2-Clause
"""Whatever one fault breaks, check tells it in one line, or on a screen, with what came of it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import corrupted_datagrams
import corrupted_headers
import corrupted_links
import corrupted_requests
import corrupted_responses
import healthy_capture
import pytest
from healthy_capture import PATH_MTU, SEND, Sender, frames_of
from pcap_writer import write_pcap
from scenarios import SCENARIOS

from roceproof.conformance.check.group_text import Told, told
from roceproof.conformance.check.run import check_file
from roceproof.conformance.faults.catalogue import FAULTS, plant
from roceproof.conformance.faults.conversation.traffic import Conversation

SCREEN = 24
FILLED = (
    corrupted_datagrams,
    corrupted_headers,
    corrupted_links,
    corrupted_requests,
    corrupted_responses,
)


def lines(frames: Iterable[bytes], path: Path) -> list[Told]:
    write_pcap(path, ((number * 1000, frame) for number, frame in enumerate(frames)))
    return told(check_file(path)["groups"])


def shown(heads: list[Told]) -> int:
    return sum(1 + shown(head.beneath) for head in heads)


def test_a_path_mtu_that_changes_in_a_capture_is_one_cause(tmp_path, monkeypatch) -> None:
    sender = Sender()
    packets = sender.message(SEND, 3 * PATH_MTU)
    monkeypatch.setattr(healthy_capture, "PATH_MTU", 4 * PATH_MTU)
    for _ in range(20):
        packets += sender.message(SEND, 16 * PATH_MTU)
    (line,) = lines(frames_of(packets), tmp_path / "x.pcap")
    assert f"of {PATH_MTU} bytes, got {4 * PATH_MTU} bytes in all 20" in line.text
    assert (line.rule, line.count) == ("MTU-01", 20)
    assert [(each.rule, each.count) for each in line.beneath] == [("MTU-02", 40), ("MTU-03", 20)]


def test_many_flows_that_break_a_rule_each_in_its_own_way_share_a_line(tmp_path) -> None:
    packets = []
    for qpn in range(40):
        sender = Sender(qpn=qpn + 2, psn=100 * qpn)
        packets += sender.message(SEND, 4)
        sender.psn += 2
        packets += sender.message(SEND, 4)
    (line,) = lines(frames_of(packets), tmp_path / "x.pcap")
    assert line.text.startswith(
        "PSN-02 40 times in 40 flows (0, 1, 2, ...), frames 2, 4, 6, ... 80"
    )


@pytest.mark.parametrize("place", range(4))
def test_every_corrupted_capture_is_one_line(place: int, tmp_path) -> None:
    assert FILLED
    for each in SCENARIOS[place::4]:
        found = lines(each.frames(), tmp_path / "x.pcap")
        assert len(found) <= 1, f"{each.name}: {[line.text for line in found]}"


@pytest.mark.sampled(every=13)
@pytest.mark.parametrize("fault", FAULTS.values(), ids=lambda row: row.id)
def test_every_planted_fault_fits_on_a_screen(fault, tmp_path) -> None:
    capture = next(iter(plant((fault.id,), Conversation(seed=7), variant=0)))
    found = lines((timed.frame for timed in capture.frames), tmp_path / "x.pcap")
    assert shown(found) <= SCREEN, [line.text for line in found]
