# SPDX-License-Identifier: BSD-2-Clause
"""The calibration of `explain` in the small; `make calibrate` does it whole."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import pytest
from click.testing import CliRunner

from roceproof.conformance.calibration.__main__ import main
from roceproof.conformance.calibration.device import draw_device, play
from roceproof.conformance.calibration.judge import Verdict
from roceproof.conformance.calibration.run import outcome, records_of
from roceproof.conformance.capture.reader import read
from roceproof.conformance.faults.icrc.beats import WrongLastTable
from roceproof.conformance.faults.icrc.packet import Body, Face, Packet, assemble, finish
from roceproof.conformance.faults.icrc.unit import IcrcUnit
from roceproof.conformance.observer.checker import Checker
from roceproof.conformance.rules.table import Severity


def healthy(number: int) -> list[tuple[int, bytes]]:
    device = draw_device(number, 7)
    return play(device.plan, (), 7).frames


@pytest.mark.parametrize("number", range(12))
def test_a_device_without_faults_breaks_no_rule(number: int) -> None:
    checker = Checker()
    device = draw_device(number, 7)
    way = device.plan.way
    if way.flips or way.loss_before:
        return
    broken = [
        finding
        for _, frame in healthy(number)
        for finding in checker.feed(frame)
        if finding.severity is Severity.MUST
    ]
    assert not [(each.rule.id, each.frame, each.expected, each.got) for each in broken]


def test_a_device_is_the_same_for_the_same_number_and_seed() -> None:
    assert draw_device(3, 1).captured == draw_device(3, 1).captured
    assert draw_device(3, 1).captured != draw_device(3, 2).captured


def test_faults_that_meet_in_one_field_make_a_device_all_the_same() -> None:
    device = draw_device(2402, 7)
    assert {"lengths swapped", "S32"} == {*device.drawn}


def test_a_beat_that_begins_in_the_ethernet_header_passes_a_wrong_table_untouched() -> None:
    stage = WrongLastTable(Random(1))
    stage.width, stage.from_frame, stage.place, stage.behind = 64, True, 58, 57
    (short,) = [
        packet
        for size in range(64)
        if (packet := _acknowledgement(size)) and (len(packet.in_front) + 40 + size) % 64 == 58
    ]
    unit = IcrcUnit()
    assert stage.value(unit, short) == unit.compute(short)


def _acknowledgement(size: int) -> Packet:
    face = Face(bytes(12), b"", bytes(4), bytes(4), 49152, 64, 0, 0, migreq=True)
    body = Body(bytes(size))
    packet = assemble(face, opcode=0x11, flags=0, queue=1, psn_word=0, ident=0, body=body)
    finish(packet)
    return packet


def test_two_faults_that_undo_each_other_do_not_show() -> None:
    device = draw_device(331, 3)
    assert set(device.drawn) == {"S13", "S19"}  # a register of zeros, and four dummy bytes
    assert device.faults == ()


QUICK = (
    *(0, 1, 4, 6, 8, 9, 13, 15, 16, 22, 23, 27, 28, 29, 31, 36, 38, 39, 41, 43),
    *(44, 47, 51, 52, 55, 57, 60, 62, 63, 64, 70, 72, 74, 78, 79, 87, 95, 98, 102, 103),
)
"""Devices of seed 1 with little traffic, of every kind of fault that is explained at once."""


def test_no_device_of_a_quick_sample_is_given_a_wrong_name() -> None:
    found = [outcome(number, 1) for number in QUICK]
    assert not [(each.number, each.reasons) for each in found if each.verdict is Verdict.WRONG]
    right = [each for each in found if each.verdict in (Verdict.NAMED, Verdict.CLASS)]
    assert len(right) > len([each for each in found if each.faults]) * 0.8


@pytest.mark.parametrize("number", [1174, 4366])
def test_the_result_of_a_neighbour_one_psn_bit_away_is_not_blamed_on_the_way(number: int) -> None:
    found = outcome(number, 1)
    assert found.faults == ("S65",)
    assert found.verdict is Verdict.CLASS


def test_the_table_of_the_document_has_the_columns_of_the_command() -> None:
    text = (Path(__file__).parents[2] / "docs" / "explain.md").read_text()
    table = text.partition("| traffic ")[2].partition("\n\n")[0].splitlines()
    columns = [cell.strip() for cell in table[0].split("|")[1:-1]]
    assert columns == ["faults", "devices", *(verdict.value for verdict in Verdict)]
    rows = [[*map(int, row.split("|")[3:-1])] for row in table[2:]]
    assert all(count == sum(verdicts) for count, *verdicts in rows)
    assert f"DEVICES={sum(count for count, *_ in rows)} SEED=1" in text


def test_the_command_judges_devices_and_writes_what_became_of_each(tmp_path: Path) -> None:
    options = ["--devices", "4", "--seed", "3", "-q"]
    runs = []
    for jobs in ("1", "2"):
        out = tmp_path / jobs
        told = CliRunner().invoke(main, [*options, "-j", jobs, "--out", str(out)])
        assert told.exit_code in (0, 1), told.output
        document = json.loads((out / "calibration.json").read_text())
        assert [each["number"] for each in document["devices"]] == [*range(4)]
        assert (told.exit_code == 0) == all(
            bar["count"] >= bar["least"] * bar["of"] for bar in document["bars"]
        )
        runs.append((told.stdout, document))
    assert runs[0] == runs[1]
    assert "no name is wrong: " in runs[0][0]


def test_a_device_can_be_looked_at_by_its_number(tmp_path: Path) -> None:
    capture = tmp_path / "device.pcapng"
    told = CliRunner().invoke(main, ["--device", "0", "--seed", "1", "--write", str(capture)])
    assert told.exit_code == 0, told.output
    assert "verdict: " in told.stdout
    frames = [record.frame for record in read(capture)]
    assert frames == [record.frame for record in records_of(draw_device(0, 1))]
    assert CliRunner().invoke(main, ["--write", str(capture)]).exit_code == 2
