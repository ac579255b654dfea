# SPDX-License-Identifier: BSD-2-Clause
"""The C oracle against the worked vectors, and against Python on hostile frames."""

from __future__ import annotations

import json
import random
import subprocess
from pathlib import Path

import pytest

from roceproof.conformance.wire import icrc
from roceproof.conformance.wire.icrc import Judgement

ROOT = Path(__file__).resolve().parents[2]
VECTORS = json.loads((ROOT / "conformance" / "vectors" / "icrc.json").read_text())
RUN_SECONDS = 30


@pytest.fixture(scope="module")
def tool(build: Path) -> Path:
    """The sanitized build of the command-line tool."""
    return build / "checked" / "roce-icrc"


def run(tool: Path, text: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(tool)], input=text, capture_output=True, text=True, timeout=RUN_SECONDS
    )


def verdict_lines(tool: Path, frames: list[bytes]) -> list[str]:
    done = run(tool, "".join(f"{frame.hex()}\n" for frame in frames))
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def python_line(frame: bytes) -> str:
    judgement, found, computed = icrc.check(frame)
    if found is None or computed is None:
        return str(judgement)
    return f"{judgement} {found.hex()} {computed.hex()}"


def bend(rng: random.Random, frame: bytes) -> bytes:
    """One random edit of the kind that a broken sender or a hostile one makes."""
    bent = bytearray(frame)
    match rng.randrange(6):
        case 0:
            bent[rng.randrange(len(bent))] = rng.randrange(256)
        case 1:
            bent[rng.randrange(12, 48)] ^= 1 << rng.randrange(8)
        case 2:
            del bent[rng.randrange(len(bent)) :]
        case 3:
            bent += rng.randbytes(rng.randrange(1, 20))
        case 4:
            bent[12:12] = bytes.fromhex(rng.choice(["81000001", "88a80fff", "9100ffff"]))
        case 5:
            at = rng.choice([16, 18, 38, 58])
            bent[at : at + 2] = rng.randrange(80).to_bytes(2, "big")
    return bytes(bent)


def test_all_vectors_are_accepted_with_the_worked_value(tool: Path) -> None:
    lines = verdict_lines(tool, [bytes.fromhex(v["frame"]) for v in VECTORS])
    assert lines == [f"ok {v['icrc']} {v['icrc']}" for v in VECTORS]


def test_c_and_python_agree_on_bent_frames(tool: Path) -> None:
    rng = random.Random(0x1C2C)
    frames = []
    for _ in range(6000):
        frame = bytes.fromhex(rng.choice(VECTORS)["frame"])
        for _ in range(rng.randrange(1, 4)):
            frame = bend(rng, frame) if len(frame) > 60 else frame
        frames.append(frame)
    wanted = [python_line(frame) for frame in frames]
    for index, (got, want) in enumerate(zip(verdict_lines(tool, frames), wanted, strict=True)):
        assert got == want, f"frame {index}: {frames[index].hex()}"
    seen = {line.split()[0] for line in wanted}
    assert seen == {str(judgement) for judgement in Judgement}


def test_every_payload_length_and_alignment_agrees(tool: Path) -> None:
    template = bytes.fromhex(VECTORS[0]["frame"])
    frames = []
    for length in [*range(0, 260, 4), 1024, 4096]:
        frame = bytearray(template[:70] + random.Random(length).randbytes(length) + bytes(4))
        frame[16:18] = (60 + length).to_bytes(2, "big")
        frame[38:40] = (40 + length).to_bytes(2, "big")
        frames.append(icrc.reseal(bytes(frame)))
    for line in verdict_lines(tool, frames):
        assert line.startswith("ok "), line


@pytest.mark.parametrize("text", ["0g\n", "abc\n", "00 1\n"])
def test_a_line_that_is_not_hex_stops_with_its_number(tool: Path, text: str) -> None:
    done = run(tool, "00\n" + text)
    assert done.returncode == 2
    assert done.stderr == "line 2: not an even number of hex digits\n"
    assert done.stdout == "not-roce\n"
