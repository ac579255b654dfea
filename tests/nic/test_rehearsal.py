# SPDX-License-Identifier: BSD-2-Clause
"""The whole kit without a card: guests as NICs, from the doctor to the matrix, by one command."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from roceproof.common.errors import Skipped
from roceproof.conformance.demo.tap import require_tap

ROCEPROOF = str(Path(sys.executable).parent / "roceproof")
CAPTURE = Path(__file__).parents[1] / "captures" / "rxe" / "write.pcapng.gz"
DIFFERS = "a_write_first_of_no_bytes_is_refused"
FEW = "test_responder_psn and duplicate"


def rehearse(out: Path, *words: str) -> str:
    try:
        require_tap()
    except Skipped as reason:
        pytest.skip(str(reason))
    command = [ROCEPROOF, "nic", "rehearse", "-q", "--out", str(out), *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_what_goes_wrong_inside_is_told_in_a_line() -> None:
    command = [
        sys.executable,
        "-P",
        "-m",
        "roceproof.conformance.nic.rehearsal",
        "/no/kernel,/no/modules",
        "--",
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert done.stderr.startswith("roceproof: ")
    assert done.stderr.count("\n") == 1


@pytest.mark.rxe
def test_a_guest_is_taken_for_a_card(tmp_path: Path) -> None:
    said = rehearse(tmp_path, "distribution", "-k", FEW, "--replay", str(CAPTURE))
    assert "ok    ping " in said
    assert "15 requests to 1 queue pairs: as the model" in said
    (folder,) = [path for path in tmp_path.iterdir() if path.is_dir()]
    results = json.loads((folder / "results.json").read_text())
    assert results["target"] == "nic"
    assert results["made_of"]["nic kernel"] == folder.name
    assert "passed" in {case["outcome"] for case in results["cases"]}
    assert any("duplicate_request+" in " ".join(c.get("counters", ())) for c in results["cases"])
    (column,) = json.loads((tmp_path / "devices.json").read_text())["devices"]
    assert column["release"] == folder.name
    assert "undeclared" not in {cell["verdict"] for cell in column["rules"].values()}


@pytest.mark.rxe
@pytest.mark.slow  # the test above is the same with one guest
def test_two_guests_with_different_kernels_are_two_cards(tmp_path: Path) -> None:
    words = ["-k", f"({FEW}) or {DIFFERS}", "--suite", "full", "--replay", str(CAPTURE)]
    said = rehearse(tmp_path, "6.1", "6.12", *words)
    assert said.count("as the model") == 2
    columns = json.loads((tmp_path / "devices.json").read_text())["devices"]
    assert [column["name"] for column in columns] == ["Linux 6.1", "Linux 6.12"]
    for column in columns:
        assert not {"failed", "not_reached", "error"} & column["cases"].keys()
    assert "  Linux 6.1: deviates (rxe-empty-write-first)\n  Linux 6.12: conforms\n" in said
