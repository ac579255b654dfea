# SPDX-License-Identifier: BSD-2-Clause
"""What is written is read again, by our reader and by Wireshark's."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from roceproof.conformance.capture.pcapng_writer import write_pcapng
from roceproof.conformance.capture.reader import Flow, Record, read

TSHARK_SECONDS = 60
FRAME = bytes.fromhex("0200000000020200000000010806") + bytes(46)
RECORDS = [
    Record("east", 1_700_000_000_123_456_789, Flow.OUTBOUND, FRAME, "first", number=1),
    Record("west", 5 << 32, Flow.INBOUND, b"\1\2\3", number=2, interface_index=1, bytes_cut=7),
    Record("east", 0, Flow.UNKNOWN, b"", number=3),
    Record(
        "east",  # of that name, but another one
        1,
        Flow.INBOUND,
        FRAME,
        marked_bad=True,
        number=4,
        interface_index=2,
        fcs_bytes=4,
        link_type=228,
    ),
]


@pytest.mark.parametrize("name", ["a.pcapng", "a.pcapng.gz"])
def test_records_come_back_as_they_were(tmp_path: Path, name: str) -> None:
    about = "about the section"
    write_pcapng(tmp_path / name, RECORDS, comment=about)
    assert list(read(tmp_path / name)) == [record._replace(section=about) for record in RECORDS]


def test_a_comment_too_long_for_one_option_is_parted_between_lines(tmp_path: Path) -> None:
    comment = "\n".join(["x" * 40_000, "y" * 40_000, "z" * 70_000])
    late = Record("east", 1 << 70, Flow.UNKNOWN, FRAME, comment, number=1)
    write_pcapng(tmp_path / "a.pcapng", [late])
    (record,) = read(tmp_path / "a.pcapng")
    assert record.comment.replace("\n", "") == comment.replace("\n", "")
    assert record.comment.splitlines()[:2] == comment.splitlines()[:2]
    assert record.time_ns == (1 << 64) - 1


def test_the_same_records_are_the_same_bytes(tmp_path: Path) -> None:
    for name in ("a.gz", "b.gz"):
        write_pcapng(tmp_path / name, RECORDS)
    assert (tmp_path / "a.gz").read_bytes() == (tmp_path / "b.gz").read_bytes()


@pytest.mark.skipif(shutil.which("capinfos") is None, reason="Wireshark's tools are not installed")
def test_wiresharks_tools_read_it(tmp_path: Path) -> None:
    path = tmp_path / "a.pcapng"
    write_pcapng(path, RECORDS, comment="about the section")
    command = [
        "tshark",
        "-r",
        path,
        "-T",
        "fields",
        "-e",
        "frame.time_epoch",
        "-e",
        "frame.comment",
    ]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=TSHARK_SECONDS, check=True
    )
    assert done.stdout.splitlines()[0] == "1700000000.123456789\tfirst"
    about = subprocess.run(
        ["capinfos", path], capture_output=True, text=True, timeout=TSHARK_SECONDS, check=True
    )
    assert "about the section" in about.stdout
