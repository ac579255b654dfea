# SPDX-License-Identifier: BSD-2-Clause
"""Every fuzz target survives its seed corpus, sanitized; and a target that fails is heard."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from roceproof.common.lock import locked

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "fuzz"
CHECKED = ROOT / "build" / "pcap"
BUILD_SECONDS = 300
WIRE = ROOT / "dpi" / "sv"
FAULTS_OF_XGMII = {
    "believes-errors": ("sink", "is_last && is_bad_q", "1'b0"),
    "takes-any-fcs": ("sink", "crc_q != Residue", "1'b0"),
    "forgets-a-beat": ("sink", "beats.size() != 0;", "beats.size() > 1;"),
    "has-no-gap": ("source", "Gap - MostDeficit + deficit_q", "Gap - MostDeficit"),
    "spoils-wrongly": ("source", "? Error :", "&& frame.size() < 100 ? Error :"),
}
RUN_SECONDS = 60
TARGETS = sorted(path.stem.removeprefix("fuzz_") for path in (ROOT / "fuzz").glob("fuzz_*.c*"))


@pytest.fixture(scope="module", autouse=True)
def built() -> None:
    command = ["make", "-s", "-C", str(ROOT / "fuzz"), f"BUILD={BUILD}", f"CHECKED={CHECKED}"]
    with locked(CHECKED / ".lock", "builds the fuzz targets"):
        done = subprocess.run(command, capture_output=True, text=True, timeout=BUILD_SECONDS)
    assert done.returncode == 0, done.stderr


def replay(target: str, *paths: Path) -> subprocess.CompletedProcess[str]:
    command = [str(BUILD / f"replay-{target}"), *map(str, paths)]
    return subprocess.run(command, capture_output=True, text=True, timeout=RUN_SECONDS)


@pytest.mark.parametrize("target", TARGETS)
def test_every_target_survives_its_seeds(target: str) -> None:
    seeds = sorted((BUILD / "corpus" / target).iterdir())
    done = replay(target, *seeds)
    assert (done.returncode, done.stdout) == (0, f"{len(seeds)} inputs\n"), done.stderr
    assert len(seeds) > 10


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize("target", TARGETS)
def test_every_target_survives_every_seed_cut_and_bent(target: str, tmp_path: Path) -> None:
    paths = []
    for seed in sorted((BUILD / "corpus" / target).iterdir()):
        data = seed.read_bytes()
        for at in range(0, len(data), max(1, len(data) // 40)):
            cut, bent = tmp_path / f"{seed.name}-{at}", tmp_path / f"{seed.name}+{at}"
            cut.write_bytes(data[:at])
            bent.write_bytes(data[:at] + bytes([data[at] ^ 0xFF]) + data[at + 1 :])
            paths += [cut, bent]
    done = replay(target, *paths)
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("name", FAULTS_OF_XGMII)
def test_an_xgmii_that_reads_or_says_otherwise_is_found_by_a_seed(
    name: str, tmp_path: Path
) -> None:
    half, right, wrong = FAULTS_OF_XGMII[name]
    text = (WIRE / f"roceproof_xgmii_{half}.sv").read_text()
    assert text.count(right) == 1
    faulty = tmp_path / f"roceproof_xgmii_{half}.sv"
    faulty.write_text(text.replace(right, wrong))
    files = [
        faulty if of == f"_{half}" else WIRE / f"roceproof_xgmii{of}.sv"
        for of in ("_pkg", "_source", "_sink", "")
    ]
    wire = " ".join(map(str, [WIRE / "bridge.vlt", *files]))
    program = tmp_path / "replay-xgmii"
    command = ["make", "-s", "-C", str(ROOT / "fuzz"), f"BUILD={tmp_path}", f"WIRE={wire}"]
    subprocess.run([*command, str(program)], check=True, timeout=BUILD_SECONDS)
    ended = {
        seed.name
        for seed in (BUILD / "corpus" / "xgmii").iterdir()
        if subprocess.run([program, seed], capture_output=True, timeout=RUN_SECONDS).returncode < 0
    }
    assert ended


def test_a_broken_promise_ends_a_replay_with_a_signal(tmp_path: Path) -> None:
    target = tmp_path / "broken.c"
    target.write_text(
        '#include "target.h"\n'
        "int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {\n"
        "    demand(size == 0 || data[0] != 'x');\n    return 0;\n}\n"
    )
    program, good, bad = tmp_path / "broken", tmp_path / "good", tmp_path / "bad"
    sources = [str(target), str(ROOT / "fuzz" / "replay.c")]
    command = ["gcc", "-std=c11", f"-I{ROOT / 'fuzz'}", *sources, "-o", str(program)]
    subprocess.run(command, check=True, timeout=BUILD_SECONDS)
    good.write_bytes(b"y")
    bad.write_bytes(b"x")
    assert subprocess.run([program, good], capture_output=True).returncode == 0
    assert subprocess.run([program, good, bad], capture_output=True).returncode < 0
