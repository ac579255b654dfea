# SPDX-License-Identifier: BSD-2-Clause
"""The planted faults of the exercise: found by their rules, explained by their names."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest
from example_bench import Example, check, example_manifest, explain, open_example, uc

from roceproof.dpi import Until
from roceproof.dpi.contract.records import Operation, WorkRequest
from roceproof.dpi.manifest.dut import Manifest

pytestmark = pytest.mark.sim

CYCLES = 10_000
LENGTHS = range(40)
FRAMES = 2 * len(LENGTHS)
ODD_LENGTHS = FRAMES // 2

# Frames by rule, and what explain calls the fault.
FAULTS = {
    "ucw_icrc_mask.v": ({"ICRC-02": FRAMES}, ["S01"]),
    "ucw_counters.v": ({"PSN-03": 1}, ["P04"]),
    "ucw_bth.v": ({"PAD-01": ODD_LENGTHS, "PAD-02": ODD_LENGTHS // 2}, ["PAD-01"]),
}
ALL_RULES = {rule: count for rules, _ in FAULTS.values() for rule, count in rules.items()}


def with_fault(name: str) -> Manifest:
    """The healthy device with one file of the buggy one."""
    healthy = example_manifest("uc_writer")
    buggy = {path.name: path for path in example_manifest("uc_writer_buggy").sources}
    sources = tuple(buggy[name] if path.name == name else path for path in healthy.sources)
    assert sources != healthy.sources
    return replace(healthy, name=name.removesuffix(".v"), sources=sources)


def run_messages(manifest: Manifest, tmp_path: Path) -> Example:
    """Messages of every remainder on two QPs, one of which crosses 2**16 packets."""
    with open_example(manifest, tmp_path / "capture.pcapng") as example:
        configs = (uc(0, sq_psn=0x12FFF0), uc(1))
        example.activate(*configs)
        for number, (length, config) in enumerate(product(LENGTHS, configs)):
            request = WorkRequest(
                wr_id=number, qpn=config.local_qpn, operation=Operation.WRITE, length=length
            )
            example.port.post(request, payload=example.random.randbytes(length))
            example.simulation.run(cycles=CYCLES, until=Until.COMPLETION)
            (completed,) = example.port.take_completions()
            assert completed.completion.wr_id == number
    return example


@pytest.mark.slow  # three builds
@pytest.mark.parametrize("name", FAULTS)
def test_each_changed_file_holds_one_fault(name: str, tmp_path: Path) -> None:
    example = run_messages(with_fault(name), tmp_path)
    rules, names = FAULTS[name]
    assert check(example)["rules"] == rules
    assert [found["id"] for found in explain(example)] == names


def test_all_three_faults_are_told_apart(tmp_path: Path) -> None:
    example = run_messages(example_manifest("uc_writer_buggy"), tmp_path)
    assert check(example)["rules"] == ALL_RULES
    found = explain(example)
    assert {each["id"] for each in found} == {"S01", "P04", "PAD-01"}
    assert all(each["explained"] == each["of"] for each in found)


def test_the_same_messages_of_the_healthy_device_are_clean(tmp_path: Path) -> None:
    example = run_messages(example_manifest("uc_writer"), tmp_path)
    assert check(example)["findings"] == []
    assert explain(example) == []
