# SPDX-License-Identifier: BSD-2-Clause
"""``roceproof explain``: what it prints for people and machines, and how it ends."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from explained import healthy, planted, records

from roceproof.cli.explain import run_explain
from roceproof.conformance.capture.pcapng_writer import write_pcapng


@pytest.fixture
def faulty(tmp_path: Path) -> str:
    path = tmp_path / "faulty.pcapng"
    write_pcapng(path, records(planted(("S01", "S26"), 1)))
    return str(path)


@pytest.fixture
def sound(tmp_path: Path) -> str:
    path = tmp_path / "sound.pcapng"
    write_pcapng(path, records(healthy(1)))
    return str(path)


def run(*files: str, as_json: bool = False, quiet: bool = False, frames: int = 10) -> int:
    return run_explain(files, as_json=as_json, qps=None, quiet=quiet, frames=frames)


def test_a_fault_is_printed_with_title_place_and_frames(
    faulty: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(faulty, frames=3) == 1
    out = capsys.readouterr().out
    assert "S01+S26: TTL / hop limit is not masked; and the four result bytes" in out
    assert "Look at the mask of IPv4 byte 8" in out
    assert " more\n" in out


def test_the_document_has_the_promised_fields(
    faulty: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(faulty, as_json=True) == 1
    document = json.loads(capsys.readouterr().out)
    assert (document["schema"], document["file"]) == (1, faulty)
    (found,) = document["diagnoses"]
    assert set(found) == {"id", "equivalent", "frames", "explained", "of", "text", "advice"}
    assert found["id"] == "S01+S26" and found["explained"] == found["of"] == len(found["frames"])


def test_several_files_make_a_list_and_a_sound_one_is_empty(
    faulty: str, sound: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(faulty, sound, as_json=True) == 1
    files = json.loads(capsys.readouterr().out)["files"]
    assert [len(each["diagnoses"]) for each in files] == [1, 0]


def test_a_sound_capture_ends_with_zero_and_quietly_if_asked(
    sound: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(sound) == 0
    assert "nothing to explain" in capsys.readouterr().out
    assert run(sound, quiet=True) == 0
    captured = capsys.readouterr()
    assert captured.out == captured.err == ""


def test_a_file_that_cannot_be_read_does_not_hide_what_is_said_of_others(
    tmp_path: Path, faulty: str, capsys: pytest.CaptureFixture[str]
) -> None:
    cooked = tmp_path / "cooked.pcap"
    cooked.write_bytes(bytes.fromhex("d4c3b2a1020004000000000000000000ffff000071000000"))
    assert run(str(cooked), faulty, as_json=True) == 2
    captured = capsys.readouterr()
    unread, read = json.loads(captured.out)["files"]
    assert (len(unread["diagnoses"]), len(read["diagnoses"])) == (0, 1)
    assert "not on any" in unread["error"] and unread["error"] in captured.err
    assert read["error"] is None


@pytest.mark.parametrize("facts", ["{", "[]", '{"schema": 2}'])
def test_bad_input_is_usage(tmp_path: Path, sound: str, facts: str) -> None:
    (tmp_path / "no").write_text("no capture")
    (tmp_path / "facts").write_text(facts)
    for arguments in ([str(tmp_path / "no")], [], ["--qps", str(tmp_path / "facts"), sound]):
        script = f"import sys; sys.argv = {['roceproof', 'explain', *arguments]!r};"
        script += "from roceproof.cli.console.main import main; main()"
        done = subprocess.run(
            [sys.executable, "-c", script], capture_output=True, text=True, check=False
        )
        assert done.returncode == 2 and done.stderr and not done.stdout
