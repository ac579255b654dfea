# SPDX-License-Identifier: BSD-2-Clause
"""Long captures: what the C oracle hands over of one is explained as the whole of it is."""

from __future__ import annotations

import json
import os
import struct
import subprocess
from pathlib import Path

import extreme_captures
import pytest
from pcap_writer import write_pcap

from roceproof.conformance.check.build import find_oracle
from roceproof.conformance.diagnosis.excerpt import Excerpt
from roceproof.conformance.diagnosis.report import explain_excerpt
from roceproof.conformance.diagnosis.source import Limits, read_capture
from roceproof.conformance.faults.catalogue import plant
from roceproof.conformance.faults.conversation.traffic import Conversation
from roceproof.conformance.rules.signatures import SIGNATURES

SHORT = Limits(whole=0, stretch=100_000, wrong=12, run=60)
STRETCHES = Limits(whole=0, stretch=300, wrong=12, run=60)
ICRC_FAULTS = ["S60", *(each for each in SIGNATURES if each.startswith("S") and each != "S60")]
PSN_FAULTS = [each for each in SIGNATURES if each.startswith("P")]
SHOW_LATE = {"P10", "P19"}
"""What takes more than one stretch of 300 frames to show."""
NEED_MORE = {"P08"}
"""What something else fits as well in a stretch of 300 frames."""
HISTORIES = ("S53", "S54", "S60", "S61", "S62", "S63", "S65", "S66")

Names = list[tuple[str, tuple[str, ...]]]


def names(excerpt: Excerpt) -> Names:
    return sorted((each.id, each.equivalent) for each in explain_excerpt(excerpt).diagnoses)


def written(path: Path, fault: str, **talk: object) -> str:
    *_, capture = plant(fault, Conversation(seed=3, **talk))  # type: ignore[arg-type]
    write_pcap(path, ((timed.time_ns, timed.frame) for timed in capture.frames))
    return str(path)


def wholly_and_in_part(name: str, limits: Limits) -> tuple[Names, Names]:
    whole, part = read_capture(name, None), read_capture(name, None, limits)
    assert not whole.notes
    return names(whole), names(part)


@pytest.mark.sampled(every=23)
@pytest.mark.parametrize("fault", ICRC_FAULTS)
def test_an_excerpt_gives_the_verdict_on_icrcs(tmp_path: Path, fault: str) -> None:
    whole, part = wholly_and_in_part(written(tmp_path / "short.pcap", fault), SHORT)
    assert whole == part


@pytest.mark.slow
@pytest.mark.sampled(every=8)
@pytest.mark.parametrize("fault", HISTORIES)
def test_an_excerpt_of_a_quarter_shows_what_depends_on_neighbours(
    tmp_path: Path, fault: str
) -> None:
    name = written(tmp_path / "long.pcap", fault, connections=24, messages=(60, 30))
    part = read_capture(name, None, SHORT)
    whole = read_capture(name, None)
    assert 3 * len(part.chosen) < len(whole.chosen)
    assert names(part) == names(whole)


@pytest.mark.sampled(every=8)
@pytest.mark.parametrize("fault", PSN_FAULTS)
def test_a_stretch_gives_the_verdict_on_psns_or_none(tmp_path: Path, fault: str) -> None:
    whole, part = wholly_and_in_part(written(tmp_path / "stretch.pcap", fault), STRETCHES)
    if fault in SHOW_LATE:
        assert {name for name, _ in part} <= {name for name, _ in whole} | {"undecided"}
    elif fault in NEED_MORE:
        assert [name for name, _ in whole] == [name for name, _ in part]
    else:
        assert whole == part


@pytest.mark.slow
def test_what_is_rare_stays_rare_in_an_excerpt(tmp_path: Path) -> None:
    path = tmp_path / "rare.pcap"
    frames = [*extreme_captures.one_packet_flows(6000)]
    wrong = [frame for _, frame in extreme_captures.all_wrong(20, size=8)]
    for number, frame in enumerate(wrong):
        frames[100 + 250 * number] = (100 + 250 * number, frame)
    write_pcap(path, frames)
    part = read_capture(str(path), None, Limits(0, 500, 20, 10))
    assert len(part.chosen) < 2500
    assert part.wrong_left_out == 0
    assert names(part) == names(read_capture(str(path), None)) == [("undecided", ("corrupt",))]


def test_frames_keep_their_numbers_and_are_told_from_those_beside_them(tmp_path: Path) -> None:
    path = tmp_path / "numbers.pcap"
    frames = [*extreme_captures.one_packet_flows(1000)]
    (_, wrong), *_ = extreme_captures.all_wrong(1)
    frames[499] = (499, wrong)
    write_pcap(path, frames)
    part = read_capture(str(path), None, Limits(0, 100, 4, 0))
    by_number = {seen.number: seen for seen in part.chosen}
    assert by_number[500].wrong and not by_number[500].is_beside
    assert [number for number in range(484, 517) if number not in by_number] == []
    assert by_number[490].is_beside
    assert by_number[500].time_ns == 499
    assert [len(stretch.seen) for stretch in part.stretches] == [100]


@pytest.mark.slow
def test_a_long_capture_is_told_to_be_looked_at_in_part(console, tmp_path: Path) -> None:
    path = tmp_path / "long.pcap"
    write_pcap(path, extreme_captures.all_wrong(21_000, size=8))
    run = console.run("explain", "--json", str(path))
    document = json.loads(run.stdout)
    (note,) = (each for each in document["notes"] if "ICRCs were explained" in each)
    assert "of 21000 wrong ones among them), PSNs from frames 1 to 10000" in note
    assert 0 < document["wrong_frames_left_out"] < 21_000
    (found, *_) = document["diagnoses"]
    assert found["of"] == 21_000 - document["wrong_frames_left_out"]
    assert "wrong frames looked at\n" in console.run("explain", str(path)).stdout


@pytest.mark.slow
def test_a_pipe_is_explained_as_a_file_is(console, tmp_path: Path) -> None:
    path, pipe = tmp_path / "long.pcap", tmp_path / "pipe"
    write_pcap(path, extreme_captures.one_packet_flows(21_000))
    os.mkfifo(pipe)
    with subprocess.Popen(["cp", path, pipe]) as copying:
        run = console.run("explain", str(pipe))
    assert (run.returncode, copying.returncode) == (0, 0)
    assert f"{pipe}: nothing to explain" in run.stdout
    assert "of 21000 frames" in run.stderr


@pytest.mark.slow
def test_damage_behind_a_long_capture_is_told(console, tmp_path: Path) -> None:
    path = tmp_path / "cut.pcap"
    write_pcap(path, extreme_captures.all_wrong(21_000, size=8))
    path.write_bytes(path.read_bytes()[:-3])
    run = console.run("explain", str(path))
    assert run.returncode == 2
    assert "cut in a record" in run.stderr and "21000 frames" not in run.stdout


def test_a_large_file_that_is_no_capture_is_refused_in_a_line(console, tmp_path: Path) -> None:
    path = tmp_path / "zeros.pcap"
    with path.open("wb") as file:
        file.truncate(200 << 20)
    run = console.run("explain", str(path))
    assert run.returncode == 2
    (line,) = (each for each in run.stderr.splitlines() if "roceproof: " in each)
    assert str(path) in line and run.stdout == ""


@pytest.mark.parametrize("limits", ["", "1", "1,2,3", "1,2,3,4,5", "1,2,3,-4", "a,2,3,4", "1,2,3,"])
def test_limits_of_an_excerpt_are_four_numbers(limits: str) -> None:
    run = subprocess.run(
        [find_oracle(), "--excerpt", limits, "/dev/null"], capture_output=True, text=True
    )
    assert run.returncode == 2 and run.stderr.startswith("usage:") and run.stdout == ""


def test_a_record_of_an_excerpt_has_no_holes(tmp_path: Path) -> None:
    path = tmp_path / "one.pcap"
    write_pcap(path, extreme_captures.all_wrong(1))
    done = subprocess.run(
        [find_oracle(), "--excerpt", "1,1,1,1", str(path)], capture_output=True, check=True
    )
    heading, _, rest = done.stdout.partition(b"\n")
    assert json.loads(heading)["stretches"] == [[1, 1]]
    number, _, size = struct.unpack("=QQI", rest[:20])
    assert (number, len(rest)) == (1, 32 + size)
