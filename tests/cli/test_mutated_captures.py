# SPDX-License-Identifier: BSD-2-Clause
"""Captures with anything in them: every command answers with an exit code or with one line.

In process, for a process per capture would take an hour.
"""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest
from corrupted_captures import STOCK

from roceproof.cli.check import Output, Request, run_check
from roceproof.cli.diff import run_diff
from roceproof.cli.explain import run_explain
from roceproof.common.errors import RoceproofError
from roceproof.conformance.review.ladder_report import run_ladder

SOURCES = sorted(STOCK.glob("*.gz"))
QUICK, ALL, GROUP = 60, 1200, 20
HEADER_BYTES = 28  # of a pcapng section


def mutated(seed: int) -> bytes:
    """A stored capture with a few or many bytes changed, cut, repeated or put elsewhere."""
    order = Random(seed)
    data = bytearray(gzip.decompress(order.choice(SOURCES).read_bytes()))
    del data[32768:]
    for _ in range(order.choice((1, 3, 20, 200))):
        at = order.randrange(HEADER_BYTES if seed % 10 else 0, len(data))
        match order.randrange(8):
            case 0:
                data[at] = order.choice((0, 0xFF, 0x80, 1))
            case 1:
                data[at : at + 4] = order.randbytes(4)
            case 2 if len(data) > 4000:
                del data[at : at + order.choice((1, 4, 64))]
            case 3:
                other = order.randrange(len(data))
                data[at : at + 64] = data[other : other + 64]
            case 4 if seed % 4 == 0:
                del data[max(at, 2000) :]
            case _:
                data[at] ^= 1 << order.randrange(8)
        if len(data) <= HEADER_BYTES:
            break
    return bytes(data)


def outcomes(path: Path, page: Path) -> list[int | str]:
    """How each command ends: its exit code, or the error that is its one line."""
    request = Request(
        files=[str(path)],
        interface=None,
        duration=None,
        qps=None,
        waivers=None,
        keep=1000,
        jobs=1,
    )
    quiet = Output(each=False, as_json=False, annotate=None, junit=None, quiet=True)
    commands: tuple[Callable[[], int], ...] = (
        lambda: run_check(request, quiet),
        lambda: run_explain((str(path),), as_json=False, qps=None, quiet=True, frames=10),
        lambda: run_ladder(path, frames=None, most=2000, output=page, qps=None, as_json=False),
        lambda: run_diff(path, SOURCES[0], as_json=False, quiet=True),
    )
    ends: list[int | str] = []
    for command in commands:
        try:
            ends.append(command())
        except RoceproofError as error:
            ends.append(str(error))
    return ends


def check_group(seeds: range, tmp_path: Path) -> None:
    ends: set[int | str] = set()
    for seed in seeds:
        path = tmp_path / "mutated.pcapng"
        path.write_bytes(mutated(seed))
        for end in outcomes(path, tmp_path / "page.html"):
            assert end in (0, 1, 2) or "\n" not in str(end), (seed, end)
            ends.add(end)
    assert ends & {0, 1} and 2 in ends


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize("start", range(0, QUICK, GROUP))
def test_no_command_stumbles_over_a_mutated_capture(start: int, tmp_path: Path) -> None:
    check_group(range(start, start + GROUP), tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("start", range(QUICK, ALL, 5 * GROUP))
def test_no_command_stumbles_over_any_mutated_capture(start: int, tmp_path: Path) -> None:
    check_group(range(start, min(start + 5 * GROUP, ALL)), tmp_path)
