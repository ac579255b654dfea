# SPDX-License-Identifier: BSD-2-Clause
"""``roceproof test``: the suite against one target, as a pytest session of its own.

The exit code is 0 if every case passed, 1 if one failed, 2 if there was nothing to run or the
bench could not be set up.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import click
import pytest

from roceproof.common.output import output_directory
from roceproof.common.paths import CASES, REFERENCE_DUT
from roceproof.conformance.runner.options import session_arguments
from roceproof.junit_order import sort_junit
from roceproof.suite_report import Listener, print_per_rule, print_summary

PASSED, FAILED, UNUSABLE = 0, 1, 2
DEFAULT_JOBS = 2


@dataclass(frozen=True, kw_only=True)
class Request:
    """What to run against what."""

    cases: Sequence[Path]
    target: str
    dut: Path | None
    suite: str
    seed: int
    expression: str | None
    widths: Sequence[int]
    interface: str | None
    agent: str | None
    mirror: str | None
    device_ip: str | None
    keep_all: bool
    waves: bool
    mutant: str | None
    jobs: int | None


@dataclass(frozen=True, kw_only=True)
class Output:
    """What to print and where to write."""

    directory: Path
    per_rule: bool
    as_json: bool
    quiet: bool


def run_suite(request: Request, output: Output) -> int:
    """Run it, print and write what was asked for, return the exit code."""
    if request.dut is not None and request.target != "hdl":
        raise click.UsageError("--dut is for --target hdl")
    if request.waves and (request.target != "hdl" or request.expression is None):
        raise click.UsageError("--waves needs --target hdl and -k to choose cases")
    listening = Listener(quiet=output.quiet, as_json=output.as_json)
    with output_directory(output.directory), listening as listener:
        code = pytest.main(_arguments(request, output.directory), plugins=[listener])
    if listener.problems:
        for problem in listener.problems:
            click.echo(problem, err=True)
        return UNUSABLE
    if code == pytest.ExitCode.USAGE_ERROR:
        return UNUSABLE  # pytest has said why
    if code not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED) or not listener.document:
        raise click.ClickException(_why_nothing(code, request))
    sort_junit(output.directory / "junit.xml")
    document = listener.document
    if output.as_json:
        print(json.dumps(document))
    else:
        print_summary(document, seconds=listener.seconds, quiet=output.quiet)
        if output.per_rule:
            print_per_rule(document)
    failed = any(case["outcome"] in ("failed", "error") for case in document["cases"])
    return FAILED if failed else PASSED


def _arguments(request: Request, directory: Path) -> list[str]:
    words = session_arguments(request.target)
    words += [str(path.resolve()) for path in request.cases or [CASES]]
    words += ["--roce-suite", request.suite]
    words += ["--roce-seed", str(request.seed), "--roce-captures", str(directory)]
    words += ["--roce-report", str(directory / "results.json")]
    words += ["--junitxml", str(directory / "junit.xml")]
    words += ["--roce-dut", str(request.dut or REFERENCE_DUT)]
    for width in request.widths:
        words += ["--roce-width", str(width)]
    for name in ("interface", "agent", "mirror", "device_ip", "mutant"):
        value = getattr(request, name)
        if value is not None:
            words += [f"--roce-{name.replace('_', '-')}", value]
    if request.expression:
        words += ["-k", request.expression]
    words += ["--roce-keep-all"] * request.keep_all + ["--roce-waves"] * request.waves
    jobs = request.jobs or (1 if request.target == "nic" else DEFAULT_JOBS)
    return words + (["-n", str(jobs), "--dist", "loadgroup"] if jobs > 1 else [])


def _why_nothing(code: int, request: Request) -> str:
    if code == pytest.ExitCode.NO_TESTS_COLLECTED or not request.expression:
        wanted = f"-k {request.expression!r} fits no case" if request.expression else "no case ran"
        return f"{wanted}; list them: roceproof rules --coverage --json"
    return f"the session ended with pytest's code {code}"
