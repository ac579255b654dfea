# SPDX-License-Identifier: BSD-2-Clause
"""The C reader and the Python reader hand out the same packets, and give up at the same place."""

from __future__ import annotations

import gzip
import random
import subprocess
import zlib
from pathlib import Path

import pytest
from captures import BIG, LITTLE, Pcapng, pcap_header, pcap_record

from roceproof.conformance.capture.reader import CaptureError, Record, read

RUN_SECONDS = 60
MUTATIONS = 120
INTERESTING = (0, 1, 2, 4, 6, 11, 12, 13, 127, 255)


def line(record: Record) -> str:
    sizes = f"{len(record.frame)} {record.full_size} {record.fcs_bytes}"
    where = f"{record.number} {record.time_ns} {record.interface_index}"
    return f"{where} {sizes} {record.is_ethernet:d} {zlib.crc32(record.frame):08x}"


def by_python(path: Path) -> list[str]:
    lines = []
    try:
        for record in read(path):
            lines.append(line(record))
    except CaptureError:
        return [*lines, "error"]
    return [*lines, "end"]


def without_time(lines: list[str]) -> list[str]:
    """Damaged resolutions may leave less than 64 bits to a time stamp, and its last digit open."""
    words = [line.split() for line in lines]
    return [" ".join(row[:1] + row[2:]) for row in words]


def by_c(dump: Path, path: Path) -> list[str]:
    done = subprocess.run([str(dump), str(path)], capture_output=True, timeout=RUN_SECONDS)
    assert done.stderr == b""
    lines = done.stdout.decode(errors="replace").splitlines()
    return [*lines[:-1], lines[-1].partition(":")[0]]


def classic(rng: random.Random) -> bytes:
    order = rng.choice((LITTLE, BIG))
    magic = rng.choice((0xA1B2C3D4, 0xA1B23C4D))
    link = rng.choice((1, 1, 113, 1 | 1 << 26 | 2 << 28))
    data = pcap_header(order=order, magic=magic, link=link)
    for i in range(rng.randrange(6)):
        frame = rng.randbytes(rng.randrange(90))
        full = len(frame) + rng.choice((0, 0, 5, -3))
        data += pcap_record(frame, order=order, time=(i, 7 * i), full=max(0, full))
    return data


def blocks(rng: random.Random) -> bytes:
    data = b""
    for _ in range(rng.randrange(1, 3)):
        ng = Pcapng(order=rng.choice((LITTLE, BIG)))
        data += ng.section()
        resolution = bytes((rng.choice((3, 6, 9, 0x8A)),))
        data += ng.interface(c9=resolution, c13=bytes((rng.choice((0, 4)),)), c2=b"port")
        data += ng.interface(link=rng.choice((1, 113)), snap=40, c14=ng.pack("q", 5))
        for i in range(rng.randrange(6)):
            frame = rng.randbytes(rng.randrange(40))
            full = len(frame) + rng.choice((0, 9))
            data += rng.choice(
                (
                    ng.packet(frame, interface=i % 2, ticks=i << 30, full=full, c1=b"note"),
                    ng.packet(frame, ticks=i, c2=ng.pack("I", rng.choice((1, 2 << 5)))),
                    ng.simple_packet(frame),
                    ng.obsolete_packet(frame, interface=i % 2, ticks=i),
                    ng.block(5, rng.randbytes(8)),
                )
            )
    return data


def damaged(rng: random.Random, data: bytes) -> bytes:
    bent = bytearray(data)
    for _ in range(rng.randrange(4)):
        bent[rng.randrange(len(bent))] = rng.choice((*INTERESTING, rng.randrange(256)))
    return bytes(bent[: rng.randrange(len(bent) + 1)] if rng.random() < 0.4 else bent)


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("make", [classic, blocks])
def test_readers_agree_on_whole_and_on_damaged_captures(
    build: Path, tmp_path: Path, make: type, seed: int
) -> None:
    rng = random.Random(f"{make.__name__} {seed}")
    path = tmp_path / "capture"
    for number in range(MUTATIONS):
        whole = make(rng)
        data = whole if number % 4 == 0 else damaged(rng, whole)
        path.write_bytes(gzip.compress(data) if rng.random() < 0.2 else data)
        wanted, got = by_python(path), by_c(build / "checked" / "capture_dump", path)
        if data is not whole:
            wanted, got = without_time(wanted), without_time(got)
        assert got == wanted, f"seed {seed}, capture {number}: {data.hex()}"
