# SPDX-License-Identifier: BSD-2-Clause
"""Names of files and texts of captures cannot steer a terminal, break a line or a document."""

from __future__ import annotations

import os
from pathlib import Path
from xml.etree import ElementTree

import pytest
from corrupted_captures import HEALTHY, corrupt, middles, wrong_icrc
from rich.table import Table
from rich.text import Text

from roceproof.common.notice import notice
from roceproof.common.printable import printable, printable_lines
from roceproof.common.progress import Progress
from roceproof.common.terminal import Terminal
from roceproof.conformance.capture.pcapng_writer import write_pcapng
from roceproof.conformance.capture.reader import read

ODD = b"odd\x1b[31m\nname [red]\xff"
SPELLED = "odd\\x1b[31m\\nname [red]\\xff"
COMMANDS = (("check",), ("explain",), ("ladder", "--max", "1"), ("diff", str(HEALTHY)))


@pytest.fixture(scope="module")
def odd(tmp_path_factory) -> str:
    target = corrupt(
        HEALTHY, tmp_path_factory.mktemp("odd") / "x", {middles(HEALTHY)[0]: wrong_icrc}
    )
    path = os.fsencode(target.parent) + b"/" + ODD
    return str(target.rename(os.fsdecode(path)))


def test_words_between_colons_are_no_emoji(capsys) -> None:
    Terminal().print("test_a.py:100: first")
    assert capsys.readouterr().out == "test_a.py:100: first\n"


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: words[0])
def test_the_name_of_a_file_is_spelled_out(console, odd: str, words) -> None:
    for name in (odd, odd + "missing"):
        run = console.run(*words, name)
        said = run.stdout + run.stderr
        assert SPELLED in said or f"{SPELLED[:-4]}\N{REPLACEMENT CHARACTER}missing" in said
        assert "\x1b" not in said and "\nname" not in said and "Traceback" not in said


def test_it_is_spelled_out_in_documents_that_others_read(console, odd: str, tmp_path: Path) -> None:
    junit, page = tmp_path / "junit.xml", tmp_path / "page.html"
    console.run("check", "--junit", str(junit), odd)
    suite = ElementTree.parse(junit).getroot().find("testsuite")
    assert suite is not None and str(suite.get("name")).endswith(SPELLED)
    console.run("ladder", "-o", str(page), odd)
    assert f"<h1>{SPELLED}</h1>" in page.read_text(encoding="utf-8")


def test_what_a_capture_says_of_itself_reaches_no_terminal(console, tmp_path: Path) -> None:
    steered = tmp_path / "steered.pcapng"
    records = (r._replace(interface="\x1b[2J", comment="\x1b[31m") for r in read(HEALTHY))
    write_pcapng(steered, records, comment="\x1b]0;title\x07")
    for words in (*COMMANDS, ("ladder", "--json"), ("explain", "--json"), ("check", "--json")):
        run = console.run(*words, str(steered))
        assert "\x1b" not in run.stdout + run.stderr


def test_only_what_acts_is_spelled_out() -> None:
    assert printable("plain ü 漢 [/] \\") == "plain ü 漢 [/] \\"
    assert printable("a\tb\x00\x7f\x9b\u202e\u2028") == "a\\tb\\x00\\x7f\\x9b\\u202e\\u2028"
    assert printable_lines("one\n\ttwo\r\x1b") == "one\n\ttwo\\r\\x1b"


def test_no_table_bar_or_notice_lets_a_sign_act(capsys: pytest.CaptureFixture[str]) -> None:
    foreign = "a\x1b[2J\u202eb\ud800"
    table = Table(foreign, title=foreign)
    table.add_row(Text(foreign))
    for stderr in (False, True):
        Terminal(stderr=stderr).print(table, foreign, Text(foreign), f"[red]{foreign}[/]")
    notice(foreign)
    with Progress(quiet=False) as progress:
        progress.step(foreign)
        progress.problem(foreign)
    said = "".join(capsys.readouterr())
    assert said.count("a\\x1b[2J\\u202eb\\ud800") > 8
    assert said == printable_lines(said)


@pytest.mark.sim
@pytest.mark.slow
def test_a_device_may_lie_in_a_folder_of_any_name(console, tmp_path: Path) -> None:
    place = Path(os.fsdecode(os.fsencode(tmp_path) + b"/\x1b\xff"))
    assert console.run("new", str(place)).returncode == 0
    words = ("--suite", "smoke", "--no-guest", "--plans", "0", "--out", str(tmp_path / "out"))
    run = console.run("gate", str(place / "dut.toml"), *words)
    assert run.returncode == 1 and "Traceback" not in run.stderr
    assert "\x1b" not in run.stdout + run.stderr + (tmp_path / "out" / "gate.html").read_text()
