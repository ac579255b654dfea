# SPDX-License-Identifier: BSD-2-Clause
"""The MAC's bench: its line, written and read lane by lane, and its client's frames.

What is written here knows 802.3 by itself; the FCS is zlib's.
"""

from __future__ import annotations

import functools
import subprocess
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from module_bench import BUILD_SECONDS, REPOSITORY, RTL, RUN_SECONDS, SHARED, line

from roceproof.common.lock import locked

IDLE, START, TERMINATE, ERROR, ORDERED = 0x107, 0x1FB, 0x1FD, 0x1FE, 0x19C
PREAMBLE = [START, *[0x55] * 6, 0xD5]
LANES = 8
FIRST_CYCLE = 6  # of the bench in which it says the first column
OWN_MAC = bytes.fromhex("020000000001")
WAIVERS = ["lint/packages.vlt", "lint/benches.vlt"]
FOLDERS = ["mac", "icrc", "common", "helpers"]
PACKAGES = ["icrc/crc32_matrix_pkg.sv", "mac/xgmii_pkg.sv"]


def with_fcs(frame: bytes) -> bytes:
    return frame + zlib.crc32(frame).to_bytes(4, "little")


@dataclass
class Line:
    """What is said to the MAC, a lane after the other, and in which cycles its client is deaf.

    `ends` has the cycles in which something ended.
    """

    lanes: list[int] = field(default_factory=list)
    deaf: set[int] = field(default_factory=set)
    ends: list[int] = field(default_factory=list)

    @property
    def cycle(self) -> int:
        return len(self.lanes) // LANES

    def idle(self, count: int) -> None:
        self.lanes += [IDLE] * count

    def say(self, body: Iterable[int], *, lane: int | None = None, gap: int = 9) -> None:
        """Say lanes as they are, from this lane on and behind so many idle ones."""
        self.idle(gap)
        while lane is not None and len(self.lanes) % LANES != lane:
            self.idle(1)
        self.lanes += body
        self.ends.append((len(self.lanes) - 1) // LANES)

    def frame(self, frame: bytes, *, lane: int | None = 0, gap: int = 9) -> None:
        self.say([*PREAMBLE, *with_fcs(frame), TERMINATE], lane=lane, gap=gap)

    def listen(self, *, until: int) -> None:
        """Idle to that cycle."""
        self.idle(LANES * until - len(self.lanes))

    def text(self) -> str:
        self.idle(-len(self.lanes) % LANES)
        rows = []
        for cycle in range(self.cycle):
            column = self.lanes[LANES * cycle :][:LANES]
            control = sum((each >> 8) << lane for lane, each in enumerate(column))
            data = bytes(each & 0xFF for each in column)[::-1].hex()
            rows.append(f"{cycle not in self.deaf:d} {control:02x} {data}\n")
        return "".join(rows)


@dataclass(frozen=True)
class Sent:
    """A frame of the client; its class, and whether it is to be told that it has left."""

    data: bytes
    priority: int = 0
    mark: bool = True


@dataclass(frozen=True)
class Heard:
    """A frame on the MAC's line with its FCS; the lanes of its Start and its Terminate."""

    data: bytes
    start: int
    end: int


@dataclass
class Log:
    """What came of the MAC, in the cycles of the line that it heard."""

    lanes: dict[int, list[int]] = field(default_factory=dict)
    left: list[int] = field(default_factory=list)
    received: list[bytes] = field(default_factory=list)

    def frames(self) -> Iterator[Heard]:
        """The frames of its line; any other lane than theirs has to be idle."""
        body: list[int] | None = None
        start = before = 0
        for cycle, column in sorted(self.lanes.items()):
            assert body is None or cycle == before + 1, f"cycle {cycle}: idle in a frame"
            before = cycle
            for lane, each in enumerate(column):
                at = LANES * cycle + lane
                if body is None:
                    assert each in (IDLE, START), f"lane {at}: {each:#x} between frames"
                    if each == START:
                        assert lane in (0, 4), f"lane {at}: a frame begins"
                        start, body = at, [each]
                elif each == TERMINATE:
                    assert body[: len(PREAMBLE)] == PREAMBLE, f"lane {start}: preamble"
                    yield Heard(bytes(body[len(PREAMBLE) :]), start, at)
                    body = None
                else:
                    assert each < 0x100, f"lane {at}: {each:#x} in a frame"
                    body.append(each)
        assert body is None, "the last frame has no end"


def read_log(path: Path) -> Log:
    log = Log()
    frame = b""
    for row in path.read_text().splitlines():
        at, control, data, left, last, keep, beat = row.split()
        cycle = int(at) - FIRST_CYCLE
        values = bytes.fromhex(data)[::-1]
        bits = int(control, 16)
        log.lanes[cycle] = [(bits >> n & 1) << 8 | each for n, each in enumerate(values)]
        log.left += [cycle] * int(left)
        kept = int(keep, 16)
        assert kept & (kept + 1) == 0, f"cycle {cycle}: tkeep {keep}"
        frame += bytes.fromhex(beat)[::-1][: kept.bit_count()]
        if last == "1":
            log.received.append(frame)
            frame = b""
    assert not frame, "what the client took has no end"
    return log


@functools.cache
def build(*sources: Path, name: str = "mac_tb") -> Path:
    """The bench with the MAC of `rtl/`, or of these sources, which need not be clean."""
    directory = REPOSITORY / "build" / "rtl" / name
    found = [*map(str, sources)] or [
        *(word for each in FOLDERS for word in ("-y", each)),
        *PACKAGES,
    ]
    command = ["verilator", "--binary", "--timing", "--assert", "-j", "2"]
    command += ["-Wno-lint" if sources else "-Wall", "-CFLAGS", "-std=c++20 -O1"]
    command += ["--top-module", "mac_tb", "--Mdir", str(directory)]
    command += ["-y", "test", *WAIVERS, *found, "test/mac_tb.sv", *SHARED]
    with locked(directory.with_suffix(".lock"), "builds the bench of the MAC"):
        directory.mkdir(parents=True, exist_ok=True)
        done = subprocess.run(
            command, cwd=RTL, capture_output=True, text=True, timeout=BUILD_SECONDS, check=False
        )
    assert done.returncode == 0, done.stdout + done.stderr
    return directory / "Vmac_tb"


def play(
    binary: Path,
    folder: Path,
    *,
    heard: Line | None = None,
    sent: Sequence[Sent] = (),
    cycles: int,
    plusargs: Sequence[str] = (),
) -> Log:
    """Play a line and the client's frames, and what came of it."""
    files = {
        "line": (heard or Line()).text(),
        "sent": "".join(f"{8 * each.mark + each.priority} 0 {line(each.data)}" for each in sent),
        "log": "",
    }
    command = [str(binary), f"+cycles={cycles}", *(f"+{each}" for each in plusargs)]
    for name, text in files.items():
        (folder / name).write_text(text)
        command.append(f"+{name}={folder / name}")
    done = subprocess.run(command, capture_output=True, text=True, timeout=RUN_SECONDS, check=False)
    assert done.returncode == 0 and "PASS" in done.stdout, done.stdout + done.stderr
    return read_log(folder / "log")
