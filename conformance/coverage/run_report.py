# SPDX-License-Identifier: BSD-2-Clause
"""``roceproof coverage``, and what ``roceproof test --coverage`` ends with.

The files of a run are coverage.json, which merges, and coverage.html beside it.
"""

import json
from collections.abc import Sequence
from pathlib import Path

from roceproof.common.terminal import Terminal
from roceproof.common.whole_file import whole_file
from roceproof.conformance.coverage.document import Coverage, merge_files
from roceproof.conformance.coverage.report import print_reach
from roceproof.conformance.coverage.summary import Summary, summarized

COVERAGE, PAGE = "coverage.json", "coverage.html"


def conclude_reach(directory: Path, *, is_whole: bool, is_silent: bool, quiet: bool) -> bool:
    """Write the page of a run and print its summary; False if a whole run has left gaps."""
    summary = summarized(Coverage.read(directory / COVERAGE))
    page = directory / PAGE
    write_page(summary, page)
    failed = is_whole and summary.gaps > 0
    if not is_silent and (failed or not quiet):
        print_reach(summary, page=page)
    if failed and not is_silent:
        device = summary.coverage.device
        text = f"coverage: {summary.gaps} bins that {device} claims are empty after a full run"
        Terminal().print(text, style="red", markup=False)
    return not failed


def run_merge(files: Sequence[Path], output: Path) -> int:
    merge_files(files).write(output)
    return 0


def run_show(files: Sequence[Path], *, page: Path | None, as_json: bool) -> int:
    """Print what files show together, or write it as a page."""
    summary = summarized(merge_files(files))
    if page is not None:
        write_page(summary, page)
    elif as_json:
        print(json.dumps({"schema": 1, **summary.to_json()}))
    else:
        print_reach(summary)
    return 0


def run_ucis(files: Sequence[Path], output: Path) -> int:
    """Write what files show together as UCIS."""
    from roceproof.conformance.coverage.ucis_export import write_ucis

    write_ucis(summarized(merge_files(files)), output)
    return 0


def write_page(summary: Summary, path: Path) -> None:
    # The template engine is needed for nothing else here.
    from roceproof.conformance.coverage.html import page

    with whole_file(path) as part:
        part.write_text(page(summary), encoding="utf-8")
