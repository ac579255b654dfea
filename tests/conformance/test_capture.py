# SPDX-License-Identifier: BSD-2-Clause
"""The capture reader on files written here byte by byte, and on some by Wireshark's tools."""

from __future__ import annotations

import gzip
import io
import random
import shutil
import struct
import subprocess
from pathlib import Path

import pytest
from scapy.layers.l2 import Ether
from scapy.utils import wrpcap

from roceproof.conformance.capture.reader import CaptureError, Flow, Record, read

EDITCAP_SECONDS = 30
needs_editcap = pytest.mark.skipif(
    shutil.which("editcap") is None, reason="editcap is not installed"
)


def padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % 4)


class Writer:
    """A pcapng capture in either byte order."""

    def __init__(self, sign: str = "<") -> None:
        self.sign = sign
        self.data = self.block(0x0A0D0D0A, struct.pack(sign + "IHHq", 0x1A2B3C4D, 1, 0, -1))

    def block(self, kind: int, body: bytes) -> bytes:
        size = 12 + len(body)
        head = struct.pack(self.sign + "II", kind, size)
        return head + body + struct.pack(self.sign + "I", size)

    def option(self, code: int, value: bytes) -> bytes:
        return struct.pack(self.sign + "HH", code, len(value)) + padded(value)

    def interface(self, *options: bytes, link: int = 1, snap: int = 0) -> None:
        head = struct.pack(self.sign + "HHI", link, 0, snap)
        self.data += self.block(1, head + b"".join(options) + bytes(4 if options else 0))

    def packet(
        self, number: int, ticks: int, frame: bytes, *options: bytes, full: int | None = None
    ) -> None:
        sizes = (len(frame), len(frame) if full is None else full)
        head = struct.pack(self.sign + "IIIII", number, ticks >> 32, ticks & 0xFFFFFFFF, *sizes)
        self.data += self.block(6, head + padded(frame) + b"".join(options))


def pcap(sign: str, magic: int, *packets: tuple[int, int, bytes, int], link: int = 1) -> bytes:
    data = struct.pack(sign + "IHHiIII", magic, 2, 4, 0, 0, 65535, link)
    for seconds, ticks, frame, full in packets:
        data += struct.pack(sign + "IIII", seconds, ticks, len(frame), full) + frame
    return data


def records_of(tmp_path: Path, data: bytes) -> list[Record]:
    path = tmp_path / "capture"
    path.write_bytes(data)
    return list(read(path))


@pytest.mark.parametrize("sign", ["<", ">"])
def test_all_that_a_pcapng_packet_says_is_read(tmp_path: Path, sign: str) -> None:
    writer = Writer(sign)
    writer.interface(writer.option(2, b"port0"), writer.option(9, b"\x09"))
    writer.interface(
        writer.option(14, struct.pack(sign + "q", 3)), writer.option(13, b"\x04"), link=113
    )
    flags = writer.option(2, struct.pack(sign + "I", 2 | 4 << 5 | 1 << 24))
    writer.packet(0, 5_000_000_123, b"abcde", writer.option(1, b"PSN-02"), flags, full=9)
    writer.packet(1, 7, b"")
    first, second = records_of(tmp_path, writer.data)
    assert first == Record(
        *("port0", 5_000_000_123, Flow.OUTBOUND, b"abcde", "PSN-02", True),
        bytes_cut=4,
        number=1,
        fcs_bytes=4,
    )
    assert second == Record(
        *("interface 1", 3_000_007_000, Flow.UNKNOWN, b""),
        number=2,
        interface_index=1,
        fcs_bytes=4,
        link_type=113,
    )
    assert first.full_size == 9 and first.is_ethernet and not second.is_ethernet


@pytest.mark.parametrize("sign", ["<", ">"])
@pytest.mark.parametrize(("magic", "tick"), [(0xA1B2C3D4, 1000), (0xA1B23C4D, 1)])
def test_pcap_in_every_spelling_is_read(tmp_path: Path, sign: str, magic: int, tick: int) -> None:
    data = pcap(sign, magic, (3, 5, b"abc", 7), (4, 0, b"", 0), link=1 | 1 << 26 | 2 << 28)
    assert records_of(tmp_path, data) == [
        Record(
            *("interface 0", 3 * 10**9 + 5 * tick, Flow.UNKNOWN, b"abc"),
            bytes_cut=4,
            number=1,
            fcs_bytes=4,
        ),
        Record("interface 0", 4 * 10**9, Flow.UNKNOWN, b"", number=2, fcs_bytes=4),
    ]


def test_gzip_and_stdin_are_read_alike(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = pcap("<", 0xA1B2C3D4, (3, 5, b"abc", 3))
    plain = records_of(tmp_path, data)
    assert records_of(tmp_path, gzip.compress(data)) == plain
    for form in (data, gzip.compress(data)):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(form)))
        assert list(read("-")) == plain


def test_sections_of_different_byte_order_follow_each_other(tmp_path: Path) -> None:
    data = b""
    for sign in "<>":
        writer = Writer(sign)
        writer.interface(writer.option(9, b"\x8a"))
        writer.data += writer.block(5, bytes(8))
        writer.packet(0, 512, b"x")
        data += writer.data
    records = records_of(tmp_path, data)
    assert [record.time_ns for record in records] == [500_000_000] * 2
    assert [record.interface_index for record in records] == [0, 1]
    assert [record.number for record in records] == [1, 2]


def test_simple_and_old_packet_blocks_are_packets(tmp_path: Path) -> None:
    writer = Writer()
    writer.interface(snap=4)
    writer.data += writer.block(3, struct.pack("<I", 6) + b"abcd")
    writer.data += writer.block(2, struct.pack("<HHIIII", 0, 9, 0, 8, 2, 3) + b"ef\0\0")
    simple, old = records_of(tmp_path, writer.data)
    assert (simple.frame, simple.full_size) == (b"abcd", 6)
    assert (old.frame, old.full_size, old.time_ns, old.number) == (b"ef", 3, 8000, 2)


def test_a_cut_file_gives_all_whole_packets_and_then_says_where_it_ends(tmp_path: Path) -> None:
    writer = Writer()
    writer.interface()
    writer.packet(0, 1, b"first")
    whole = len(writer.data)
    writer.packet(0, 2, b"second")
    classic = pcap("<", 0xA1B2C3D4, (0, 1, b"first", 5), (0, 2, b"second", 6))
    path = tmp_path / "cut"
    for data, place in ((writer.data, whole), (classic, 24 + 16 + 5)):
        for size in range(place + 1, len(data)):
            path.write_bytes(data[:size])
            records = read(path)
            assert next(records).frame == b"first"
            with pytest.raises(CaptureError, match=r"ends inside a (block|packet)") as caught:
                next(records)
            assert place <= caught.value.offset <= place + 16


def test_a_cut_gzip_file_gives_an_error(tmp_path: Path) -> None:
    data = gzip.compress(pcap("<", 0xA1B2C3D4, (0, 1, random.Random(1).randbytes(5000), 5000)))
    for size in (3, 12, 2000, len(data) - 1):
        with pytest.raises(CaptureError, match="capture"):
            records_of(tmp_path, data[:size])


@pytest.mark.parametrize("data", [b"", b"\x0a", b"GET / HTTP/1.1", bytes(100), b"\x1f\x8b\x08"])
def test_what_is_not_a_capture_is_refused(tmp_path: Path, data: bytes) -> None:
    with pytest.raises(CaptureError, match=r"is empty|is no capture|cannot be read"):
        records_of(tmp_path, data)


def test_a_path_that_cannot_be_opened_is_named(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "absent"):
        with pytest.raises(CaptureError, match=f"{path} cannot be opened"):
            list(read(path))


def test_a_capture_without_packets_is_one(tmp_path: Path) -> None:
    assert records_of(tmp_path, Writer().data) == []
    assert records_of(tmp_path, pcap(">", 0xA1B23C4D)) == []


@pytest.mark.parametrize(
    ("field", "value"),
    [(4, 13), (4, 0), (4, 1 << 30), (4, 44), (8, 1), (20, 100)],
    ids=["odd size", "no size", "absurd size", "two sizes", "interface", "length"],
)
def test_a_broken_block_is_named_by_its_place(tmp_path: Path, field: int, value: int) -> None:
    writer = Writer()
    writer.interface()
    at = len(writer.data)
    writer.packet(0, 1, b"first")
    writer.packet(0, 1, b"second")
    data = bytearray(writer.data)
    data[at + field : at + field + 4] = value.to_bytes(4, "little")
    with pytest.raises(CaptureError, match=f"at byte {at}; "):
        records_of(tmp_path, bytes(data))


@pytest.mark.parametrize(
    "corrupted", ["absurd length", "no magic", "new version", "old version", "pcap", "pcapng"]
)
def test_an_absurd_header_is_refused(tmp_path: Path, corrupted: str) -> None:
    writer, foreign = Writer(), Writer()
    foreign.interface(link=113)
    classic = pcap("<", 0xA1B2C3D4)
    data = {
        "absurd length": pcap("<", 0xA1B2C3D4)[:24] + struct.pack("<IIII", 0, 0, 1 << 31, 1 << 31),
        "no magic": writer.data[:8] + b"\1\2\3\4" + writer.data[12:],
        "new version": writer.data[:12] + b"\2" + writer.data[13:],
        "old version": classic[:4] + b"\1" + classic[5:],
        "pcap": pcap(">", 0xA1B2C3D4, link=113),
        "pcapng": foreign.data,
    }[corrupted]
    with pytest.raises(CaptureError, match="at byte"):
        records_of(tmp_path, data)


def test_damaged_files_never_raise_anything_else(tmp_path: Path) -> None:
    seed = 5
    rng = random.Random(seed)
    writer = Writer()
    writer.interface(writer.option(2, b"port0"), writer.option(9, b"\x09"))
    for i in range(6):
        writer.packet(0, i, rng.randbytes(i * 9), writer.option(1, b"note"))
    classic = pcap(">", 0xA1B2C3D4, *((0, i, rng.randbytes(i * 9), i * 9) for i in range(6)))
    for _ in range(3000):
        data = bytearray(rng.choice((writer.data, classic)))
        for _ in range(rng.randrange(1, 6)):
            data[rng.randrange(len(data))] = rng.choice((0, 1, 127, 255, rng.randrange(256)))
        try:
            records = records_of(tmp_path, bytes(data[: rng.randrange(len(data) + 1)]))
        except CaptureError:
            continue
        assert [record.number for record in records] == list(range(1, len(records) + 1)), seed


@needs_editcap
@pytest.mark.parametrize("kind", ["pcapng", "nsecpcap", "pcap"])
def test_captures_by_wireshark_tools_are_read(tmp_path: Path, kind: str) -> None:
    frames = [bytes([i]) * (60 + i) for i in range(50)]
    wrpcap(str(tmp_path / "a.pcap"), [Ether(frame) for frame in frames])
    out = tmp_path / "converted"
    command = ["editcap", "-F", kind, "-s", "80", str(tmp_path / "a.pcap"), str(out)]
    subprocess.run(command, check=True, timeout=EDITCAP_SECONDS)
    records = list(read(out))
    assert [record.frame for record in records] == [frame[:80] for frame in frames]
    assert [record.full_size for record in records] == [len(frame) for frame in frames]
