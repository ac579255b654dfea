# SPDX-License-Identifier: BSD-2-Clause
"""The Wireshark plugin survives mutated conversations; one that errs or misjudges is found."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from roceproof.common.paths import REPOSITORY

PLUGIN = REPOSITORY / "pcap" / "wireshark" / "roceproof.lua"

pytestmark = pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed")


def fuzz(keep: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(REPOSITORY / "fuzz" / "plugin.py"), "--keep", str(keep), *words]
    return subprocess.run(command, capture_output=True, text=True)


def test_mutated_conversations_raise_no_lua_error_and_keep_their_verdicts(tmp_path: Path) -> None:
    done = fuzz(tmp_path)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    assert "of 2 captures" in done.stdout and not [*tmp_path.iterdir()]


@pytest.mark.parametrize(
    ("right", "wrong", "words"),
    [
        ("if size < ip + 20 then", "if size < ip + 4 then", "Lua error"),
        ("#bytes >= body + 16 and", "true and", "Lua error"),
        ("if size < ETHERNET then", "if size < 0 then", "Lua error"),
        ("packet.finish = sound and not packet.fragment and finish", "packet.finish = finish", ""),
        ("size >= ip + 4 do", "ip < 18 do", "ICRC ''"),
    ],
)
def test_a_plugin_that_errs_or_misjudges_is_found(
    right: str, wrong: str, words: str, tmp_path: Path
) -> None:
    plugin = tmp_path / "roceproof.lua"
    text = PLUGIN.read_text()
    assert text.count(right) == 1
    plugin.write_text(text.replace(right, wrong))
    done = fuzz(tmp_path, "--plugin", str(plugin), "--captures", "4")
    assert done.returncode == 1 and words in done.stderr, done.stdout
    (kept,) = tmp_path.glob("plugin-crash-*.pcapng")
    assert f"{kept} repeats it" in done.stderr
