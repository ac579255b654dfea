# SPDX-License-Identifier: BSD-2-Clause
"""Which lines, branches and bits of the reference endpoint the full suite exercises.

    python -m roceproof.conformance.code_coverage [--suite smoke] [--width N] [-k EXPRESSION]

Builds in build/coverage, prints a summary and writes build/coverage/index.html. Exit code 1 if a
bar is missed or an exclusion of rtl/coverage.toml excludes nothing; 2 if the suite did not run.
"""

import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import click

from roceproof.common.arguments import DATA_WIDTH, JOBS
from roceproof.common.errors import RoceproofError
from roceproof.common.outcome import end_as
from roceproof.common.page import templates
from roceproof.common.paths import BUILD, CASES, REFERENCE_DUT
from roceproof.conformance.code_coverage.exclusions import Exclusion, load_exclusions
from roceproof.conformance.code_coverage.plugin import SUM
from roceproof.conformance.code_coverage.points import KINDS, Point, Sum, read_points
from roceproof.conformance.code_coverage.report import WidthReport, judge, spans
from roceproof.conformance.runner.session.options import session_arguments
from roceproof.dpi.manifest.dut import load_manifest

EXCLUSIONS = REFERENCE_DUT.with_name("coverage.toml")
ROOT = BUILD / "coverage"
_FAILED = 1  # pytest's exit code where cases fail: what they exercised counts all the same


class NothingRan(RoceproofError):
    """The suite left no coverage."""


@click.command()
@click.option("--suite", type=click.Choice(["smoke", "full"]), default="full", show_default=True)
@click.option("--width", "widths", type=DATA_WIDTH, multiple=True, help="All if not given.")
@click.option("-k", "expression", help="Only cases whose names match.")
@click.option("-j", "jobs", type=JOBS, default=2, show_default=True)
def main(suite: str, widths: tuple[int, ...], expression: str | None, jobs: int) -> None:
    """Run the suite over the endpoint built for coverage, and report."""
    manifest = load_manifest(REFERENCE_DUT)
    data = ROOT / "data"
    data.mkdir(parents=True, exist_ok=True)
    for old in data.iterdir():
        old.unlink()
    chosen = widths or manifest.data_widths
    _run(data, suite=suite, widths=chosen, expression=expression, jobs=jobs)
    exclusions = load_exclusions(EXCLUSIONS)
    used: Counter[Exclusion] = Counter()
    reports = [judge(width, _points(data, width), exclusions, used) for width in chosen]
    lacks = [lack for report in reports for lack in report.lacks()]
    if not widths and not expression:
        lacks += [f"excludes nothing: {each}" for each in exclusions if not used[each]]
    _print(reports, lacks)
    page = ROOT / "index.html"
    page.write_text(_page(manifest.name, reports, lacks, used), encoding="utf-8")
    print(page)
    sys.exit(1 if lacks else 0)


def _run(
    data: Path, *, suite: str, widths: Sequence[int], expression: str | None, jobs: int
) -> None:
    words = [sys.executable, "-m", "pytest", *session_arguments("hdl"), str(CASES)]
    words += ["-p", "roceproof.conformance.code_coverage.plugin", "-n", str(jobs)]
    words += ["--dist", "worksteal", "--roce-suite", suite, "--roce-code-coverage", str(data)]
    words += ["--roce-captures", str(ROOT / "captures")]
    for width in widths:
        words += ["--roce-width", str(width)]
    words += ["-k", expression] if expression else []
    code = subprocess.run(words, check=False).returncode
    if code not in (0, _FAILED):
        raise NothingRan(f"the suite ended with pytest's code {code}; run: roceproof test")
    if code == _FAILED:
        print("cases failed; what they exercised counts: see roceproof test", file=sys.stderr)


def _points(data: Path, width: int) -> list[tuple[Point, int]]:
    total = Sum()
    for path in sorted(data.glob(f"{width}.*{SUM}")):
        total.add(path)
    merged = data / f"{width}.dat"
    total.write(merged)
    if not merged.exists():
        raise NothingRan(f"no simulation at {width} bit has written its coverage")
    return list(read_points(merged))


def _print(reports: Sequence[WidthReport], lacks: Sequence[str]) -> None:
    for report in reports:
        told = ", ".join(
            f"{kind} {of.percent:.1f} % of {of.points}"
            + (f" ({of.excluded} excluded)" if of.excluded else "")
            for kind, of in report.kinds.items()
        )
        print(f"{report.width} bit: {told}")
        print(f"  contract ports: {report.ports.hit} of {report.ports.points} bits toggle")
    for lack in lacks:
        print(lack if len(lack) < 300 else f"{lack[:300]} ...")


def _page(
    device: str, reports: Sequence[WidthReport], lacks: Sequence[str], used: Counter[Exclusion]
) -> str:
    return (
        templates("roceproof.conformance.code_coverage")
        .get_template("page.html.j2")
        .render(
            device=device,
            reports=reports,
            lacks=lacks,
            kinds=KINDS,
            spans=spans,
            used=used.most_common(),
        )
    )


if __name__ == "__main__":
    end_as(main)
