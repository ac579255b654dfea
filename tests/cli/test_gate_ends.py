# SPDX-License-Identifier: BSD-2-Clause
"""However a gate ends, its verdict is never a pass that nobody has earned."""

from __future__ import annotations

import json
import re
import signal
from pathlib import Path
from typing import Any

import pytest
from gate_documents import DUT, FAILING, PASSING, case, judged

from roceproof.conformance.gate import run as gate_command
from roceproof.conformance.gate.markdown import markdown_of
from roceproof.conformance.gate.run import Gate, run_gate
from roceproof.conformance.gate.soak import Soaked
from roceproof.conformance.gate.text import print_gate
from roceproof.conformance.runner.connectivity import Check
from roceproof.conformance.runner.outcomes import FAILED

UNUSABLE = 2


def interrupted(*what: object) -> None:
    raise KeyboardInterrupt


def test_of_a_run_before_nothing_stays_and_of_others_everything(tmp_path, monkeypatch) -> None:
    """Where --out is a folder of the user's, `requests` may be one, too."""
    monkeypatch.setattr(gate_command, "_judge", interrupted)
    place = tmp_path / "requests"
    place.mkdir()
    (place / "test_case.pcapng").touch()
    (place / "notes.txt").touch()
    gate = a_gate(tmp_path)
    old = ("gate.json", "gate.html", "gate.md", "coverage.html", "coverage.json", "results.json")
    for name in old:
        (tmp_path / name).write_text("old")
    with pytest.raises(KeyboardInterrupt):
        run_gate(gate)
    assert [file.name for file in place.iterdir()] == ["notes.txt"]
    assert not [name for name in old if (tmp_path / name).exists() and is_old(tmp_path, name)]
    document = json.loads(read(tmp_path, "gate.json"))
    assert (document["verdict"], document["lacks"]) == ("incomplete", ["interrupted"])


def is_old(folder: Path, name: str) -> bool:
    return read(folder, name) == "old"


def read(folder: Path, name: str) -> str:
    return (folder / name).read_text()


def a_gate(out: Path, **words: Any) -> Gate:
    usual: dict[str, Any] = dict.fromkeys(("kernel", "baseline", "waivers", "guest", "as_json"))
    usual |= {"manifest": DUT, "suite": "smoke", "widths": (), "seed": 1, "plans": 0}
    return Gate(**usual | {"out": out, "jobs": 1, "quiet": True} | words)


def test_a_gate_that_is_killed_leaves_no_verdict_but_that_it_has_not_ended(
    tmp_path, monkeypatch
) -> None:
    (tmp_path / "gate.json").write_text('{"verdict": "pass"}')
    seen = []
    monkeypatch.setattr(gate_command, "_judge", lambda *_: seen.append(read(tmp_path, "gate.json")))
    run_gate(a_gate(tmp_path))
    (before,) = map(json.loads, seen)
    assert before["verdict"] == "incomplete"
    assert before["lacks"] == ["it has not ended: it is under way, or was killed"]


def test_that_a_device_does_nothing_may_be_known_and_is_no_pass(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys
) -> None:
    def nothing_comes(options, widths, out, progress, checks) -> None:
        for width in widths:
            told = Check(name="frame", says="a message leaves", outcome=FAILED, words="none")
            checks[width] = [told]

    monkeypatch.setattr(gate_command, "_connect", nothing_comes)
    before, after = tmp_path / "before", tmp_path / "after"
    assert run_gate(a_gate(before)) == 1
    assert run_gate(a_gate(after, baseline=before / "gate.json")) == UNUSABLE
    assert verdict_in(after) == ("incomplete", ["no case was run at 64 bit"])
    assert "the suite was not begun: the first message fails" in capsys.readouterr().out


def verdict_in(out: Path) -> tuple[str, list[str]]:
    document = json.loads(read(out, "gate.json"))
    return document["verdict"], document["lacks"]


def test_a_gate_ends_in_its_time_with_what_is_known(console, tmp_path) -> None:
    out = tmp_path / "out"
    run = console.run("gate", str(DUT), "--no-guest", "--minutes", "0.001", "--out", str(out))
    assert run.returncode == UNUSABLE, run.stderr
    assert re.search(r"INCOMPLETE uc_writer.*: not all was judged: .*out of time", run.stdout)
    assert "Traceback" not in run.stderr
    assert verdict_in(out)[0] == "incomplete" and verdict_in(out)[1][-1] == "out of time"
    assert {"gate.html", "gate.md", "junit.xml"} <= {file.name for file in out.iterdir()}


def test_the_time_of_a_gate_does_not_end_while_its_verdict_is_written(
    tmp_path, monkeypatch
) -> None:
    left = []
    for name in ("_judge", "_write"):
        watched = lambda *_: left.append(signal.getitimer(signal.ITIMER_REAL)[0])  # noqa: E731
        monkeypatch.setattr(gate_command, name, watched)
    assert run_gate(a_gate(tmp_path, minutes=1000)) == 0
    judging, writing = left
    assert judging > 0 and writing == 0


@pytest.mark.parametrize("kind", [signal.SIGTERM, signal.SIGINT])
def test_a_gate_that_is_interrupted_says_so_and_how(console, tmp_path, kind) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "gate.json").write_text('{"verdict": "pass"}')
    run = console.spawn("gate", str(DUT), "--no-guest", "--out", str(out))
    line = run.stderr.readline()
    assert "uc_writer" in line or "uc_writer" in run.stderr.readline(), line
    run.send_signal(kind)
    told, errors = run.communicate(timeout=60)
    assert run.returncode == 128 + kind, errors
    assert errors.splitlines()[-1] == "roceproof: interrupted"
    assert verdict_in(out)[0] == "incomplete" and verdict_in(out)[1][-1] == "interrupted"
    assert re.search(r"INCOMPLETE uc_writer.*: not all was judged: .*interrupted", told)
    assert console.leftovers() == []


LACKS = {
    "a case of unknown reason": {"cases": [case("test_a", "error"), case("test_b", "passed")]},
    "cases not run": {"cases": [case("test_b", "passed")], "not_run": 3},
    "only skips": {"cases": [case("test_a", "skipped", reason="it has no RC")]},
    "given up": {"cases": [case("test_b", "passed")], "stopped": "out: no space"},
}


@pytest.mark.parametrize("lacking", LACKS)
def test_a_suite_that_has_not_judged_all_is_no_pass(lacking: str) -> None:
    told = {"findings": [], "not_run": 0, **LACKS[lacking]}
    document = judged(told, lacks=list(gate_command.lacks_of(told)))
    assert document["verdict"] == "incomplete"
    assert judged({**PASSING, "not_run": 0})["verdict"] == "pass"


def test_plans_that_have_not_judged_the_device_are_no_pass() -> None:
    broke = Soaked(plans=3, broke=["seed 7: the case itself breaks MTU-01"])
    (lack,) = gate_command.lacks_of_plans(broke)
    assert "1 random plans broke by themselves" in lack and "seed 7" in lack
    assert judged(PASSING, lacks=[lack])["verdict"] == "incomplete"
    assert not [*gate_command.lacks_of_plans(Soaked(plans=3))]


def test_a_failure_stays_one_however_little_was_judged(capsys) -> None:
    document = judged(FAILING, lacks=["out of time"])
    assert document["verdict"] == "fail"
    assert "Not all was judged: `out of time`" in markdown_of(document)
    print_gate(document, out=Path("out"), quiet=True)
    assert "FAIL uc_writer, 64 bit: not all was judged: out of time" in capsys.readouterr().out


def test_what_did_not_run_is_told_beside_the_verdict(capsys) -> None:
    print_gate(judged(PASSING), out=Path("out"), quiet=False)
    out = capsys.readouterr().out
    assert "PASS uc_writer, 64 bit, without Soft-RoCE (left out by --no-guest)" in out


@pytest.mark.parametrize(
    "words", [["--kernel", "nonsense"], ["--kernel", "6.12", "--no-guest"], ["--minutes", "nan"]]
)
def test_what_cannot_be_done_as_asked_ends_with_2_in_one_line(console, tmp_path, words) -> None:
    run = console.run("gate", str(DUT), "--out", str(tmp_path / "out"), *words)
    assert (run.returncode, run.stdout) == (UNUSABLE, "")
    assert "Traceback" not in run.stderr
    assert words[0] in run.stderr
    assert len(run.stderr.splitlines()) == 1
    assert not (tmp_path / "out" / "gate.json").exists()


def test_random_plans_are_left_out_where_most_cases_have_hung() -> None:
    hung, fine = case("test_a", "failed", hung=True), case("test_b", "passed")
    skipped = case("test_c", "skipped", reason="it has no RC", hung=True)

    def why_of(*cases: dict[str, Any], trouble: str = "no packet") -> str:
        finding = {"troubles": [trouble], "sentence": "stop: after 7 frames no other leaves"}
        return gate_command.hung_cases({"cases": cases, "findings": [finding]})

    assert why_of(hung, fine, skipped) == why_of() == ""
    assert why_of(hung, {**hung, "outcome": "waived"}) == ""
    assert why_of(hung, fine, fine, trouble="stream") == "after 7 frames no other leaves"
    why = why_of(hung, hung, fine)
    assert why == "something never came in 2 of 3 cases"
    assert judged(PASSING, hung=why)["left_out"][0] == f"random plans ({why})"
