# SPDX-License-Identifier: BSD-2-Clause
"""Cycles behind a request in which something else happens: a few by chance, or each."""

from collections.abc import Iterable

from roceproof.conformance.suite.bench import Bench

PARTS = 4
_FEW, _CYCLES = 5, 64
_MODEL_CLOCK_PS = 6400


def moments(bench: Bench, part: int | None, *, span: int = _CYCLES) -> Iterable[int]:
    """Numbers of cycles below `span`: a few, or all of a part of `PARTS`."""
    if part is None:
        return sorted(bench.random.sample(range(span), _FEW))
    return range(part, span, PARTS)


def in_ns(bench: Bench, cycles: int) -> int:
    """How long so many cycles of the device last."""
    return cycles * (bench.target.clock_ps or _MODEL_CLOCK_PS) // 1000


def pass_by(bench: Bench, cycles: int) -> None:
    """So many cycles of the device."""
    bench.pump(in_ns(bench, cycles))
