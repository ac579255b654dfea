# SPDX-License-Identifier: BSD-2-Clause
"""What the Wireshark plugin counts per flow, and which gaps it reports."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from roceproof.conformance.wire.scapy import AETH, BTH, DETH

from .wireshark_traffic import ack, capture, corrupted, fields, frame, read, send

pytestmark = pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed")

TWO_PASSES = ("-2",)


def psns(home: Path, frames: list[bytes]) -> list[list[str]]:
    path = capture(home / "flow.pcapng", frames)
    return fields(path, "psn.relative", "message", home=home)


def findings(home: Path, frames: list[bytes]) -> list[str]:
    path = capture(home / "flow.pcapng", frames)
    return [row[0] for row in fields(path, "finding", home=home, options=TWO_PASSES)]


def uc(psn: int, opcode: str = "UC SEND ONLY") -> bytes:
    return send(psn, opcode)


def test_psns_and_messages_are_counted_per_flow_and_across_the_wrap(tmp_path: Path) -> None:
    start = 0xFFFFFE
    frames = [
        send(start, "RC SEND FIRST", bytes(256)),
        send(start + 1, "RC SEND MIDDLE", bytes(256)),
        send(start + 2, "RC SEND LAST"),
        send(start + 3),
        frame(BTH(opcode="RC SEND ONLY", dqpn=0x99, psn=5)),
        ack(0),
        ack(1),
        send(start + 3),
        read(2, 600),
        send(5),
    ]
    assert psns(tmp_path, frames) == [
        ["0", "1"],
        ["1", "1"],
        ["2", "1"],
        ["3", "2"],
        ["0", "1"],
        ["2", "1"],
        ["3", "2"],
        ["3", "2"],
        ["4", "3"],
        ["7", "4"],
    ]
    assert findings(tmp_path, frames) == [""] * len(frames)


def test_a_read_of_unknown_path_mtu_lets_the_next_psn_be_anything(tmp_path: Path) -> None:
    assert findings(tmp_path, [read(0, 5000), send(2)]) == ["", ""]
    assert findings(tmp_path, [read(0, 256), send(2)]) == ["", "PSN-02"]


def test_a_read_response_teaches_the_path_mtu(tmp_path: Path) -> None:
    first = BTH(opcode="RC READ RESP FIRST", dqpn=0x22, psn=0) / AETH() / bytes(1024)
    last = BTH(opcode="RC READ RESP LAST", dqpn=0x22, psn=1) / AETH() / bytes(1024)
    answers = [frame(answer, reverse=True) for answer in (first, last)]
    frames = [read(0, 2048), *answers, send(2), read(3, 2048), send(6)]
    assert findings(tmp_path, frames) == ["", "", "", "", "", "PSN-02"]
    assert psns(tmp_path, frames)[:3] == [["0", "1"], ["0", "1"], ["1", "1"]]
    assert findings(tmp_path, [read(0, 2048), answers[0], send(3)]) == ["", "", "PSN-02"]


def test_a_gap_on_rc_is_reported_where_it_opens_unless_it_is_filled(tmp_path: Path) -> None:
    assert findings(tmp_path, [send(0), send(3), send(4)]) == ["", "PSN-02", ""]
    assert findings(tmp_path, [send(0), send(3), send(1)]) == ["", "PSN-02", ""]
    assert findings(tmp_path, [send(0), send(3), send(1), send(2), send(3)]) == [""] * 5


def test_an_acknowledged_gap_is_the_captures_and_a_nak_proves_nothing(tmp_path: Path) -> None:
    assert findings(tmp_path, [send(0), send(3), ack(3)]) == ["", "", ""]
    assert findings(tmp_path, [send(0), send(3), ack(1)]) == ["", "PSN-02", ""]
    assert findings(tmp_path, [send(0), send(3), ack(3, 0x60)]) == ["", "PSN-02", ""]


def test_one_pass_shows_a_gap_as_it_stands_at_that_frame(tmp_path: Path) -> None:
    path = capture(tmp_path / "gap.pcapng", [send(0), send(2), send(1)])
    assert [row[0] for row in fields(path, "finding", home=tmp_path)] == ["", "PSN-02", ""]
    assert findings(tmp_path, [send(0), send(2), send(1)]) == ["", "", ""]


def test_uc_neither_skips_nor_repeats(tmp_path: Path) -> None:
    assert findings(tmp_path, [uc(7), uc(8), uc(10), uc(10), uc(11)]) == [
        "",
        "",
        "PSN-18",
        "PSN-18",
        "",
    ]


def test_a_distant_start_is_a_new_connection(tmp_path: Path) -> None:
    frames = [send(0), send(1), send(0x500000), send(0x500001)]
    assert findings(tmp_path, frames) == [""] * 4
    assert psns(tmp_path, frames)[2:] == [["0", "1"], ["1", "2"]]


def test_a_corrupt_packet_in_a_healthy_flow_counts_as_lost(tmp_path: Path) -> None:
    rows = findings(tmp_path, [send(0), corrupted(send(1)), send(2), corrupted(send(3)), send(5)])
    assert rows == ["", "ICRC-02", "", "ICRC-02", "PSN-02"]


def test_datagrams_count_per_sending_queue_pair_and_have_no_gaps(tmp_path: Path) -> None:
    def datagram(psn: int, source: int) -> bytes:
        return frame(BTH(opcode="UD SEND ONLY", dqpn=1, psn=psn) / DETH(sqpn=source))

    frames = [datagram(5, 1), datagram(9, 2), datagram(8, 1)]
    assert psns(tmp_path, frames) == [["0", "1"], ["0", "1"], ["3", "2"]]
    assert findings(tmp_path, frames) == [""] * 3


def test_a_second_visit_changes_nothing_where_nothing_was_filled(tmp_path: Path) -> None:
    frames = [send(0), send(1), corrupted(send(2)), uc(7), uc(9), ack(1), read(3, 64), send(4)]
    path = capture(tmp_path / "twice.pcapng", frames)
    names = ("icrc", "psn.relative", "message", "finding")
    once = fields(path, *names, home=tmp_path)
    assert fields(path, *names, home=tmp_path, options=TWO_PASSES) == once
