# SPDX-License-Identifier: BSD-2-Clause
"""What is asked of a run of the suite, and the words for the pytest session that does it."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from roceproof.common.errors import RoceproofError
from roceproof.common.paths import CASES
from roceproof.conformance.coverage.run_report import COVERAGE
from roceproof.conformance.regression.workers import worker_arguments
from roceproof.conformance.runner.session.asked import Asked
from roceproof.conformance.runner.session.options import session_arguments

DEFAULT_JOBS = 2
RESULTS, JUNIT = "results.json", "junit.xml"


@dataclass(frozen=True, kw_only=True)
class Request(Asked):
    """What to run against what."""

    cases: Sequence[Path] = ()
    expression: str | None = None
    resume: bool = False
    jobs: int | None = None
    waivers: Path | None = None
    coverage: bool = False


@dataclass(frozen=True, kw_only=True)
class Output:
    """What to print and where to write."""

    directory: Path
    per_rule: bool = False
    as_json: bool = False
    quiet: bool = False
    stories: bool = True
    """Whether failures are told as they come."""


def arguments_of(request: Request, directory: Path) -> list[str]:
    """Of a session that leaves what it finds in a directory."""
    places = [path.resolve() for path in request.cases or [CASES]]
    if odd := next((place for place in places if "[" in str(place)), None):
        raise RoceproofError(f"{odd}: pytest takes no [ in the place of a case; rename it")
    folders = [place if place.is_dir() else place.parent for place in places]
    words = session_arguments(request, root=Path(os.path.commonpath(folders)))
    words += ["-p", "roceproof.conformance.regression.workers", "-p", "no:unraisableexception"]
    words += map(str, places)
    words += ["--roce-captures", str(directory), "--roce-report", str(directory / RESULTS)]
    words += ["--junitxml", str(directory / JUNIT)]
    if request.expression:
        words += ["-k", request.expression]
    if request.coverage:
        words += ["--roce-coverage", str(directory / COVERAGE)]
    jobs = request.jobs or (1 if request.target == "nic" else DEFAULT_JOBS)
    return words + (worker_arguments(jobs) if jobs > 1 else [])
