# SPDX-License-Identifier: BSD-2-Clause
"""A run that was cut short is taken up where it was, and a device that is gone is given up."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import pytest

from roceproof.common.errors import RoceproofError
from roceproof.common.paths import CASES, REFERENCE_DUT
from roceproof.conformance.regression.journal import open_journal
from roceproof.conformance.regression.junit import add_resumed
from roceproof.conformance.regression.request import Request
from roceproof.conformance.runner.session import resume_journal as journal
from roceproof.conformance.runner.session.endurance import TRIES, UNREACHABLE, Endurance
from roceproof.conformance.runner.session.resume_journal import Over
from roceproof.conformance.targets.hdl import factory as hdl_factory
from roceproof.dpi.manifest.dut import load_manifest

RUN = {"seed": "1", "target": "nic"}
HERE = Path(__file__).parent
ROCEPROOF = [str(Path(sys.executable).parent / "roceproof")]
FEW = [str(CASES / "test_requester_psn.py"), "-k", "wrap"]  # of one file: collecting all takes long


def over(outcome: str) -> Over:
    return Over({"case": "a", "file": "test_a.py", "outcome": outcome}, None)


def suite(out: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [*ROCEPROOF, "test", "--target", "model", *FEW, "-j", "1", "--out", str(out)]
    return subprocess.run([*command, *words], capture_output=True, text=True, timeout=120)


def junit(out: Path) -> dict[tuple[str | None, str | None], list[str]]:
    """How each case has ended, by the JUnit file."""
    cases = ElementTree.parse(out / "junit.xml").iter("testcase")
    return {
        (case.get("classname"), case.get("name")): [
            each.tag for each in case if each.tag != "properties"
        ]
        for case in cases
    }


def test_a_run_that_was_killed_is_taken_up_and_ends_as_if_it_had_not_been(tmp_path: Path) -> None:
    assert suite(tmp_path).returncode == 0
    whole = json.loads((tmp_path / "results.json").read_text())
    told = junit(tmp_path)
    path = tmp_path / "cases.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    assert len(lines) > 3
    path.write_bytes(b"".join(lines[:3]) + lines[3][:20])  # killed in the middle of a line
    (tmp_path / "results.json").unlink()
    assert suite(tmp_path, "--resume").returncode == 0
    assert json.loads((tmp_path / "results.json").read_text()) == whole
    assert sorted(path.read_bytes().splitlines(keepends=True)) == sorted(lines)
    assert junit(tmp_path) == told
    assert path.read_bytes().startswith(b"".join(lines[:3]))  # what was there did not run again
    again = suite(tmp_path, "--resume")  # and when nothing is missing nothing runs
    assert again.returncode == 0, again.stderr
    assert junit(tmp_path) == told
    assert json.loads((tmp_path / "results.json").read_text()) == whole
    other = suite(tmp_path, "--resume", "--seed", "2")
    assert other.returncode == 2
    assert "is of another run (its seed was 1, not 2): leave out --resume" in other.stderr
    assert json.loads((tmp_path / "results.json").read_text()) == whole  # a slip loses nothing
    assert junit(tmp_path) == told


def test_what_was_seen_of_failing_cases_is_taken_up(tmp_path: Path) -> None:
    assert suite(tmp_path, "--mutant", "psn-wraps-at-16-bits").returncode == 1
    path = tmp_path / "cases.jsonl"
    size = path.stat().st_size
    assert len(journal.cases_over(path, size)) == len(path.read_bytes().splitlines()) - 1
    findings = json.loads((tmp_path / "results.json").read_text())["findings"]
    assert suite(tmp_path, "--mutant", "psn-wraps-at-16-bits", "--resume").returncode == 1
    assert path.stat().st_size == size
    assert json.loads((tmp_path / "results.json").read_text())["findings"] == findings != []


def test_there_must_be_something_to_take_up(tmp_path: Path) -> None:
    with pytest.raises(RoceproofError, match=r"there is no .*cases\.jsonl to take up"):
        journal.take_up(tmp_path / journal.NAME, RUN)
    for content in (b'{"run"', b"{\n", b"[]\n", b'{"run": []}\n', b"\0\0\n", b"\xff\n"):
        (tmp_path / journal.NAME).write_bytes(content)
        with pytest.raises(RoceproofError, match="it does not say of which"):
            journal.take_up(tmp_path / journal.NAME, RUN)


def test_a_pipe_or_a_device_in_its_place_is_neither_waited_for_nor_read(tmp_path: Path) -> None:
    pipe, device = tmp_path / "pipe", tmp_path / "device"
    os.mkfifo(pipe)
    device.symlink_to("/dev/zero")
    for path in (pipe, device):
        for use in (journal.begin, journal.take_up):
            with pytest.raises(RoceproofError, match="is no regular file: remove it"):
                use(path, RUN)


def sealed(document: object) -> bytes:
    return journal.sealed_line(document).encode()


ENTRY = {"case": "a", "file": "test_a.py", "outcome": "passed"}
FIRST, CASE = {"run": RUN}, {"case": "a", "entry": ENTRY, "observed": None}
SEEN: dict[str, Any] = {
    **{key: [] for key in ("rows", "streams", "failures", "tempted")},
    **{key: {} for key in ("values", "right", "shown", "rules", "answers", "standing")},
    **{"stop": None, "frames": 0, "lost": None, "flushed": False},
}
DAMAGED = {
    "an outcome nobody knows": sealed({**CASE, "entry": {**ENTRY, "outcome": "faimed"}}),
    "an outcome that is a list": sealed({**CASE, "entry": {**ENTRY, "outcome": ["passed"]}}),
    "an entry that is none": sealed({**CASE, "entry": None}),
    "an entry of no case": sealed({**CASE, "entry": {"outcome": "passed"}}),
    **{
        f"an entry whose {key} is {value}": sealed({**CASE, "entry": {**ENTRY, key: value}})
        for key in ("file", "broken", "reason", "plans")
        for value in (None, 1.5, [None], {})
    },
    "a case that is a number": sealed({**CASE, "case": 7}),
    "what was seen lacks": sealed({"case": "a", "entry": ENTRY}),
    "what was seen is a word": sealed({**CASE, "observed": "x"}),
    "what was seen is nothing": sealed({**CASE, "observed": {}}),
    "what was seen has a row too short": sealed({**CASE, "observed": {**SEEN, "rows": [[[]]]}}),
    "a stop without words for its kind": sealed({**CASE, "observed": {**SEEN, "stop": {}}}),
    "again of a number, sealed": sealed({"again": 7}),
    "an outcome changed": sealed(CASE).replace(b"passed", b"faimed"),
    "a failure turned into a pass": sealed(
        {**CASE, "entry": {**ENTRY, "outcome": "failed"}}
    ).replace(b"failed", b"passed"),
    "torn": sealed(CASE)[:30],
    "no line's end": sealed(CASE)[:-1],
    "half a line and another": sealed(CASE)[:30] + sealed(CASE),
    "a list": b"[]\n",
    "null": b"null\n",
    "without a sum": b'{"case": "a", "entry": {"outcome": "passed"}, "observed": null}\n',
    "keys missing": b'{"case": "a"}\n',
    "wrong types": b'{"case": 1, "entry": [], "observed": "x"}\n',
    "again of a number": b'{"again": 7}\n',
    "deep": b"[" * 100_000 + b"]" * 100_000 + b"\n",
    "deep keys": b'{"a":' * 100_000 + b"1" + b"}" * 100_000 + b"\n",
    "no UTF-8": b'{"case": "\xff"}\n',
    "a huge number": b'{"case": ' + b"9" * 100_000 + b"}\n",
    "infinity": b'{"case": Infinity, "entry": {"outcome": NaN}}\n',
    "zeros": b"\0" * 4096 + b"\n",
    "surrogates": b'{"case": "\\ud800"}\n',
    "empty lines": b"\n\n\n",
}


@pytest.mark.parametrize("damage", DAMAGED)
def test_a_case_whose_line_is_damaged_runs_again_and_others_do_not(
    tmp_path: Path, damage: str
) -> None:
    path = tmp_path / journal.NAME
    other = sealed({**CASE, "case": "b"})
    path.write_bytes(sealed(FIRST) + other + DAMAGED[damage])
    if DAMAGED[damage].endswith(b"\n"):
        with path.open("ab") as file:
            file.write(sealed({**CASE, "case": "c"}))
    over = journal.cases_over(path, journal.take_up(path, RUN))
    assert over.keys() - {"c"} == {"b"}
    assert ("c" in over) == DAMAGED[damage].endswith(b"\n")


def test_how_cases_ended_before_stands_in_the_junit_file_too(tmp_path: Path) -> None:
    ends = {"passed": [], "failed": ["failure"], "not_reached": ["failure"], "error": ["error"]}
    ends |= {"skipped": ["skipped"], "deviation": ["skipped"]}
    cases = [{"file": "test_a.py", "case": name, "outcome": name, "head": "\x1b"} for name in ends]
    path = tmp_path / "junit.xml"
    path.write_text('<testsuites><testsuite><testcase classname="test_a" name="passed"/>')
    with path.open("a") as file:
        file.write("</testsuite></testsuites>")
    add_resumed(path, {"cases": cases})
    assert junit(tmp_path) == {("test_a", name): tags for name, tags in ends.items()}
    suite = next(ElementTree.parse(path).iter("testsuite"))
    assert [suite.get(each) for each in ("tests", "failures", "errors", "skipped")] == [*"6212"]


def test_a_design_that_was_changed_is_another_device(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def made_of(build: str) -> Any:
        built = SimpleNamespace(directory=Path(build))
        monkeypatch.setattr(hdl_factory, "build_simulation", lambda *_, **__: built)
        factory = hdl_factory.HdlFactory(load_manifest(REFERENCE_DUT), data_width=64)
        factory.prepare(lambda text: None)
        return factory.versions()

    dut = tmp_path / "dut.toml"
    dut.write_text("[limits]")
    words: Any = dict.fromkeys(("suite", "jobs", "waivers")) | {"cases": [], "width": ()}
    request = Request(**words, target="hdl", dut=dut, seed=1, coverage=False)
    open_journal(request, tmp_path, made_of("mine-64-1-before"))
    again = replace(request, resume=True)
    assert open_journal(again, tmp_path, made_of("mine-64-1-before"))
    with pytest.raises(RoceproofError, match="its build 64 was mine-64-1-before, not mine-64-1-b2"):
        open_journal(again, tmp_path, made_of("mine-64-1-b2"))
    dut.write_text("[limits] # others")
    with pytest.raises(RoceproofError, match=r"its manifest was .*: leave out --resume"):
        open_journal(again, tmp_path, made_of("mine-64-1-before"))


def of_cases(path: Path) -> Request:
    words: Any = dict.fromkeys(("dut", "suite", "jobs", "waivers")) | {"width": ()}
    return Request(**words, cases=[path], target="model", seed=1, coverage=False)


def test_cases_that_were_changed_are_others(tmp_path: Path) -> None:
    case = tmp_path / "test_mine.py"
    case.write_text("def test_one(bench): pass")
    (tmp_path / ".#test_mine.py").symlink_to("somebody@host.1:2")
    request = of_cases(tmp_path)
    open_journal(request, tmp_path, {})
    assert open_journal(replace(request, resume=True), tmp_path, {})
    case.write_text("def test_one(bench): assert False")
    with pytest.raises(RoceproofError, match="its code of the cases was"):
        open_journal(replace(request, resume=True), tmp_path, {})


@pytest.mark.parametrize(
    ("other", "is_of_a_folder", "of_a_file"),
    [
        ("conftest.py", True, True),
        ("helper.py", True, True),
        ("test_other.py", True, False),
        ("deep/helper.py", True, False),
        (".venv/lib/helper.py", False, False),
        ("build/gate/test_found_64bit_1.py", False, False),
        ("deep/build/conftest.py", False, False),
    ],
)
def test_the_code_of_cases_is_what_pytest_loads_for_them(
    other: str, is_of_a_folder: bool, of_a_file: bool, tmp_path: Path
) -> None:
    case = tmp_path / "mine" / "test_mine.py"
    case.parent.mkdir()
    case.write_text("def test_one(bench): pass")
    requests = {tmp_path / "folder": of_cases(case.parent), tmp_path / "file": of_cases(case)}
    for journal_place, request in requests.items():
        journal_place.mkdir()
        open_journal(request, journal_place, {})
    path = case.parent / other
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("made = 'since'")
    for is_part, (journal_place, request) in zip(
        (is_of_a_folder, of_a_file), requests.items(), strict=True
    ):
        refused = pytest.raises(RoceproofError, match="its code of the cases was")
        with refused if is_part else nullcontext():
            open_journal(replace(request, resume=True), journal_place, {})


@pytest.mark.parametrize("lost", [b"\0" * 40, b"\0" * 40 + b"\n", b'{"case": "b", "ent\n', b"[]\n"])
def test_what_a_power_cut_leaves_at_the_end_is_cut_off(tmp_path: Path, lost: bytes) -> None:
    path = tmp_path / journal.NAME
    journal.begin(path, RUN)
    journal.add(path, "a", over("passed"))
    good = path.read_bytes()
    path.write_bytes(good + lost)
    assert journal.take_up(path, RUN) == len(good)
    assert path.read_bytes() == good
    assert list(journal.cases_over(path, len(good))) == ["a"]


def test_what_the_bench_has_failed_runs_again_and_the_last_word_on_a_case_holds(
    tmp_path: Path,
) -> None:
    path = tmp_path / journal.NAME
    begun = journal.begin(path, RUN)
    journal.add(path, "a", over("passed"))
    journal.add(path, "b", over("error"))
    journal.add(path, "c", over("passed"))
    journal.add(path, "c", over("failed"))
    journal.add(path, "d", over("failed"))
    journal.run_again(path, ["d", "e"])
    size = journal.take_up(path, RUN)
    journal.add(path, "late", over("passed"))  # by who has taken it up
    found = journal.cases_over(path, size)
    assert {name: each.entry["outcome"] for name, each in found.items()} == {
        "a": "passed",
        "c": "failed",
    }
    assert journal.cases_over(path, begun) == {}


def setup_of(nodeid: str, *, reason: str | None = None, skipped: bool = False) -> Any:
    properties = [] if reason is None else [(UNREACHABLE, reason)]
    return SimpleNamespace(when="setup", nodeid=nodeid, user_properties=properties, skipped=skipped)


def test_a_device_is_given_up_when_it_stays_away_and_only_then() -> None:
    endurance = Endurance()
    assert not endurance.is_over(setup_of("a"))
    for number in range(TRIES - 1):
        assert not endurance.is_over(setup_of(f"gone{number}", reason="no ARP"))
    assert not endurance.is_over(setup_of("back"))
    assert [endurance.is_over(setup_of(n, reason="no ARP")) for n in "xyz"] == [False, False, True]
    assert endurance.reason == "no ARP"
    assert endurance.undecided() == ["back", "x", "y", "z"]


def test_cases_that_are_skipped_between_say_nothing_of_whether_a_device_is_there() -> None:
    endurance = Endurance()
    assert not endurance.is_over(setup_of("it went away in this one"))
    for number in range(1, TRIES + 1):
        assert not endurance.is_over(setup_of("not claimed", skipped=True))
        assert endurance.is_over(setup_of(f"{number}", reason="no ARP")) == (number == TRIES)
    assert endurance.undecided() == ["it went away in this one", "1", "2", "3"]


def test_a_run_on_a_device_that_does_not_answer_gives_up_and_can_be_taken_up(
    tmp_path: Path,
) -> None:
    namespace = ["unshare", "--user", "--map-root-user", "--net", "--"]
    if subprocess.run([*namespace, "true"], capture_output=True).returncode:
        pytest.skip("user namespaces do not work here")
    agent = shlex.join([sys.executable, str(HERE / "silent_agent.py")])
    suite = [*ROCEPROOF, "test", "--target", "nic", "--interface", "lo", "--agent", agent]
    words = shlex.join([*suite, "--suite", "smoke", "--out", str(tmp_path)])
    program = ["sh", "-c", f"ip link set lo up; exec {words}"]
    done = subprocess.run([*namespace, *program], capture_output=True, text=True, timeout=120)
    assert done.returncode == 2, done.stdout + done.stderr
    assert "gave up: mlx5_0 on lab died: it no longer answers ARP" in done.stderr
    document = json.loads((tmp_path / "results.json").read_text())
    assert [case["outcome"] for case in document["cases"]].count("error") == TRIES
    assert document["not_run"] > 100
    assert document["made_of"]["nic fw_ver"] == "22.31.1014"
    path = tmp_path / "cases.jsonl"
    decided = journal.cases_over(path, path.stat().st_size)
    assert {each.entry["outcome"] for each in decided.values()} <= {"skipped"}
