# SPDX-License-Identifier: BSD-2-Clause
"""Keeps the smallest capture that shows each declared deviation, as evidence for docs/findings.md.

    python -m roceproof.conformance.runner.judging.deviation_evidence
        build/conformance docs/findings

The first folder is the `--out` of a `roceproof test --target rxe --suite full`.
"""

import json
import shutil
from pathlib import Path

import click

from roceproof.common.arguments import OUTPUT_FOLDER, PlacePath
from roceproof.common.outcome import end_as
from roceproof.conformance.capture.pcapng_writer import write_pcapng
from roceproof.conformance.capture.reader import read
from roceproof.conformance.suite.limits.deviations import load_deviations

LONG, KEPT_AT_EACH_END = 1000, 20


def smallest_captures(results: Path) -> dict[str, Path]:
    """By deviation, the smallest of the captures of the cases that showed it."""
    found: dict[str, list[Path]] = {}
    for case in json.loads((results / "results.json").read_text())["cases"]:
        if case["outcome"] == "deviation":
            found.setdefault(case["deviation"], []).append(Path(case["capture"]))
    return {name: min(paths, key=lambda p: p.stat().st_size) for name, paths in found.items()}


def keep(capture: Path, target: Path) -> None:
    """Copy a capture; of a long one only how it begins and ends."""
    records = list(read(capture))
    if len(records) <= LONG:
        shutil.copyfile(capture, target)
        return
    ends = [*records[:KEPT_AT_EACH_END], *records[-KEPT_AT_EACH_END:]]
    left_out = len(records) - len(ends)
    write_pcapng(target, ends, comment=f"{left_out} packets in the middle are left out")


@click.command()
@click.argument("results", type=PlacePath(exists=True, file_okay=False))
@click.argument("folder", type=OUTPUT_FOLDER)
def main(results: Path, folder: Path) -> None:
    """Copy them into FOLDER, named by their deviations; say which were not seen."""
    captures = smallest_captures(results)
    folder.mkdir(parents=True, exist_ok=True)
    for name, path in sorted(captures.items()):
        keep(path, folder / f"{name}.pcapng")
    for deviation in load_deviations():
        if deviation.id not in captures:
            click.echo(f"not seen in this run: {deviation.id}", err=True)


if __name__ == "__main__":
    end_as(main)
