# SPDX-License-Identifier: BSD-2-Clause
"""`roceproof test --waivers`: a failure whose rules are all waived fails nothing, and says why."""

from __future__ import annotations

import json
from collections.abc import Callable
from xml.etree import ElementTree

from own_cases import Suite

Make = Callable[[str], Suite]

CASES = """
@case("PSN-02")
def test_psn(bench):
    qp = bench.connect(path_mtu=256)
    qp.post(Op.WRITE, 700)
    qp.expect(WRITE_FIRST(psn=0), WRITE_MIDDLE(psn=2))

@case("PSN-02", "MTU-02")
def test_both(bench):
    qp = bench.connect(path_mtu=256)
    qp.post(Op.WRITE, 700)
    qp.expect(WRITE_FIRST(psn=0), WRITE_MIDDLE(psn=2))
"""


def waiver(rule: str, device: str, expires: str = "2999-12-31") -> str:
    return (
        f"[[waiver]]\nrule = '{rule}'\ndevice = '{device}'\nreason = 'as agreed'\n"
        f"expires = {expires}\n"
    )


def test_a_case_is_waived_if_all_that_it_found_broken_is(suite: Make) -> None:
    mine = suite(CASES)
    path = mine.folder / "waivers.toml"
    path.write_text(waiver("PSN-02", "model") + waiver("MTU-02", "rxe"))
    done = mine.run("--target", "model", "-j1", "--waivers", str(path))
    assert done.returncode == 1
    assert "WAIVED test_mine.py::test_psn: PSN-02 waived until 2999-12-31: as agreed" in done.stdout
    assert "FAIL test_mine.py::test_both" in done.stdout
    assert "1 failed, 1 waived" in done.stdout
    assert "the waiver for MTU-02 of rxe waived nothing" in done.stderr
    document = json.loads((mine.folder / "out" / "results.json").read_text())
    assert [case["outcome"] for case in document["cases"]] == ["failed", "waived"]
    assert document["cases"][1]["waived"] == ["waived until 2999-12-31: as agreed"]
    assert [each["waived"] for each in document["waivers"]] == [1, 0]
    (tree,) = ElementTree.parse(mine.folder / "out" / "junit.xml").getroot()
    skipped = {case.get("name"): case.find("skipped") for case in tree.iter("testcase")}
    assert skipped["test_both"] is None
    assert skipped["test_psn"].get("message") == "waived until 2999-12-31: as agreed"
    assert (tree.get("failures"), tree.get("skipped")) == ("1", "1")


def test_a_run_with_nothing_but_waived_failures_ends_well_until_they_expire(suite: Make) -> None:
    mine = suite(CASES)
    path = mine.folder / "waivers.toml"
    path.write_text(waiver("PSN-02", "model"))
    words = ("--target", "model", "-j1", "-q", "-k", "psn", "--waivers", str(path))
    done = mine.run(*words)
    assert (done.returncode, done.stdout) == (0, "")
    path.write_text(waiver("PSN-02", "model", expires="2020-01-01"))
    done = mine.run(*words)
    assert done.returncode == 1
    assert "the waiver for PSN-02 of model expired on 2020-01-01" in done.stderr
