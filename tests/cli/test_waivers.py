# SPDX-License-Identifier: BSD-2-Clause
"""Waivers: what they cover fails nothing and stays visible, and one that is of no use is told."""

from __future__ import annotations

import json
import re
import subprocess
from datetime import date
from pathlib import Path
from xml.etree import ElementTree

import pytest
from corrupted_captures import HEALTHY, corrupt, middles, migrated, other_version, wrong_icrc

from roceproof.common.paths import REPOSITORY
from roceproof.conformance.check.run import check_file
from roceproof.conformance.rules.waivers import WaiverError, load_waivers, matching
from roceproof.verbs.limit_table import LIMITS

SCHEMA = Path(__file__).parent / "junit.xsd"
CLEAN, FINDINGS, UNUSABLE = 0, 1, 2
LATER = "2999-12-31"
DAY = date(2027, 1, 31)


def waiver(rule: str, *, expires: str = LATER, **more: str) -> str:
    lines = [f"[[waiver]]\nrule = '{rule}'\nreason = 'as agreed'\nexpires = {expires}"]
    return "\n".join([*lines, *(f"{key} = '{value}'" for key, value in more.items())]) + "\n"


@pytest.fixture
def file(tmp_path: Path):
    def write(*texts: str) -> str:
        path = tmp_path / "waivers.toml"
        path.write_text("\n".join(texts))
        return str(path)

    return write


@pytest.fixture(scope="module")
def broken(tmp_path_factory) -> str:
    """Two wrong ICRCs of different flows, a wrong partition key and one MigReq."""
    frames = middles(HEALTHY)
    changes = {frames[1]: wrong_icrc, frames[3]: wrong_icrc, frames[-1]: other_version}
    path = tmp_path_factory.mktemp("broken") / "broken.pcapng"
    return str(corrupt(HEALTHY, path, {**changes, frames[5]: migrated}))


def test_what_is_waived_fails_nothing_and_stays_visible(console, broken, file) -> None:
    waivers = file(waiver("ICRC-02"), waiver("BTH-04"))
    run = console.run("check", "--waivers", waivers, broken)
    assert (run.returncode, run.stderr) == (CLEAN, "")
    lines = [line for line in run.stdout.splitlines() if line.startswith("waived ")]
    assert [line.split()[1] for line in lines] == ["ICRC-02", "ICRC-02", "BTH-04"]
    assert all(line.endswith(f"Waived until {LATER}: as agreed.") for line in lines)
    assert "3 waived" in run.stdout.splitlines()[-1]
    each = console.run("check", "-q", "--all", "--waivers", waivers, broken).stdout
    assert [line.split()[0] for line in each.splitlines()].count("waived") == 3


def test_what_is_not_waived_still_fails(console, broken, file) -> None:
    run = console.run("check", "--waivers", file(waiver("ICRC-02")), broken)
    assert run.returncode == FINDINGS
    assert "1 must, " in run.stdout.splitlines()[-1]


def test_a_waiver_may_hold_for_one_flow_or_one_device(console, broken, file) -> None:
    document = check_file(broken)
    one, two = (g["flow"] for g in document["groups"] if g["rule"] == "ICRC-02")
    flow = document["flows"][one]
    name = f"{flow['source']} > {flow['destination']} QPN {flow['qpn']:#x}"
    for text in (waiver("ICRC-02", flow=name), waiver("ICRC-02", device=flow["source"])):
        run = console.run("check", "--json", "--waivers", file(text), broken)
        found = json.loads(run.stdout)
        waived = {g["flow"]: g["waived"] for g in found["groups"] if g["rule"] == "ICRC-02"}
        assert waived == {one: f"waived until {LATER}: as agreed", two: None}
        assert found["waived"] == {"must": 1, "should": 0, "info": 0}
        assert found["severities"]["must"] == 3
        assert run.returncode == FINDINGS


def test_an_expired_waiver_waives_nothing_and_is_told(console, broken, file) -> None:
    waivers = file(waiver("ICRC-02", expires="2020-02-29"), waiver("BTH-04"))
    run = console.run("check", "--json", "--waivers", waivers, broken)
    assert run.returncode == FINDINGS
    assert run.stderr == ("roceproof: the waiver for ICRC-02 expired on 2020-02-29: as agreed\n")
    told = json.loads(run.stdout)["waivers"]
    assert [(each["rule"], each["expired"], each["waived"]) for each in told] == [
        ("ICRC-02", True, 0),
        ("BTH-04", False, 1),
    ]


def test_a_waiver_holds_to_the_end_of_its_last_day(file) -> None:
    path = Path(file(waiver("ICRC-02", expires=str(DAY))))
    assert matching(load_waivers(path, today=DAY), "ICRC-02")
    assert not matching(load_waivers(path, today=date(2027, 2, 1)), "ICRC-02")


def test_a_waiver_that_waived_nothing_is_told(console, file) -> None:
    run = console.run("check", "-q", "--waivers", file(waiver("PSN-02")), str(HEALTHY))
    assert (run.returncode, run.stdout) == (CLEAN, "")
    assert run.stderr == "roceproof: the waiver for PSN-02 waived nothing: as agreed\n"


def test_what_follows_from_a_waived_finding_is_not_waived_with_it(console, tmp_path, file) -> None:
    number = middles(HEALTHY)[2]
    path = corrupt(HEALTHY, tmp_path / "zeros.pcapng", {number: lambda f: f[:-4] + bytes(4)})
    lines = console.run("check", "-q", "--waivers", file(waiver("ICRC-02")), str(path)).stdout
    assert [line.split()[:2] for line in lines.splitlines()] == [
        ["waived", "ICRC-02"],
        ["info", "ICRC-22"],
    ]


def test_in_junit_a_waived_rule_is_a_skip_with_the_reason(
    console, broken, file, tmp_path: Path
) -> None:
    target = tmp_path / "junit.xml"
    waivers = file(waiver("BTH-04"), waiver("PSN-02", expires="2020-01-01"))
    run = console.run("check", "--waivers", waivers, "--junit", str(target), broken)
    assert run.returncode == FINDINGS
    subprocess.run(["xmllint", "--noout", "--schema", SCHEMA, target], check=True)
    (suite,) = ElementTree.parse(target).getroot()
    cases = {case.get("name"): case for case in suite.iter("testcase")}
    skipped = cases["BTH-04"].find("skipped")
    assert skipped is not None
    assert "as agreed" in skipped.get("message", "")
    assert cases["ICRC-02"].find("failure") is not None
    assert suite.get("failures") == "1"
    properties = {each.get("name"): each.get("value") for each in suite.iter("property")}
    assert "expired on 2020-01-01" in (properties["waiver PSN-02"] or "")


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("[[waiver]", "not TOML"),
        ("[other]\nx = 1", "only [[waiver]]"),
        ("[[waiver]]\nrule = 'PSN-02'\nexpires = 2027-01-31", "lacks reason"),
        (waiver("PSN-02", until="x"), "unknown key, until"),
        (waiver("PSM-02"), "PSM-02 is no rule"),
        (waiver("PSN-02").replace("'PSN-02'", "['PSN-02']"), "is no rule"),
        (waiver("PSN-02", case="test_psn"), "one rule or one case"),
        (f"[[waiver]]\nreason = 'as agreed'\nexpires = {LATER}", "one rule or one case"),
        (waiver("PSN-02", expires="'soon'"), "a date without quotes"),
        (waiver("PSN-02", expires="2027-01-31T10:00:00"), "a date without quotes"),
        (waiver("PSN-02", flow="all of them"), "flow is written like"),
        (waiver("PSN-02", device=" "), "texts that say something"),
    ],
)
def test_a_file_that_is_wrong_is_refused_in_one_line(console, file, text: str, word: str) -> None:
    run = console.run("check", "--waivers", file(text), str(HEALTHY))
    assert (run.returncode, run.stdout) == (UNUSABLE, "")
    assert word in run.stderr
    assert run.stderr.count("\n") == 1
    with pytest.raises(WaiverError):
        load_waivers(Path(file(text)))


def test_the_documented_file_is_one(tmp_path: Path) -> None:
    text = (REPOSITORY / "docs" / "waivers.md").read_text()
    (example,) = re.findall(r"^```toml\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    (tmp_path / "waivers.toml").write_text(example)
    loaded = load_waivers(tmp_path / "waivers.toml")
    assert [each.rule for each in loaded] == ["BTH-08", "ICRC-02", None]
    assert loaded[2].is_for_case("test_zeros_round_a_payload_up_to_four_bytes[64bit]")
    assert loaded[1].flow == ("10.0.0.2", "10.0.0.1", 0x11)
    assert not any(each.expired for each in loaded)


def test_the_page_names_the_limits_that_can_be_waived() -> None:
    text = (REPOSITORY / "docs" / "waivers.md").read_text()
    told = text[text.index("`limits = { ") : text.index("can be waived in the same way")]
    keys = {row.key for row in LIMITS}
    assert keys & set(re.findall(r"\w+", told)) == {row.key for row in LIMITS if row.beyond}
