# SPDX-License-Identifier: BSD-2-Clause
"""A stdout that is closed, lost or full, and a disk that is full: one line, and no half files."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from corrupted_captures import HEALTHY, STOCK

from roceproof.common.whole_file import whole_file

SOAK = str(STOCK / "rc_soak.pcapng.gz")
UNUSABLE, BROKEN_PIPE = 2, 141
READERS = (
    ("check", SOAK),
    ("check", "--json", SOAK),
    ("ladder", SOAK),
    ("ladder", "--json", SOAK),
    ("explain", "--json", SOAK),
    ("diff", SOAK, SOAK),
    ("rules",),
    ("rules", "--coverage"),
    ("doctor",),
    ("test", "--target", "model", "-j1", "-q", "--mutant", "icrc-s46", "-k", "reference"),
    ("test", "--help"),
)
NOTHING_TO_TEST = ("test", "--target", "model", "-j1", "-k", "test_a_case_that_is_not_there")
NAMESPACE = ["unshare", "--user", "--map-root-user", "--mount"]
needs_namespaces = pytest.mark.skipif(
    subprocess.run([*NAMESPACE, "true"], capture_output=True, check=False).returncode != 0,
    reason="user namespaces do not work here",
)


def in_shell(console, script: str, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", "-c", script, "bash", console.command, *words],
        env={**console.environment, "PYTHONUNBUFFERED": ""},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize("words", READERS, ids=" ".join)
def test_a_reader_that_has_gone_ends_any_command_alike(console, words) -> None:
    run = console.run_without_reader(*words)
    assert run.returncode == BROKEN_PIPE
    assert "Traceback" not in run.stderr


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize("words", [READERS[0], READERS[4], NOTHING_TO_TEST], ids=" ".join)
def test_closed_streams_give_no_traceback(console, words) -> None:
    run = in_shell(console, '"$@" >&-', *words)
    assert run.returncode in (0, UNUSABLE)
    assert "Traceback" not in run.stderr
    assert in_shell(console, '"$@" <&- >&- 2>&-', *words).returncode == run.returncode


def test_an_output_that_lacks_signs_gets_their_codes(console) -> None:
    run = in_shell(console, 'PYTHONIOENCODING=ascii "$@"', "ladder", "--max", "3", SOAK)
    assert run.returncode == 0, run.stderr
    assert "\\u2500" in run.stdout


def test_a_full_output_is_named(console) -> None:
    for unbuffered in ("", "1"):
        script = f'PYTHONUNBUFFERED={unbuffered} "$@" >/dev/full'
        run = in_shell(console, script, "rules")
        words = "roceproof: standard output: No space left on device\n"
        assert (run.returncode, run.stderr) == (UNUSABLE, words)


@needs_namespaces
@pytest.mark.parametrize(
    "words",
    [
        ("check", "--annotate", "out.pcapng", SOAK),
        ("check", "--junit", "out.xml", str(HEALTHY)),
        ("ladder", "-o", "out.html", SOAK),
    ],
    ids=lambda words: words[1],
)
def test_a_full_disk_is_told_with_the_file_and_leaves_no_part_of_it(
    console, tmp_path: Path, words
) -> None:
    script = """
        mount -t tmpfs -o size=8k none . && echo before >"$1"
        shift; "$@"; code=$?; ls -A; cat *; exit $code
    """
    target = words[2]
    run = subprocess.run(
        [*NAMESPACE, "bash", "-c", script, "bash", target, console.command, *words],
        env=console.environment,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == UNUSABLE
    assert f"roceproof: {target}: No space left on device" in run.stderr
    assert run.stdout.endswith(f"{target}\nbefore\n")


def test_a_file_is_replaced_as_a_whole_or_stays_what_it_was(tmp_path: Path) -> None:
    file, link = tmp_path / "file", tmp_path / "link"
    file.write_text("before")
    file.chmod(0o640)
    link.symlink_to(file)
    with pytest.raises(KeyboardInterrupt), whole_file(link) as part:
        part.write_text("half")
        raise KeyboardInterrupt
    assert file.read_text() == "before"
    with whole_file(link) as part:
        part.write_text("after")
    assert (file.read_text(), file.stat().st_mode & 0o777) == ("after", 0o640)
    assert link.is_symlink()
    assert sorted(tmp_path.iterdir()) == [file, link]


def test_a_device_is_written_where_it_stands() -> None:
    with pytest.raises(OSError, match="/dev/full") as caught, whole_file(Path("/dev/full")) as part:
        part.write_text("anything")
    assert caught.value.filename == "/dev/full"
    assert Path("/dev/full").is_char_device()
