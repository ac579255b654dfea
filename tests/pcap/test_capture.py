# SPDX-License-Identifier: BSD-2-Clause
"""The C capture reader: every format it reads, and a clear end for everything it does not."""

from __future__ import annotations

import gzip
import os
import random
import re
import struct
import subprocess
import sys
import time
import zlib
from pathlib import Path

import pytest
from captures import BIG, LITTLE, Pcapng, pcap_header, pcap_record

ROOT = Path(__file__).resolve().parents[2]
BUILD_SECONDS = 300
RUN_SECONDS = 60
MAGICS = {1000: 0xA1B2C3D4, 1: 0xA1B23C4D}
FRAMES = [random.Random(i).randbytes(60 + 7 * i) for i in range(9)]


@pytest.fixture(scope="module")
def dump(build: Path) -> Path:
    """The sanitized program that prints what the reader hands out."""
    return build / "checked" / "capture_dump"


def lines_of(done: subprocess.CompletedProcess[bytes]) -> list[str]:
    assert done.stderr == b""
    lines = done.stdout.decode().splitlines()
    assert done.returncode == (0 if lines[-1] == "end" else 2)
    return lines


def read(dump: Path, capture: bytes | Path) -> list[str]:
    """The lines for a file, or for bytes through a pipe."""
    path, data = (capture, None) if isinstance(capture, Path) else ("-", capture)
    command = [str(dump), str(path)]
    return lines_of(subprocess.run(command, input=data, capture_output=True, timeout=RUN_SECONDS))


def line(
    number: int,
    data: bytes,
    *,
    time_ns: int = 0,
    interface: int = 0,
    full: int | None = None,
    fcs: int = 0,
    ethernet: int = 1,
) -> str:
    size = len(data) if full is None else full
    crc = zlib.crc32(data)
    return f"{number} {time_ns} {interface} {len(data)} {size} {fcs} {ethernet} {crc:08x}"


def through_every_door(dump: Path, folder: Path, capture: bytes) -> list[list[str]]:
    """The same bytes mapped, redirected, piped, and in gzip of one and of many members."""
    plain = folder / "plain"
    plain.write_bytes(capture)
    one = folder / "one.gz"
    one.write_bytes(gzip.compress(capture))
    cut = len(capture) // 3
    many = gzip.compress(capture[:cut]) + gzip.compress(b"") + gzip.compress(capture[cut:])
    with plain.open("rb") as redirected:
        from_stdin = subprocess.run(
            [str(dump), "-"], stdin=redirected, capture_output=True, timeout=RUN_SECONDS
        )
    return [
        read(dump, plain),
        lines_of(from_stdin),
        read(dump, capture),
        read(dump, one),
        read(dump, many),
    ]


@pytest.mark.parametrize("order", [LITTLE, BIG])
@pytest.mark.parametrize("tick_ns", MAGICS)
def test_pcap_is_read_in_either_order_and_resolution_through_every_door(
    dump: Path, tmp_path: Path, order: str, tick_ns: int
) -> None:
    capture = pcap_header(order=order, magic=MAGICS[tick_ns])
    wanted = []
    for i, frame in enumerate(FRAMES):
        full = len(frame) + 100 * (i % 2)
        capture += pcap_record(frame, order=order, time=(4_000_000_000, i), full=full)
        time_ns = 4_000_000_000 * 10**9 + i * tick_ns
        wanted.append(line(i + 1, frame, time_ns=time_ns, full=full))
    for lines in through_every_door(dump, tmp_path, capture):
        assert lines == [*wanted, "end"]


@pytest.mark.parametrize("order", [LITTLE, BIG])
def test_pcapng_with_every_kind_of_block_is_read_through_every_door(
    dump: Path, tmp_path: Path, order: str
) -> None:
    ng = Pcapng(order=order)
    other = Pcapng(order=BIG if order == LITTLE else LITTLE)
    f = FRAMES
    blocks = [
        ng.section(),
        ng.block(0x0BAD, b"custom" * 50_000),
        ng.interface(c9=b"\x09", c13=b"\x20", c1=b"odd"),
        ng.packet(f[0], ticks=2**40 + 1),
        ng.interface(link=113),
        ng.packet(f[1], interface=1, ticks=5, full=2000),
        ng.packet(f[2], ticks=7, c1=b"a comment", c2=ng.pack("I", 2 << 5)),
        ng.block(4, b"name"),
        ng.obsolete_packet(f[3], interface=1, ticks=6),
        ng.simple_packet(f[4]),
        other.section(),
        other.interface(snap=64, c14=other.pack("q", 100)),
        other.packet(f[5], ticks=3),
        other.simple_packet(f[6][:64], full=len(f[6])),
    ]
    wanted = [
        line(1, f[0], time_ns=2**40 + 1, fcs=4),
        line(2, f[1], time_ns=5000, interface=1, full=2000, ethernet=0),
        line(3, f[2], time_ns=7, fcs=2),
        line(4, f[3], time_ns=6000, interface=1, ethernet=0),
        line(5, f[4], fcs=4),
        line(6, f[5], time_ns=100 * 10**9 + 3000, interface=2),
        line(7, f[6][:64], full=len(f[6]), interface=2),
        "end",
    ]
    for lines in through_every_door(dump, tmp_path, b"".join(blocks)):
        assert lines == wanted


@pytest.mark.parametrize(
    ("resolution", "ticks", "time_ns"),
    [
        (0x00, 3, 3 * 10**9),
        (0x03, 5, 5 * 10**6),
        (0x06, 7, 7000),
        (0x09, 11, 11),
        (0x0C, 13_999, 13),
        (0x1C, 2**63, 0),
        (0x80, 17, 17 * 10**9),
        (0x81, 3, 1_500_000_000),
        (0x8A, 1024 + 512, 1_500_000_000),
        (0xA0, 2**33 + 2**31, 2_500_000_000),
        (0xBF, 2**62, 500_000_000),
        (0xC0, 2**63, 500_000_000),
        (0xFF, 2**63, 0),
    ],
)
def test_every_time_stamp_resolution_becomes_nanoseconds(
    dump: Path, resolution: int, ticks: int, time_ns: int
) -> None:
    ng = Pcapng()
    capture = ng.section() + ng.interface(c9=bytes([resolution])) + ng.packet(b"x", ticks=ticks)
    assert read(dump, capture) == [line(1, b"x", time_ns=time_ns), "end"]


@pytest.mark.parametrize(("words", "present", "fcs"), [(2, 1, 4), (1, 1, 2), (2, 0, 0), (0, 1, 0)])
def test_the_fcs_length_of_the_link_type_word_counts_if_its_bit_says_so(
    dump: Path, words: int, present: int, fcs: int
) -> None:
    capture = pcap_header(link=words << 28 | present << 26 | 1) + pcap_record(b"frame")
    assert read(dump, capture) == [line(1, b"frame", fcs=fcs), "end"]


@pytest.mark.parametrize(("length", "fcs"), [(32, 4), (16, 2), (4, 4), (0, 0)])
def test_the_fcs_length_of_an_interface_counts_in_bits_or_if_that_is_absurd_in_bytes(
    dump: Path, length: int, fcs: int
) -> None:
    ng = Pcapng()
    capture = ng.section() + ng.interface(c13=bytes([length])) + ng.packet(b"frame")
    assert read(dump, capture) == [line(1, b"frame", fcs=fcs), "end"]


def test_a_capture_without_packets_just_ends(dump: Path) -> None:
    ng = Pcapng()
    for capture in (pcap_header(), ng.section(), ng.section() + ng.interface()):
        assert read(dump, capture) == ["end"]


UNREADABLE = {
    "is empty": b"",
    "not a capture: 2 bytes are none": b"ab",
    "not a capture: starts with 0x3C68746D, not like pcap or pcapng": b"<html>",
    "compressed with zstd; decompress it first": b"\x28\xb5\x2f\xfd....",
    "compressed with bzip2; decompress it first": b"BZh9....",
    "cut in the file header: 4 of 24 bytes are there": pcap_header()[:4],
    "pcap of version 3, not 2": pcap_header()[:4] + b"\3\0" + pcap_header()[6:],
    "link type 113 (Linux cooked: capture on one interface, not on any) is not Ethernet": (
        pcap_header(link=113)
    ),
    "the gzip data end early": gzip.compress(pcap_header())[:15],
    "the gzip data are damaged: unknown compression method": b"\x1f\x8bjunkjunk",
}


@pytest.mark.parametrize("text", UNREADABLE)
def test_what_is_no_readable_capture_is_refused_in_one_line(
    dump: Path, tmp_path: Path, text: str
) -> None:
    path = tmp_path / "file"
    path.write_bytes(UNREADABLE[text])
    assert read(dump, path) == [f"error: {text}"]
    assert read(dump, UNREADABLE[text]) == [f"error: {text}"]


def test_a_path_that_cannot_be_opened_or_read_says_why(dump: Path, tmp_path: Path) -> None:
    assert read(dump, tmp_path / "absent") == ["error: cannot be opened: No such file or directory"]
    assert read(dump, tmp_path) == ["error: the input cannot be read: Is a directory"]


NG = Pcapng()
FRAME = FRAMES[0]
PCAP = pcap_header() + pcap_record(FRAME)
PCAPNG = NG.section() + NG.interface() + NG.packet(FRAME)
GZIPPED = gzip.compress(PCAP)
AT = len(PCAPNG)
DAMAGED = {
    "100: cut in a record header: 9 of 16 bytes are there": PCAP + bytes(9),
    "100: cut in a record: 3 of its 4 bytes are there": PCAP + pcap_record(b"half")[:-1],
    "100: a record of 2147483647 bytes, longer than any packet": (
        PCAP + struct.pack("<IIII", 0, 0, 0x7FFFFFFF, 0)
    ),
    f"{AT}: cut in a block header: 4 bytes are there": PCAPNG + bytes(4),
    f"{AT}: cut in a block: 35 of its 36 bytes are there": PCAPNG + NG.packet(b"half")[:-1],
    f"{AT}: cut in a block: 90000 of its 1000012 bytes are there": (
        PCAPNG + NG.block(99, bytes(1_000_000))[:90_000]
    ),
    f"{AT}: a block of 8 bytes": PCAPNG + NG.block(99, b"", length=8),
    f"{AT}: a block of 18 bytes": PCAPNG + NG.block(99, bytes(6)),
    f"{AT}: a block of 20 bytes ends as one of 16": PCAPNG
    + NG.block(99, bytes(4), length=20)
    + bytes.fromhex("10000000"),
    f"{AT}: a block of 4294967292 bytes, longer than any packet": (
        PCAPNG + NG.block(6, bytes(99), length=0xFFFFFFFC)
    ),
    f"{AT}: a packet of an interface that is not described": PCAPNG + NG.packet(b"", interface=1),
    f"{AT}: a packet block too short for its fields": PCAPNG + NG.block(6, bytes(16)),
    f"{AT}: a packet longer than its block": (
        PCAPNG + NG.block(6, struct.pack("<IIIII", 0, 0, 0, 5, 5) + bytes(4))
    ),
    f"{AT}: a packet of more than 262144 bytes": PCAPNG + NG.packet(bytes(262_145)),
    f"{AT}: an option reaches beyond its packet block": (
        PCAPNG + NG.block(6, struct.pack("<IIIIIHH", 0, 0, 0, 0, 0, 1, 5) + bytes(4))
    ),
    f"{AT}: an interface description too short for its fields": PCAPNG + NG.block(1, bytes(4)),
    f"{AT}: an option reaches beyond its interface description": (
        PCAPNG + NG.block(1, bytes(8) + b"\1\0\1\0")
    ),
    f"{AT}: a section without a byte-order word": PCAPNG + NG.section(magic=0),
    f"{AT}: a section of another pcapng version than 1": PCAPNG + NG.section(major=2),
    f"{AT}: a section header too short for its fields": (
        PCAPNG + NG.block(0x0A0D0D0A, bytes.fromhex("4d3c2b1a"))
    ),
    "100: the gzip data are damaged: incorrect data check": (
        GZIPPED[:-8] + bytes(4) + GZIPPED[-4:]
    ),
    "100: the gzip data are damaged: incorrect header check": GZIPPED + b"junkjunkjunk",
    "100: the gzip data end early": GZIPPED[:-3],
}


@pytest.mark.parametrize("text", DAMAGED)
def test_damage_ends_the_capture_behind_all_whole_packets_with_its_place(
    dump: Path, tmp_path: Path, text: str
) -> None:
    wanted = [line(1, FRAME), f"error: file offset {text}"]
    path = tmp_path / "file"
    path.write_bytes(DAMAGED[text])
    assert read(dump, path) == wanted
    assert read(dump, DAMAGED[text]) == wanted


def test_a_pcapng_file_without_any_ethernet_interface_is_an_error_that_names_its_type(
    dump: Path,
) -> None:
    capture = NG.section() + NG.interface(link=127) + NG.packet(FRAME)
    assert read(dump, capture) == [
        line(1, FRAME, ethernet=0),
        f"error: file offset {len(capture)}: no interface is Ethernet: "
        "link type 127 (IEEE 802.11 with radiotap)",
    ]


@pytest.mark.parametrize("capture", [PCAP + PCAP[24:], PCAPNG + PCAPNG], ids=["pcap", "pcapng"])
def test_every_truncation_ends_with_an_end_or_an_error(
    dump: Path, tmp_path: Path, capture: bytes
) -> None:
    ends = 0
    for size in range(1, len(capture), 3):
        path = tmp_path / "cut"
        path.write_bytes(capture[:size])
        lines = read(dump, path)
        ends += lines[-1] == "end"
        assert re.fullmatch(r"end|error: .+", lines[-1])
    assert ends <= 4


def test_tshark_and_the_reader_tell_the_same_of_real_and_edited_files(
    dump: Path, tmp_path: Path
) -> None:
    rng = random.Random(7)
    path = tmp_path / "both"
    for order in (LITTLE, BIG):
        ng = Pcapng(order=order)
        capture = ng.section() + ng.interface(c9=b"\6") + ng.interface(c9=b"\x9e")
        for _ in range(50):
            data = rng.randbytes(rng.randrange(14, 200))
            ticks, interface = rng.getrandbits(50), rng.randrange(2)
            full = len(data) + rng.randrange(3)
            capture += ng.packet(data, interface=interface, ticks=ticks, full=full)
        path.write_bytes(capture)
        fields = ("number", "time_epoch", "interface_id", "cap_len", "len")
        tshark = ["tshark", "-r", str(path), "-T", "fields"]
        for field in fields:
            tshark += ["-e", f"frame.{field}"]
        told = subprocess.run(tshark, capture_output=True, text=True, timeout=RUN_SECONDS)
        ours = [row.split()[:5] for row in read(dump, path)[:-1]]
        theirs = [row.split() for row in told.stdout.splitlines()]
        assert len(ours) == 50
        for our, their in zip(ours, theirs, strict=True):
            their[1] = their[1].replace(".", "").lstrip("0")
            assert our == their


PEAK = """
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""


def peak_resident_kib(*command: str) -> int:
    """The most memory that a run of the command had resident, measured by a small parent."""
    measure = [sys.executable, "-c", PEAK, *command]
    return int(subprocess.run(measure, capture_output=True, check=True).stdout)


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("name", ["large.pcap", "large.pcap.gz"])
def test_memory_stays_flat_however_long_the_capture(dump: Path, tmp_path: Path, name: str) -> None:
    records = pcap_record(bytes(65_000)) * 200
    path = tmp_path / name
    data = pcap_header() + records * 20
    path.write_bytes(gzip.compress(data, 1) if path.suffix == ".gz" else data)
    assert len(data) > 240 << 20
    assert peak_resident_kib(str(dump), str(path)) < 120 << 10


def test_a_file_cut_while_it_is_being_read_is_an_error_with_both_sizes(
    dump: Path, tmp_path: Path
) -> None:
    path = tmp_path / "shrinking.pcap"
    path.write_bytes(pcap_header() + pcap_record(bytes(60)) * 400_000)
    size = path.stat().st_size
    with subprocess.Popen([str(dump), str(path)], stdout=subprocess.PIPE) as reader:
        assert reader.stdout is not None
        reader.stdout.read(1)  # it reads, and soon waits for the pipe
        os.truncate(path, 24 << 20)
        lines = reader.stdout.read().decode().splitlines()
        assert reader.wait(RUN_SECONDS) == 2
    assert lines[-1].endswith(
        f"the file was cut from {size} to {24 << 20} bytes while it was being read"
    )


SENDER = """
import socket, subprocess, sys
subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
command = [sys.argv[1], "-i", "lo", sys.argv[2]]
with subprocess.Popen(command, stderr=subprocess.PIPE) as reader:
    assert reader.stderr.readline() == b"listening\\n", reader.stderr.read()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        sender.bind(("127.0.0.1", 4791))
        for size in range(int(sys.argv[2])):
            sender.sendto(bytes(1000 * size), ("127.0.0.1", 4791))
sys.exit(reader.returncode)
"""


def run_apart(*command: str, namespaces: str) -> subprocess.CompletedProcess[bytes]:
    """Run in user and other namespaces of its own, as root there."""
    apart = ["unshare", "--user", "--map-root-user", *namespaces.split(), *command]
    return subprocess.run(apart, capture_output=True, timeout=RUN_SECONDS)


def test_live_packets_arrive_whole_until_the_capture_is_stopped(dump: Path) -> None:
    done = run_apart(sys.executable, "-c", SENDER, str(dump), "5", namespaces="--net")
    rows = [row.split() for row in lines_of(done)]
    sizes = [42 + 1000 * size for size in range(5)]
    assert [[int(row[0]), int(row[3]), int(row[4])] for row in rows[:-1]] == [
        [number, size, size] for number, size in enumerate(sizes, 1)
    ]
    times = [int(row[1]) for row in rows[:-1]]
    assert times == sorted(times)
    assert abs(times[0] / 1e9 - time.time()) < RUN_SECONDS


def test_live_capture_without_permission_names_the_command_that_gives_it(dump: Path) -> None:
    done = run_apart(str(dump), "-i", "lo", "1", namespaces="")
    assert lines_of(done) == [
        f"error: no permission to capture; run as root, or once: sudo setcap cap_net_raw+ep {dump}"
    ]


def test_live_capture_on_an_interface_that_is_not_there_says_so(dump: Path) -> None:
    done = run_apart(str(dump), "-i", "absent0", "1", namespaces="--net")
    assert lines_of(done) == ["error: No such device exists"]
