# SPDX-License-Identifier: BSD-2-Clause
"""The capture reader on files written here byte by byte, and on one by Wireshark's tools."""

from __future__ import annotations

import shutil
import struct
import subprocess
from pathlib import Path

import pytest
from scapy.layers.l2 import Ether
from scapy.utils import wrpcap

from roceproof.conformance.pcapng import CaptureError, Flow, Record, read

EDITCAP_SECONDS = 30


def padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % 4)


class Writer:
    """A capture in either byte order."""

    def __init__(self, sign: str = "<") -> None:
        self.sign = sign
        self.data = self.block(0x0A0D0D0A, struct.pack(sign + "IHHq", 0x1A2B3C4D, 1, 0, -1))

    def block(self, kind: int, body: bytes) -> bytes:
        size = 12 + len(body)
        head = struct.pack(self.sign + "II", kind, size)
        return head + body + struct.pack(self.sign + "I", size)

    def option(self, code: int, value: bytes) -> bytes:
        return struct.pack(self.sign + "HH", code, len(value)) + padded(value)

    def interface(self, *options: bytes) -> None:
        head = struct.pack(self.sign + "HHI", 1, 0, 0)
        self.data += self.block(1, head + b"".join(options) + bytes(4 if options else 0))

    def packet(self, number: int, ticks: int, frame: bytes, *options: bytes) -> None:
        head = struct.pack(
            self.sign + "IIIII", number, ticks >> 32, ticks & 0xFFFFFFFF, len(frame), len(frame)
        )
        self.data += self.block(6, head + padded(frame) + b"".join(options))


def records_of(tmp_path: Path, data: bytes) -> list[Record]:
    path = tmp_path / "capture.pcapng"
    path.write_bytes(data)
    return list(read(path))


@pytest.mark.parametrize("sign", ["<", ">"])
def test_all_that_a_packet_says_is_read(tmp_path: Path, sign: str) -> None:
    writer = Writer(sign)
    writer.interface(writer.option(2, b"port0"), writer.option(9, b"\x09"))
    writer.interface()
    flags = writer.option(2, struct.pack(sign + "I", 2 | 1 << 24))
    writer.packet(0, 5_000_000_123, b"abcde", writer.option(1, b"PSN-02"), flags)
    writer.packet(1, 7, b"")
    assert records_of(tmp_path, writer.data) == [
        Record("port0", 5_000_000_123, Flow.OUTBOUND, b"abcde", "PSN-02", True),
        Record("interface 1", 7000, Flow.UNKNOWN, b""),
    ]


def test_sections_of_different_byte_order_follow_each_other(tmp_path: Path) -> None:
    data = b""
    for sign in "<>":
        writer = Writer(sign)
        writer.interface(writer.option(9, b"\x8a"))
        writer.data += writer.block(5, bytes(8))
        writer.packet(0, 512, b"x")
        data += writer.data
    assert [record.time_ns for record in records_of(tmp_path, data)] == [500_000_000] * 2


def test_a_cut_file_gives_all_whole_blocks_and_then_says_where_it_ends(tmp_path: Path) -> None:
    writer = Writer()
    writer.interface()
    writer.packet(0, 1, b"first")
    whole = len(writer.data)
    writer.packet(0, 2, b"second")
    path = tmp_path / "cut.pcapng"
    for size in range(whole + 1, len(writer.data)):
        path.write_bytes(writer.data[:size])
        records = read(path)
        assert next(records).frame == b"first"
        with pytest.raises(CaptureError, match=f"ends inside a block at byte {whole}"):
            next(records)


def test_what_is_not_a_capture_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CaptureError, match="not a pcapng file"):
        records_of(tmp_path, b"\xd4\xc3\xb2\xa1 classic")
    with pytest.raises(CaptureError, match="not a pcapng file"):
        records_of(tmp_path, b"")


@pytest.mark.parametrize(
    ("field", "value"), [(4, 13), (4, 0), (8, 1), (20, 100)], ids=["size", "zero", "if", "length"]
)
def test_a_broken_block_is_named_by_its_place(tmp_path: Path, field: int, value: int) -> None:
    writer = Writer()
    writer.interface()
    at = len(writer.data)
    writer.packet(0, 1, b"first")
    data = bytearray(writer.data)
    data[at + field : at + field + 4] = value.to_bytes(4, "little")
    with pytest.raises(CaptureError, match=f"at byte {at}"):
        records_of(tmp_path, bytes(data))


@pytest.mark.skipif(shutil.which("editcap") is None, reason="editcap is not installed")
def test_a_capture_by_wireshark_tools_is_read(tmp_path: Path) -> None:
    frames = [bytes([i]) * (60 + i) for i in range(50)]
    wrpcap(str(tmp_path / "a.pcap"), [Ether(frame) for frame in frames])
    out = tmp_path / "a.pcapng"
    command = ["editcap", "-F", "pcapng", str(tmp_path / "a.pcap"), str(out)]
    subprocess.run(command, check=True, timeout=EDITCAP_SECONDS)
    assert [record.frame for record in read(out)] == frames
