# SPDX-License-Identifier: BSD-2-Clause
"""docs/bring-your-own.md does what it says."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from example_bench import COMMAND

from roceproof.common.paths import REPOSITORY

DOCUMENT = (REPOSITORY / "docs" / "bring-your-own.md").read_text()
VARIABLE = re.compile(r"\d+ frames|\(vm, .*\)")


def block(language: str, start: str = "") -> str:
    """The document's first block of a language that starts so."""
    found = re.search(rf"^```{language}\n({start}.*?)^```", DOCUMENT, re.MULTILINE | re.DOTALL)
    assert found
    return found[1]


@pytest.mark.sim
def test_the_documents_program_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "examples").symlink_to(REPOSITORY / "examples")
    monkeypatch.chdir(tmp_path)
    exec(compile(block("python"), "bring-your-own.md", "exec"), {})
    assert (tmp_path / "run.pcapng").stat().st_size


@pytest.mark.sim
@pytest.mark.rxe
def test_the_example_writes_into_a_real_receiver_as_the_document_shows(tmp_path: Path) -> None:
    manifest = REPOSITORY / "examples" / "uc_writer" / "dut.toml"
    words = [COMMAND, "demo", "--short", "--dut", manifest, "--out", tmp_path / "out"]
    run = subprocess.run(words, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    shown = VARIABLE.sub("", block("", "service  path MTU"))
    assert VARIABLE.sub("", run.stdout).startswith(shown)
