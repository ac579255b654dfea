# SPDX-License-Identifier: BSD-2-Clause
"""What `explain` looks at: a short capture whole, of a long one what the C oracle hands over."""

from pathlib import Path
from typing import NamedTuple

from roceproof.common.printable import printable
from roceproof.conformance.check.build import ToolError
from roceproof.conformance.check.capture_input import rereadable
from roceproof.conformance.check.salvage import Salvage
from roceproof.conformance.check.tool import running
from roceproof.conformance.diagnosis.excerpt import Excerpt, read_excerpt


class Limits(NamedTuple):
    """How much is looked at, as pcap/excerpt/excerpt.h describes."""

    whole: int = 20_000
    stretch: int = 10_000
    wrong: int = 300
    run: int = 1_000


LIMITS = Limits()
_WHOLE_BYTES = 48 << 20
_SURELY_LONG = 2 * _WHOLE_BYTES


def read_capture(name: str, qps: Path | None, limits: Limits = LIMITS) -> Excerpt:
    """All of a capture up to the limit, or else an excerpt."""
    with rereadable(name) as path:
        if path.is_file() and path.stat().st_size > _SURELY_LONG:
            return _from_oracle(name, path, qps, limits)
        records = Salvage(path, limit=limits.whole, name=name, most_bytes=_WHOLE_BYTES)
        excerpt = Excerpt.whole(records)
        if records.cut:
            del excerpt
            return _from_oracle(name, path, qps, limits)
    if records.damage is None:
        return excerpt
    return Excerpt(excerpt.chosen, excerpt.stretches, str(records.damage))


def _from_oracle(name: str, path: Path, qps: Path | None, limits: Limits) -> Excerpt:
    facts = [] if qps is None else ["--qps", str(qps)]
    with running([*facts, "--excerpt", ",".join(map(str, limits)), str(path)]) as oracle:
        assert oracle.stdout is not None
        excerpt = read_excerpt(oracle.stdout)
    if excerpt is None:
        raise ToolError(f"roce-check ended without a word about {printable(name)}")
    if excerpt.damage is None:
        return excerpt
    damage = f"{printable(name)}: {excerpt.damage}"
    return Excerpt(excerpt.chosen, excerpt.stretches, damage, excerpt.notes, excerpt.wrong_left_out)
