# SPDX-License-Identifier: BSD-2-Clause
"""The helpers that wrappers put between a core and the DUT contract (rtl/helpers)."""

from __future__ import annotations

import random
import shutil
import subprocess
from pathlib import Path

import pytest
from module_bench import BUILD_SECONDS, REPOSITORY, RTL, RUN_SECONDS, SHARED, Bench, Played

from roceproof.common.lock import locked

MIN_BYTES = 60
WIDTHS = [64, pytest.param(512, marks=pytest.mark.slow)]
WAIVERS = [f"lint/{name}.vlt" for name in ("packages", "records", "benches")]

pytestmark = [
    pytest.mark.sim,
    pytest.mark.skipif(
        shutil.which("verilator") is None,
        reason="verilator is not installed: run `make setup`",
    ),
]


def build(top: str, *options: str, name: str, packages: tuple[str, ...] = ()) -> Path:
    directory = REPOSITORY / "build" / "rtl" / name
    command = ["verilator", "--binary", "--timing", "--assert", "-Wall", "-j", "2"]
    command += ["-CFLAGS", "-std=c++20 -O1", "--top-module", top, "--Mdir", str(directory)]
    command += ["-y", "helpers", "-y", "test", *options, *WAIVERS, *packages]
    command += [f"test/{top}.sv", *SHARED]
    with locked(directory.with_suffix(".lock"), "builds the benches of the helpers"):
        directory.mkdir(parents=True, exist_ok=True)
        done = subprocess.run(
            command, cwd=RTL, capture_output=True, text=True, timeout=BUILD_SECONDS, check=False
        )
    assert done.returncode == 0, done.stdout + done.stderr
    return directory / f"V{top}"


@pytest.fixture(scope="module", params=WIDTHS)
def built(request: pytest.FixtureRequest) -> tuple[Path, int]:
    width = request.param
    name = f"stream_helpers_tb_{width}"
    return build("stream_helpers_tb", f"-GDataWidth={width}", name=name), width


@pytest.mark.parametrize(("gap", "stall"), [(0, 0), (40, 0), (0, 60), (50, 50)])
def test_frames_that_begin_in_any_lane_come_out_whole_and_padded(
    built: tuple[Path, int], gap: int, stall: int, tmp_path: Path
) -> None:
    binary, width = built
    rng = random.Random(gap * 100 + stall)
    lanes = width // 8
    lengths = [*range(1, 2 * lanes + 2), 59, 60, 61, *(rng.randrange(1, 300) for _ in range(60))]
    frames = [Played(rng.randbytes(size), sideband=rng.randrange(lanes)) for size in lengths]
    Bench(binary, width, tmp_path).run(
        play={"helpers_in": frames},
        expect={"helpers_out": [each.data.ljust(MIN_BYTES, b"\0") for each in frames]},
        gap=gap,
        stall=stall,
    )


def test_peers_are_known_and_messages_complete_as_their_answers_say() -> None:
    packages = ("roceproof_dut_pkg.sv",)
    binary = build("endpoint_helpers_tb", name="endpoint_helpers_tb", packages=packages)
    done = subprocess.run(
        [str(binary)], capture_output=True, text=True, timeout=RUN_SECONDS, check=False
    )
    assert done.returncode == 0 and "PASS" in done.stdout, done.stdout + done.stderr
