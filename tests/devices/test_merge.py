# SPDX-License-Identifier: BSD-2-Clause
"""Devices side by side: what each column says, and which rules two devices answer differently."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from roceproof.common.errors import RoceproofError
from roceproof.conformance.devices.difference import difference
from roceproof.conformance.devices.document import column_of_run, matrix_of, read_document
from roceproof.conformance.nic.matrix_report import merge, run_diff

MLX5 = {
    "nic device": "mlx5_0",
    "nic driver": "mlx5_core",
    "nic fw_ver": "22.31.1014",
    "nic board_id": "MT_0000000436",
    "nic kernel": "6.12.0",
    "nic host": "secret-lab",
}
RXE = {"nic device": "rxe0", "nic kernel": "6.1.0-56-amd64", "nic host": "rxe-peer"}


def case(name: str, outcome: str, rules: list[Any], **more: Any) -> dict[str, Any]:
    return {"file": "test_a.py", "case": name, "outcome": outcome, "rules": rules, **more}


def run(made_of: dict[str, str], *cases: dict[str, Any]) -> dict[str, Any]:
    told = {"target": "nic", "suite": "full", "seed": 1, "made_of": made_of}
    return {**told, "cases": list(cases)}


LENGTHS = case("lengths", "deviation", ["MTU-06"], deviation="rxe-send-lengths")
SOFT = run(RXE, case("psn", "passed", ["PSN-02"]), LENGTHS, case("alone", "passed", ["ACK-08"]))
CARD = run(
    MLX5,
    case("psn", "failed", ["PSN-02"], broken=["PSN-02"], capture="/home/me/psn.pcapng"),
    case("lengths", "passed", ["MTU-06"]),
    case("alone", "skipped", ["ACK-08"]),
)


def test_a_card_is_known_by_its_firmware_and_soft_roce_by_its_kernel() -> None:
    card, soft = column_of_run(CARD), column_of_run(SOFT)
    assert card["name"] == "mlx5_core MT_0000000436 fw 22.31.1014"
    assert (soft["name"], soft["release"]) == ("Linux 6.1", RXE["nic kernel"])
    assert card["rules"]["PSN-02"]["verdict"] == "undeclared"
    assert soft["rules"]["MTU-06"]["verdict"] == "deviates"


def test_designs_are_known_by_the_names_of_their_manifests() -> None:
    mine, yours = (run({"device": name}) | {"target": "hdl"} for name in ("mine", "yours"))
    assert [each["name"] for each in matrix_of([mine, yours])["devices"]] == ["mine", "yours"]


def test_a_column_tells_no_host_and_no_path() -> None:
    text = json.dumps(matrix_of([CARD, SOFT]))
    assert "secret-lab" not in text
    assert "/home/me" not in text


def test_a_run_that_is_not_whole_says_so() -> None:
    assert column_of_run(SOFT | {"not_run": 3})["name"] == "Linux 6.1, cut short"
    assert column_of_run(SOFT | {"interrupted": True})["name"] == "Linux 6.1, cut short"


def test_files_are_merged_into_one_matrix_and_merged_ones_again(tmp_path: Path) -> None:
    for name, document in (("a", CARD), ("b", SOFT)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "results.json").write_text(json.dumps(document))
    merge([tmp_path / "a", tmp_path / "b" / "results.json"], tmp_path / "out")
    merge([tmp_path / "out" / "devices.json", tmp_path / "a"], tmp_path / "again")
    columns = read_document(tmp_path / "again" / "devices.json")["devices"]
    card = "mlx5_core MT_0000000436 fw 22.31.1014"
    assert [column["name"] for column in columns] == [card, "Linux 6.1", f"{card} #2"]
    sheet = (tmp_path / "out" / "devices.md").read_text()
    assert f"|  | {card} | Linux 6.1 |" in sheet
    assert "| MTU-06 | conforms | **deviates** | Linux 6.1 |" in sheet
    page = (tmp_path / "out" / "devices.html").read_text()
    assert "<h1>RoCEv2 devices, side by side</h1>" in page


def test_two_devices_differ_in_the_rules_that_they_answer_differently() -> None:
    found = difference(SOFT, CARD)
    by_rule = {each.rule: each for each in found.rules}
    assert {rule: each.verdicts for rule, each in by_rule.items()} == {
        "MTU-06": ("deviates", "conforms"),
        "PSN-02": ("conforms", "undeclared"),
    }
    assert by_rule["MTU-06"].by == (("rxe-send-lengths",), ())
    assert by_rule["PSN-02"].cases == ("test_a.py::psn",)
    assert found.asked_alone == (("test_a.py::alone",), ())


def test_a_device_does_not_differ_from_itself() -> None:
    assert difference(SOFT, SOFT).rules == ()


def test_the_command_says_who_does_what(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    a, b = tmp_path / "a.json", tmp_path / "b.json"
    a.write_text(json.dumps(SOFT))
    b.write_text(json.dumps(CARD))
    assert run_diff(a, b, as_json=False) == 1
    said = capsys.readouterr().out
    assert "  Linux 6.1: deviates (rxe-send-lengths)\n" in said
    assert "1 cases were asked of Linux 6.1 alone" in said
    assert run_diff(a, a, as_json=False) == 0
    assert "answer alike" in capsys.readouterr().out
    assert run_diff(a, b, as_json=True) == 1
    assert len(json.loads(capsys.readouterr().out)["rules"]) == 2


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "is not as results are"),
        ("[" * 100_000, "nested too deeply"),
        ("[]", "it is no dict"),
        ("{}", "target is missing"),
        ('{"cases": []}', "target is missing"),
        ('{"devices": 5}', "devices is no list"),
        ('{"devices": [{"version": "6.1"}]}', r"devices\[0\].release is missing"),
        (json.dumps(SOFT | {"cases": 5}), "cases is no list"),
        (json.dumps(SOFT | {"cases": ["a"]}), r"cases\[0\] is no dict"),
        (json.dumps(SOFT | {"made_of": ["rxe0"]}), "made_of is no dict"),
        (
            json.dumps(SOFT | {"made_of": {"nic kernel": "\x1b[2J"}}),
            "nic kernel is no word to print",
        ),
        (json.dumps(SOFT | {"suite": "9" * 5000}), "suite is no word to print"),
        (json.dumps(run(RXE, case("a", "deviation", []))), "deviation is missing"),
        (json.dumps(run(RXE, case("a", "passed", [7]))), r"cases\[0\].rules\[0\] is no word"),
    ],
)
def test_what_is_no_result_is_told(text: str, words: str, tmp_path: Path) -> None:
    place = tmp_path / "x.json"
    place.write_text(text)
    with pytest.raises(RoceproofError, match=words):
        read_document(place)
    with pytest.raises(RoceproofError, match="cannot read"):
        read_document(tmp_path)
