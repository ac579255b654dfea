# SPDX-License-Identifier: BSD-2-Clause
"""Checks one capture and returns the document of check_report."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from roceproof.conformance.check.progress import Advance
from roceproof.conformance.check.report import Document, gather
from roceproof.conformance.check.tool import UnreadableError, lines_of

GROUPED_FINDINGS = 1_000_000
"""How many findings are read to be grouped; of those beyond it the oracle tells the counts."""

__all__ = ["GROUPED_FINDINGS", "UnreadableError", "check_file", "check_live", "judged_lines"]


def check_file(
    path: Path | str,
    *,
    qps: Path | None = None,
    keep: int | None = None,
    every: bool = False,
    jobs: int = 1,
    advance: Advance | None = None,
) -> Document:
    """Judge a file ("-" is stdin), keeping at most `keep` findings (None: all) beside the groups.

    Groups are of the first million findings, or with `every` of all.

    Damage behind whole packets is named in the document; a file without any is an error.
    """
    options = [
        *_options(qps=qps, keep=_told(None if every else keep)),
        "-j",
        str(jobs),
        "--progress",
    ]
    lines = lines_of([*options, "--", str(path)])
    return gather(str(path), _without_progress(lines, advance), keep=keep)


def judged_lines(path: Path, *, qps: Path | None = None, keep: int = 0) -> Iterator[dict[str, Any]]:
    """What the oracle says of a file, one thing at a time: findings, flows, and the summary."""
    return lines_of([*_options(qps=qps, keep=keep), "--", str(path)])


def check_live(
    interface: str,
    *,
    duration: float | None = None,
    qps: Path | None = None,
    keep: int | None = None,
    every: bool = False,
) -> Document:
    """Judge what passes an interface until Ctrl-C, or for that many seconds."""
    limit = [] if duration is None else ["--duration", str(duration)]
    options = [*_options(qps=qps, keep=_told(None if every else keep)), *limit, "-i", interface]
    lines = lines_of(options, live=True)
    return gather(interface, _without_progress(lines, None), keep=keep)


def _told(keep: int | None) -> int:
    return 0 if keep is None else max(keep, GROUPED_FINDINGS)


def _options(*, qps: Path | None, keep: int) -> list[str]:
    facts = [] if qps is None else ["--qps", str(qps)]
    return [*facts, "--max", str(keep)]


def _without_progress(
    lines: Iterable[dict[str, Any]], advance: Advance | None
) -> Iterable[dict[str, Any]]:
    for line in lines:
        if line["type"] != "progress":
            yield line
        elif advance is not None:
            advance(line["consumed"], line["total"])
