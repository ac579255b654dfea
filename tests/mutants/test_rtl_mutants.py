# SPDX-License-Identifier: BSD-2-Clause
"""Every mutant of the endpoint is a device of its own, and none of them is in the healthy one."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
from mutant_device import differs, open_device, seen
from response_stimuli import RESPONSES
from stimuli import TRAFFIC, stalled_traffic

from roceproof.common.paths import REFERENCE_DUT
from roceproof.conformance.mutants.rtl import Mutant, load_mutants, reference_mutants
from roceproof.dpi import Manifest, load_manifest

WIDTHS = [
    pytest.param(64, marks=pytest.mark.sim),
    pytest.param(512, marks=[pytest.mark.sim, pytest.mark.slow]),
]
STIMULI = (*TRAFFIC, *RESPONSES)


@cache
def everyone() -> tuple[Mutant, ...]:
    return load_mutants().mutants


@cache
def manifest() -> Manifest:
    return reference_mutants()


def test_mutants_are_many_and_their_ids_differ() -> None:
    assert len(everyone()) >= 90
    assert len({mutant.id for mutant in everyone()}) == len(everyone())
    assert [mutant.number for mutant in everyone()] == list(range(1, len(everyone()) + 1))


def behind_the_section_header(capture: bytes) -> list[bytes]:
    """All blocks but the one that names the device; those of one clock edge have no order."""
    blocks = []
    at = 0
    while at < len(capture):
        size = int.from_bytes(capture[at + 4 : at + 8], "little")
        blocks.append(capture[at : at + size])
        at += size
    interface, *packets = blocks[1:]
    return [interface, *sorted(packets, key=lambda block: (time_of(block), block))]


def time_of(block: bytes) -> int:
    """When the packet of a block passed."""
    high, low = (int.from_bytes(block[at : at + 4], "little") for at in (12, 16))
    return high << 32 | low


@pytest.mark.parametrize("width", WIDTHS)
def test_with_no_mutant_selected_the_capture_is_that_of_the_healthy_build(
    width: int, tmp_path: Path
) -> None:
    captures = []
    for index, device in enumerate((load_manifest(REFERENCE_DUT), manifest())):
        path = tmp_path / f"{index}.pcapng"
        with open_device(device, width, capture=path) as opened:
            stalled_traffic(opened)
        captures.append(behind_the_section_header(path.read_bytes()))
    assert len(captures[0]) > 100
    assert captures[0] == captures[1]


@pytest.mark.slow  # tests/suite/test_gate_mutants.py finds one of each theme in `make test`
@pytest.mark.parametrize("width", WIDTHS)
def test_every_mutant_is_seen_to_differ_from_the_healthy_device(width: int) -> None:
    healthy = {stimulus: seen(manifest(), width, stimulus) for stimulus in STIMULI}
    equivalent = [
        mutant.id
        for mutant in everyone()
        if mutant.kind is None  # the others have proofs of their own
        and not any(
            differs(manifest(), width, stimulus, plusarg=mutant.plusarg, healthy=events)
            for stimulus, events in healthy.items()
        )
    ]
    assert equivalent == []
