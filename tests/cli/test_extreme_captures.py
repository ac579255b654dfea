# SPDX-License-Identifier: BSD-2-Clause
"""The captures that cost the most: bounded work, bounded memory, and what was left out is said."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import extreme_captures
import pytest
from extreme_captures import KINDS, Frames
from pcap_writer import write_pcap

from roceproof.conformance.capture.record import Flow, Record
from roceproof.conformance.diagnosis.budget import Budget, OutOfBudget
from roceproof.conformance.diagnosis.icrc.diagnosis import explain_icrcs
from roceproof.conformance.diagnosis.observation import observe
from roceproof.conformance.diagnosis.report import explain_with_notes
from roceproof.conformance.diagnosis.result import UNDECIDED

MEGABYTE = 1_000_000
HALF_A_GIGABYTE = 512 << 20
CLEAN, FINDINGS = 0, 1


def records(frames: Frames) -> list[Record]:
    return [
        Record("port", time_ns, Flow.UNKNOWN, data, number=number)
        for number, (time_ns, data) in enumerate(frames, 1)
    ]


def quiet_seconds(job: Callable[[], object]) -> float:
    """Processor seconds of a job, as a quiet machine that counts to a million in 50 ms has them."""
    begin = time.process_time()
    for _ in range(1_000_000):
        pass
    middle = time.process_time()
    job()
    end = time.process_time()
    return (end - middle) * min(1.0, 0.05 / (middle - begin))


@pytest.mark.sampled(every=5)
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_the_same_work_is_left_out_each_time(kind: Callable[..., Frames]) -> None:
    capture = records(kind(2 if kind is extreme_captures.jumbo else 80))
    first = explain_with_notes(capture)
    assert first == explain_with_notes(capture)
    for note in first.notes:
        assert "units of work; not tried, or not to the end: " in note


def test_a_budget_that_is_used_up_names_what_was_not_tried() -> None:
    observations = list(observe(records(extreme_captures.all_wrong(30))))
    budget = Budget(1000)
    (found,) = explain_icrcs(observations, None, budget)
    assert found.id == UNDECIDED
    (note,) = budget.notes
    assert note.startswith("stopped searching after 1000 units of work")
    assert "single faults" in note and "three faults at once" in note
    assert "(02:00:00:00:00:01)" in note
    plenty = Budget()
    assert explain_icrcs(observations, None, plenty)[0].id == UNDECIDED
    assert plenty.notes == []


def test_a_budget_ends_when_it_is_spent_and_names_a_few_of_many() -> None:
    budget = Budget(3)
    budget.spend(3)
    with pytest.raises(OutOfBudget):
        budget.spend(1)
    for number in range(5):
        budget.leave_out("everything", f"station {number}")
    assert "everything (station 0, station 1, station 2 and 2 more)" in budget.notes[0]


def test_those_who_sent_most_of_the_wrong_packets_are_searched_first() -> None:
    stranger = records(extreme_captures.strangers(20))
    many = records(extreme_captures.all_wrong(30))
    observations = list(observe([*stranger, *many]))
    budget = Budget(1000)
    explain_icrcs(observations, None, budget)
    assert "(02:00:00:00:00:01, " in budget.notes[0]


def test_what_explain_left_out_is_printed_and_in_the_document(console, tmp_path: Path) -> None:
    path = tmp_path / "strangers.pcap"
    write_pcap(path, extreme_captures.strangers(170))
    run = console.run("explain", "--json", str(path))
    assert run.returncode == FINDINGS
    document = json.loads(run.stdout)
    (note,) = document["notes"]
    assert "stopped searching after" in note
    assert "more transmitters: not searched" in document["diagnoses"][-1]["text"]
    frames = [number for found in document["diagnoses"] for number in found["frames"]]
    assert sorted(frames) == list(range(1, 171))
    assert f"roceproof: {path}: {note}" in run.stderr


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_a_small_capture_is_explained_in_seconds(kind: Callable[..., Frames]) -> None:
    capture = records(kind(15 if kind is extreme_captures.jumbo else 7000))
    while sum(len(record.frame) for record in capture) > MEGABYTE:
        del capture[len(capture) // 2 :]
    assert quiet_seconds(lambda: explain_with_notes(capture)) < 3


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_any_capture_is_explained_in_half_a_minute(kind: Callable[..., Frames]) -> None:
    capture = records(kind(1500 if kind is extreme_captures.jumbo else 300_000))
    assert quiet_seconds(lambda: explain_with_notes(capture)) < 20


@pytest.mark.slow
def test_a_million_flows_are_drawn_and_compared_in_bounded_memory(console, tmp_path: Path) -> None:
    path, page = tmp_path / "flows.pcap", tmp_path / "page.html"
    write_pcap(path, extreme_captures.one_packet_flows(1_000_000))
    for words, limit, note in (
        (("ladder", "-o", str(page), str(path)), HALF_A_GIGABYTE, ""),
        (("ladder", str(path)), HALF_A_GIGABYTE, "998000 more packets are not drawn"),
        (("diff", str(path), str(path)), 2 * HALF_A_GIGABYTE, "only the first 200000 frames"),
    ):
        run = subprocess.run(
            [sys.executable, "-c", _LIMITED, str(limit), console.command, *words],
            env=console.environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert run.returncode == CLEAN, run.stderr
        assert note in run.stderr
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss < 2 * HALF_A_GIGABYTE >> 10
    assert page.stat().st_size < 50 * MEGABYTE


_LIMITED = """
import os, resource, sys
resource.setrlimit(resource.RLIMIT_DATA, (int(sys.argv[1]),) * 2)
os.execv(sys.argv[2], sys.argv[2:])
"""
