# SPDX-License-Identifier: BSD-2-Clause
"""Commands that answer at once load only what they use, and start make only after a change."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from corrupted_captures import HEALTHY

from roceproof.cli.console.main import cli
from roceproof.conformance.check.build import TOOL, build_tool
from roceproof.conformance.check.stamp import is_current

HEAVY = {"rich", "scapy", "pytest", "jinja2", "numpy", "xml", "asyncio", "ssl", "tempfile"}
RUN = """
import sys
from roceproof.cli.entry import main
sys.argv = ["roceproof", *sys.argv[1:]]
try:
    main()
finally:
    print(*sorted(sys.modules), file=sys.stderr)
"""


def loaded(*words: str) -> set[str]:
    """The modules that a command had loaded at its end."""
    run = subprocess.run([sys.executable, "-c", RUN, *words], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return set(run.stderr.splitlines()[-1].split())


@pytest.mark.parametrize(
    "words",
    [
        ("check", str(HEALTHY)),
        ("check", "-q", str(HEALTHY)),
        ("check", "--json", str(HEALTHY)),
        ("rules",),
        ("rules", "PSN-02"),
        ("--version",),
        ("--help",),
    ],
    ids=" ".join,
)
def test_what_answers_at_once_loads_nothing_heavy(words: tuple[str, ...]) -> None:
    assert not {name.partition(".")[0] for name in loaded(*words)} & HEAVY


def test_a_check_that_finds_nothing_loads_nothing_that_tells_findings() -> None:
    told = {
        "roceproof.conformance.check.groups",
        "roceproof.conformance.check.group_text",
        "roceproof.conformance.check.json_document",
    }
    assert not loaded("check", str(HEALTHY)) & told
    assert loaded("check", "--json", str(HEALTHY)) & told == {
        "roceproof.conformance.check.json_document"
    }


def test_a_command_loads_no_other_command() -> None:
    commands = {f"roceproof.cli.{name.partition('-')[0]}" for name in cli.names}
    assert loaded("check", str(HEALTHY)) & commands == {"roceproof.cli.check"}


@pytest.fixture
def build(tmp_path: Path) -> Path:
    """A build of one's own, and current."""
    ignored = shutil.ignore_patterns("checked", ".lock")
    copy = shutil.copytree(build_tool().parent, tmp_path / "pcap", ignore=ignored)
    build_tool.__wrapped__(copy)
    assert is_current(copy)
    return copy


def test_a_current_oracle_is_used_without_make(build: Path, monkeypatch) -> None:
    monkeypatch.setenv("PATH", "")
    assert build_tool.__wrapped__(build) == build / TOOL


def test_any_change_of_a_source_or_a_product_is_left_to_make(build: Path, monkeypatch) -> None:
    os.utime(build / "packet" / "packet.o")
    assert not is_current(build)
    build_tool.__wrapped__(build)
    assert is_current(build)
    monkeypatch.setattr("roceproof.conformance.check.stamp._TABLE", Path(__file__))
    assert not is_current(build)


def test_a_tool_whose_bytes_changed_behind_its_back_is_not_current(build: Path) -> None:
    tool = build / TOOL
    status = tool.stat()
    content = bytearray(tool.read_bytes())
    content[-1] ^= 1
    tool.write_bytes(content)
    os.utime(tool, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert not is_current(build)
