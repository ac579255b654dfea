# SPDX-License-Identifier: BSD-2-Clause
"""How long `roceproof explain` takes for a capture of 1 GiB, and how much memory.

Each capture is tried as it is, with one fault in every ICRC (S01, the TTL is not masked), and with
ICRCs that nothing explains. It is read once beforehand: the disk is not measured. Ends with 1 if a
verdict is another than that or a bar is missed.
"""

import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from records import BENCH, FILE_HEADER_BYTES, records

from roceproof.common.outcome import end_with
from roceproof.conformance.faults.icrc.catalogue import engine_of

SHAPES = ("large", "middle")
MOST_MEGABYTES = 300


@dataclass(frozen=True)
class Kind:
    """What becomes of every frame, what is due to be said of that, and within which time."""

    name: str
    edit: Callable[[bytes], bytes] | None
    verdicts: frozenset[str]
    seconds: float


def _unexplained() -> Callable[[bytes], bytes]:
    source = random.Random(1)
    return lambda frame: frame[:-4] + source.randbytes(4)


KINDS = (
    Kind("healthy", None, frozenset(), 5),
    Kind("S01", lambda frame: engine_of("S01").transmit(0, frame), frozenset({"S01"}), 10),
    Kind("undecided", _unexplained(), frozenset({"undecided"}), 5),
)


def written(shape: str, kind: Kind) -> Path:
    healthy = BENCH / f"{shape}.pcap"
    path = BENCH / f"{shape}-{kind.name}.pcap"
    if kind.edit is None or path.exists():
        return path if kind.edit else healthy
    print(f"writing {path}", file=sys.stderr)
    part = path.with_suffix(".part")
    with healthy.open("rb") as whole, part.open("wb") as file:
        file.write(whole.read(FILE_HEADER_BYTES))
        for header, frame in records(healthy):
            file.write(header + kind.edit(frame))
    part.rename(path)
    return path


def _read(path: Path) -> None:
    with path.open("rb", buffering=0) as file:
        while file.read(1 << 20):
            pass


def measured(path: Path) -> tuple[frozenset[str], float, float, float]:
    """Verdicts, seconds by the clock and of processor, megabytes of the largest process."""
    start = time.perf_counter()
    command = ("roceproof", "explain", "--json", path)
    with subprocess.Popen(command, stdout=subprocess.PIPE) as child:
        assert child.stdout
        document = json.load(child.stdout)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    seconds = time.perf_counter() - start
    verdicts = frozenset(each["id"] for each in document["diagnoses"])
    return verdicts, seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1000


def main() -> int:
    """Measure all captures; 1 if a verdict is wrong or a bar missed."""
    missed = 0
    print(f"{'':18} {'seconds':>8} {'bar':>4} {'processor':>10} {'largest MB':>11}  said")
    for shape in SHAPES:
        for kind in KINDS:
            path = written(shape, kind)
            _read(path)
            verdicts, seconds, processor, megabytes = measured(path)
            late = seconds > kind.seconds or megabytes > MOST_MEGABYTES
            missed += late or verdicts != kind.verdicts
            print(
                f"{shape:8}{kind.name:10} {seconds:8.1f} {kind.seconds:4} {processor:10.1f}"
                f" {megabytes:11.0f}  {' '.join(sorted(verdicts)) or 'nothing'}"
            )
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
    return 1 if missed else 0


if __name__ == "__main__":
    end_with(main)
