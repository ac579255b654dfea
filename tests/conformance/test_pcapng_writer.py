# SPDX-License-Identifier: BSD-2-Clause
"""What is written is read again, by our reader and by Wireshark's."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from roceproof.conformance.capture import Flow, Record, read
from roceproof.conformance.pcapng_writer import write_pcapng

TSHARK_SECONDS = 60
FRAME = bytes.fromhex("0200000000020200000000010806") + bytes(46)
RECORDS = [
    Record("east", 1_700_000_000_123_456_789, Flow.OUTBOUND, FRAME, "first", number=1),
    Record("west", 5 << 32, Flow.INBOUND, b"\1\2\3", number=2, interface_index=1, bytes_cut=7),
    Record("east", 0, Flow.UNKNOWN, b"", number=3),
]


@pytest.mark.parametrize("name", ["a.pcapng", "a.pcapng.gz"])
def test_records_come_back_as_they_were(tmp_path: Path, name: str) -> None:
    write_pcapng(tmp_path / name, RECORDS, comment="about the section")
    assert list(read(tmp_path / name)) == RECORDS


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
