# SPDX-License-Identifier: BSD-2-Clause
"""Calibrates `explain`: devices with known faults, drawn from a seed, against what is said of them.

    python -m roceproof.conformance.calibration [--devices N] [--seed N] [--device N]

Prints a table and writes build/calibrate/calibration.json. Exits with 1 if a bar is missed.
"""

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from roceproof.common.arguments import COUNT, JOBS, OUTPUT_FILE, OUTPUT_FOLDER, Number
from roceproof.common.outcome import end_as
from roceproof.common.output import output_directory
from roceproof.common.progress import Progress
from roceproof.conformance.calibration.device import draw_device
from roceproof.conformance.calibration.judge import Verdict
from roceproof.conformance.calibration.run import Outcome, explained, outcomes, records_of
from roceproof.conformance.calibration.table import Reached, by_fault, by_traffic, lines, reached
from roceproof.conformance.capture.pcapng_writer import write_pcapng

BUILD = Path("build/calibrate")
SCHEMA = 1


@click.command()
@click.option("--devices", type=Number(1, 10**9), default=5000, show_default=True)
@click.option("--seed", default=1, show_default=True)
@click.option("-j", "jobs", type=JOBS, default=2, show_default=True)
@click.option("--device", type=COUNT, help="One device, by its number.")
@click.option("--write", type=OUTPUT_FILE, help="Its capture goes here.")
@click.option("-q", "--quiet", is_flag=True, help="No progress on stderr.")
@click.option("--out", type=OUTPUT_FOLDER, default=BUILD, show_default=True)
def main(
    devices: int,
    seed: int,
    jobs: int,
    device: int | None,
    write: Path | None,
    quiet: bool,
    out: Path,
) -> None:
    """Hold explain against devices whose faults are known."""
    if device is not None:
        _show(device, seed, write)
        return
    if write is not None:
        raise click.UsageError("--write needs a --device")
    with output_directory(out):
        found = _all(range(devices), seed, jobs, quiet=quiet)
        bars = reached(found)
        document = _document(found, bars, seed)
        (out / "calibration.json").write_text(json.dumps(document, indent=1) + "\n")
    _report(found, bars)
    sys.exit(0 if all(bar.enough for bar in bars) else 1)


def _all(numbers: Sequence[int], seed: int, jobs: int, *, quiet: bool) -> list[Outcome]:
    found = []
    with (
        Progress(quiet=quiet) as progress,
        progress.bar("explaining", total=len(numbers), unit="devices") as bar,
    ):
        for each in outcomes(numbers, seed, jobs):
            found.append(each)
            bar.advance()
    return found


def _document(found: Sequence[Outcome], bars: Sequence[Reached], seed: int) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        "seed": seed,
        "bars": [
            {"bar": each.bar.words, "least": each.bar.least, "count": each.count, "of": each.of}
            for each in bars
        ],
        "devices": [asdict(each) | {"verdict": each.verdict.value} for each in found],
    }


def _report(found: Sequence[Outcome], bars: Sequence[Reached]) -> None:
    for each in found:
        if each.verdict is Verdict.WRONG:
            truth = ", ".join(each.faults) or "clean"
            print(f"device {each.number} ({each.richness}; {truth}): {'; '.join(each.reasons)}")
    print(*lines(by_traffic(found), ("traffic", "faults")), sep="\n", end="\n\n")
    print(*lines(by_fault(found, rich=True), ("alone, rich",)), sep="\n", end="\n\n")
    print(*lines(by_fault(found, rich=False), ("alone, poor or fair",)), sep="\n", end="\n\n")
    print(*bars, sep="\n")


def _show(number: int, seed: int, write: Path | None) -> None:
    device = draw_device(number, seed)
    diagnoses, judgement = explained(device)
    hidden = [fault for fault in device.drawn if fault not in device.faults]
    print(f"device {number}: {device.plan.richness.value}, {len(device.captured.frames)} frames")
    print(f"faults: {', '.join(device.faults) or 'none'}; hidden: {', '.join(hidden) or 'none'}")
    print(f"changed by the link: {sorted(device.captured.flipped)}")
    for found in diagnoses:
        print(f"said: {' = '.join((found.id, *found.equivalent))}: {found.text}")
    print(f"verdict: {judgement.verdict.value} {'; '.join(judgement.reasons)}")
    if write is not None:
        write_pcapng(write, records_of(device))
        if device.facts is not None:
            write.with_suffix(".json").write_text(json.dumps(device.facts) + "\n")


if __name__ == "__main__":
    end_as(main)
