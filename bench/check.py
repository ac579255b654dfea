# SPDX-License-Identifier: BSD-2-Clause
"""How fast captures are checked, beside the bare limit, tshark and Scapy in the same run.

The limit maps the file and runs the CRC of libdeflate over each packet; beside it stands the same
with the CRC of roce-check, where the processor lets it have its own. tshark only prints PSNs; Scapy
rebuilds each packet with its ICRC. Both are given the first packets of the capture where all
would take too long, and tshark's start-up is not held against it. Rounds alternate, so that a slow
moment of the machine hits all, and the best counts; so does processor time. What takes a tenth of a
second only is run more often. What two workers gain
is the clock's to say: it stands beside what the limit gains from two, and has a bar only where that
shows that there were two processors to be had. Ends with 1 if a bar is missed.
"""

import argparse
import json
import os
import resource
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from records import BENCH, FILE_HEADER_BYTES, records
from scapy.contrib.roce import BTH
from scapy.layers.l2 import Ether
from scapy.packet import Packet

from roceproof.common.outcome import end_with
from roceproof.common.paths import BUILD

CHECK = BUILD / "pcap" / "roce-check"
_TSHARK = ("tshark", "-T", "fields", "-e", "infiniband.bth.psn", "-r")


@dataclass(frozen=True)
class Shape:
    """A capture, how much of it the slow tools get, and the bars."""

    name: str
    tshark_packets: int
    scapy_packets: int
    over_tshark: float
    of_limit: float

    @property
    def path(self) -> Path:
        return BENCH / f"{self.name}.pcap"


SHAPES = (
    Shape("large", 60_000, 500, 40, 0.9),
    Shape("small", 200_000, 500, 80, 0.5),
)
TWICE = 1.7
"""What two workers must gain where the limit gains as much."""
PER_ROUND = 4
"""Runs of what is quick."""


@dataclass
class Row:
    """One contender: its work, its best time, and what it worked on."""

    label: str
    run: Callable[[], float]
    packets: int
    bytes: int
    less: float = 0.0
    is_quick: bool = True
    times: list[float] = field(default_factory=list)

    @property
    def seconds(self) -> float:
        """The best time, without start-up."""
        return min(self.times) - self.less

    @property
    def packets_per_s(self) -> float:
        return self.packets / self.seconds

    @property
    def gbps(self) -> float:
        """Gigabits of the file per second."""
        return self.bytes * 8e-9 / self.seconds


def processor_seconds(*command: str | Path) -> float:
    """Processor time of a command that must succeed; what it prints is dropped."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def clock_seconds(*command: str | Path) -> float:
    """Time that passes while a command runs."""
    start = time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - start


def cut(shape: Shape, packets: int) -> Path:
    """The capture's first packets as a file."""
    path = BENCH / f"{shape.name}-{packets}.pcap"
    with shape.path.open("rb") as whole, path.open("wb") as part:
        part.write(whole.read(FILE_HEADER_BYTES))
        for _, (header, frame) in zip(range(packets), records(shape.path), strict=False):
            part.write(header + frame)
    return path


def scapy_seconds(frames: list[bytes]) -> float:
    """Processor time in which Scapy finds every frame's ICRC right."""
    start = time.process_time()
    for frame in frames:
        packet: Packet = Ether(frame)
        packet[BTH].icrc = None
        if bytes(packet)[-4:] != frame[-4:]:
            raise SystemExit("Scapy finds a wrong ICRC in the bench's capture")
    return time.process_time() - start


def summary(path: Path) -> dict[str, object]:
    """What roce-check counts; a bench of wrong verdicts would be worth nothing."""
    done = subprocess.run([CHECK, path], capture_output=True, text=True, check=True)
    document: dict[str, object] = json.loads(done.stdout.splitlines()[-1])
    frames = document["frames"]
    if document["icrc"] != {"ok": frames, "bad": 0, "unchecked": 0} or document["rules"]:
        raise SystemExit(f"roce-check finds faults in {path}: {document}")
    return document


def settle(path: Path) -> None:
    """Have the capture in memory as reading it from a disk leaves it, in large pieces."""
    with path.open("rb") as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        while file.read(1 << 24):
            pass


def contenders(shape: Shape) -> dict[str, Row]:
    """All rows of one capture, not yet run."""
    settle(shape.path)
    size, packets = shape.path.stat().st_size, int(str(summary(shape.path)["frames"]))
    slice_path = cut(shape, shape.tshark_packets)
    scapy_path = cut(shape, shape.scapy_packets)
    frames = [frame for _, frame in records(scapy_path)]
    none = cut(shape, 0)
    start_up = min(processor_seconds(*_TSHARK, none) for _ in range(3))
    whole = (packets, size)
    tshark = (shape.tshark_packets, slice_path.stat().st_size)
    scapy = (shape.scapy_packets, scapy_path.stat().st_size)
    return {
        "limit": Row(
            "bare limit", lambda: processor_seconds(BENCH / "bare_limit", shape.path), *whole
        ),
        "own": Row(
            "limit, own CRC",
            lambda: processor_seconds(BENCH / "bare_limit", shape.path, "1", "own"),
            *whole,
        ),
        "one": Row("roce-check", lambda: processor_seconds(CHECK, shape.path), *whole),
        **{
            f"{name} {workers}": Row(
                f"{label} -j {workers}", lambda command=command: clock_seconds(*command), *whole
            )
            for workers in (1, 2)
            for name, label, command in (
                ("limit", "bare limit", (BENCH / "bare_limit", shape.path, str(workers))),
                ("check", "roce-check", (CHECK, "-j", str(workers), shape.path)),
            )
        },
        "tshark": Row(
            f"tshark ({shape.tshark_packets})",
            lambda: processor_seconds(*_TSHARK, slice_path),
            *tshark,
            less=start_up,
            is_quick=False,
        ),
        "scapy": Row(
            f"Scapy ({shape.scapy_packets})",
            lambda: scapy_seconds(frames),
            *scapy,
            is_quick=False,
        ),
    }


def print_table(shape: Shape, rows: dict[str, Row], rounds: int) -> None:
    packets, size = rows["limit"].packets, rows["limit"].bytes
    print(f"{shape.name}: {packets} packets, {size / 1e9:.2f} GB, best of {rounds}")
    print(f"  {'':16} {'packets/s':>12} {'Gb/s':>9} {'/ limit':>8} {'/ tshark':>9}")
    for row in rows.values():
        of_limit = row.packets_per_s / rows["limit"].packets_per_s
        of_tshark = row.packets_per_s / rows["tshark"].packets_per_s
        print(
            f"  {row.label:16} {row.packets_per_s:12,.0f} {row.gbps:9.3f}"
            f" {of_limit:8.3f} {of_tshark:9.2f}"
        )


def misses(shape: Shape, rows: dict[str, Row]) -> Iterator[str]:
    """The bars that are missed, and a word on each that is met."""
    one = rows["one"].packets_per_s
    bars = [
        ("times tshark", one / rows["tshark"].packets_per_s, shape.over_tshark),
        ("of the limit", one / rows["limit"].packets_per_s, shape.of_limit),
    ]
    limit, check = (gain_of_two(rows, name) for name in ("limit", "check"))
    print(f"  two workers: the limit gains {limit:.2f}, roce-check {check:.2f}")
    if limit >= TWICE:
        bars.append(("of one worker's rate with two", check, TWICE))
    for what, got, bar in bars:
        print(f"  {got:.2f} {what}; bar {bar:g}: {'met' if got >= bar else 'MISSED'}")
        if got < bar:
            yield f"{shape.name}: {got:.2f} {what} is below {bar:g}"


def gain_of_two(rows: dict[str, Row], name: str) -> float:
    """How many times as fast two workers are by the clock."""
    return rows[f"{name} 2"].packets_per_s / rows[f"{name} 1"].packets_per_s


def main() -> int:
    """Measure both captures; 1 if a bar is missed."""
    parser = argparse.ArgumentParser(description="Speed of checking captures")
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    missed: list[str] = []
    for shape in SHAPES:
        rows = contenders(shape)
        for _ in range(options.rounds):
            for turn in range(PER_ROUND):
                for row in rows.values():
                    if row.is_quick or turn == 0:
                        row.times.append(row.run())
        print_table(shape, rows, options.rounds)
        missed += misses(shape, rows)
    return 1 if missed else 0


if __name__ == "__main__":
    end_with(main)
