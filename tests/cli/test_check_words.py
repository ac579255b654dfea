# SPDX-License-Identifier: BSD-2-Clause
"""What check says: which length contradicts what, and what the capture does not show to its end."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from corrupted_captures import HEALTHY, STOCK, corrupt, middles

from roceproof.conformance.capture.pcapng_writer import write_pcapng
from roceproof.conformance.capture.reader import read
from roceproof.conformance.check.run import check_file
from roceproof.conformance.observer.checker import Checker
from roceproof.conformance.wire.framing import UDP_BYTES, locate

IP_LENGTH = 1068
CUT = 30
READ_REQUEST, READ_FIRST = 0x0C, 0x0D


def opcode_of(frame: bytes) -> int | None:
    layout = locate(frame)
    return None if layout is None else frame[layout.udp + UDP_BYTES]


def shorter_ip(frame: bytes) -> bytes:
    return frame[:16] + (IP_LENGTH - 1).to_bytes(2, "big") + frame[18:]


def shorter_udp(frame: bytes) -> bytes:
    at = locate(frame).udp + 4
    return frame[:at] + (IP_LENGTH - 24).to_bytes(2, "big") + frame[at + 2 :]


def cut_off(frame: bytes) -> bytes:
    return frame[:-CUT]


@pytest.mark.parametrize(
    ("change", "rule", "right", "word", "got"),
    [
        (shorter_ip, "IP-02", IP_LENGTH, "UDP length", IP_LENGTH - 1),
        (shorter_udp, "UDP-02", IP_LENGTH - 20, "IP length", IP_LENGTH - 24),
        (cut_off, "IP-02", IP_LENGTH - CUT, "frame", IP_LENGTH),
    ],
    ids=["IP below UDP", "UDP below IP", "frame below both"],
)
def test_a_wrong_length_is_told_with_the_other_that_it_contradicts(
    change: Callable[[bytes], bytes], rule: str, right: int, word: str, got: int, tmp_path: Path
) -> None:
    path = corrupt(HEALTHY, tmp_path / "x.pcapng", {middles(HEALTHY)[0]: change})
    (row,) = check_file(path)["findings"]
    checker = Checker()
    (found,) = [each for record in read(path) for each in checker.feed(record.frame)]
    for observed in (
        (row["rule"], row["expected"], row["got"]),
        (
            found.rule.id,
            found.expected,
            found.got,
        ),
    ):
        assert observed[0] == rule
        assert str(right) in observed[1]
        assert word in observed[1]
        assert observed[2] == str(got)


def test_a_message_without_an_end_is_noted_and_is_no_finding(console, tmp_path: Path) -> None:
    last = middles(HEALTHY)[1]
    records = [record for record in read(HEALTHY) if record.number <= last]
    write_pcapng(tmp_path / "begun.pcapng", records)
    run = console.run("check", str(tmp_path / "begun.pcapng"))
    assert run.returncode == 0
    *_, note, verdict = run.stdout.splitlines()
    assert verdict == "no findings"
    document = json.loads(console.run("check", "--json", str(tmp_path / "begun.pcapng")).stdout)
    (number,) = [i for i, flow in enumerate(document["flows"]) if flow["unfinished"]]
    told = document["flows"][number]["unfinished"]
    assert told["from_start"]
    assert told["bytes"] == 1024 * (last - told["frame"] + 1)
    assert note == (
        f"note   the SEND begun in frame {told['frame']} of flow {number} has no end here: "
        f"{told['bytes']:,} bytes seen"
    )
    assert console.run("check", "-q", str(tmp_path / "begun.pcapng")).stdout == ""
    assert "note" not in console.run("check", str(HEALTHY)).stdout


READS = STOCK / "read.pcapng.gz"


def test_an_answer_that_is_not_shown_whole_is_noted(console, tmp_path: Path) -> None:
    """Cut the capture behind the first response of its last READ."""
    asked, begun = (
        max(record.number for record in read(READS) if opcode_of(record.frame) == opcode)
        for opcode in (READ_REQUEST, READ_FIRST)
    )
    cut = [record for record in read(READS) if record.number <= begun]
    write_pcapng(tmp_path / "cut.pcapng", cut)
    run = console.run("check", str(tmp_path / "cut.pcapng"))
    assert run.returncode == 0
    *_, note, verdict = run.stdout.splitlines()
    assert verdict == "no findings"
    assert f"the answer to the RC READ REQUEST in frame {asked} of flow " in note
    assert " has no end here: 1 of 9 responses seen" in note
    assert "note" not in console.run("check", str(READS)).stdout


def test_a_note_says_if_there_were_naks(console) -> None:
    run = console.run("check", str(STOCK / "nak_write.pcapng.gz"))
    (note,) = (line for line in run.stdout.splitlines() if line.startswith("note "))
    assert note.endswith("8,192 of 9,000 bytes seen; its responder sent NAKs")
