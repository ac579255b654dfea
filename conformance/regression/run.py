# SPDX-License-Identifier: BSD-2-Clause
"""``roceproof test``: the suite against one target, as a pytest session of its own.

The exit code is 0 if every case passed, 1 if one failed, 2 if there was nothing to run, the bench
could not be set up or cases broke by themselves, 3 if the device does not build, and 130 or 143
after an interruption; what came of the cases until then is printed and written all the same.
"""

import json
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import click
import pytest

from roceproof.common.errors import RoceproofError
from roceproof.common.exit_codes import Exit
from roceproof.common.interruption import interruptions_held, interruptions_let_through
from roceproof.common.output import output_directory
from roceproof.common.paths import REFERENCE_DUT
from roceproof.common.printable import printable_lines
from roceproof.common.progress import Progress
from roceproof.conformance.coverage.run_report import COVERAGE, PAGE, conclude_reach
from roceproof.conformance.kernels.drafts import drafts_of
from roceproof.conformance.regression.journal import open_journal
from roceproof.conformance.regression.junit import add_resumed, sort_junit
from roceproof.conformance.regression.report import Listener, print_per_rule, print_summary
from roceproof.conformance.regression.request import JUNIT, RESULTS, Output, Request, arguments_of
from roceproof.conformance.regression.waivers import SuiteWaivers, load_suite_waivers
from roceproof.conformance.regression.workers import Workers
from roceproof.conformance.runner.outcomes import ERROR, FAILING
from roceproof.conformance.runner.session.asked import Asked
from roceproof.conformance.runner.session.ending import end_session
from roceproof.conformance.runner.session.inner_session import run_alone
from roceproof.conformance.runner.session.options import Options, open_factory, widths_of
from roceproof.conformance.runner.session.results import Results
from roceproof.dpi.manifest.dut import load_manifest
from roceproof.dpi.manifest.snapshot import Snapshot, told
from roceproof.rxe_env.kernel import versions

KNOWN_ENDS = (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.INTERRUPTED)
DRAFTS = "drafts.toml"


@dataclass(frozen=True, kw_only=True)
class Session:
    document: dict[str, Any]
    seconds: float
    waivers: SuiteWaivers
    is_interrupted: bool

    @property
    def failed(self) -> bool:
        """Whether a case failed, or a waiver is out of date."""
        has_failed = any(case["outcome"] in FAILING for case in self.document["cases"])
        return has_failed or any(each["finding"] for each in self.document.get("waivers", ()))

    @property
    def is_whole(self) -> bool:
        """Whether every case has come to its end, whatever that says of the device."""
        broke = any(case["outcome"] == ERROR for case in self.document["cases"])
        return not (broke or self.document["not_run"])


def run_suite(request: Request, output: Output) -> int:
    """Run it, print and write what was asked for, return the exit code."""
    if request.dut is not None and request.target not in ("hdl", "model"):
        raise click.UsageError("--dut is for --target hdl, or for a model within its limits")
    if request.kernel is not None and request.target != "rxe":
        raise click.UsageError("--kernel is for --target rxe")
    if request.resume and request.coverage:
        raise click.UsageError("--coverage is of one run: leave out --resume")
    if request.waves and (request.target != "hdl" or request.expression is None):
        raise click.UsageError("--waves needs --target hdl and -k to choose cases")
    with output_directory(output.directory), interruptions_held():
        session = run_session(request, output)
        if session is None:
            return Exit.UNUSABLE
        _show(session.document, output, seconds=session.seconds)
        for status in session.waivers.told(session.document):
            click.echo(f"roceproof: {status}", err=True)
        if session.is_interrupted:
            raise KeyboardInterrupt
        if stopped := session.document.get("stopped"):
            click.echo(f"roceproof: gave up: {stopped}: mend it, then --resume", err=True)
            return Exit.UNUSABLE
        failed = session.failed
        if request.coverage:
            failed |= not _has_reached_all(request, output)
        if failed:
            return Exit.FINDINGS
        return Exit.FINE if session.is_whole else Exit.UNUSABLE


def run_session(
    request: Request, output: Output, *, snapshot: Snapshot | None = None
) -> Session | None:
    """Run the cases and write their results; None if there were none, which has been told.

    They are of one device, which is as it is now or as the `snapshot` has it.
    """
    if snapshot is None and request.target == "hdl":
        snapshot = Snapshot(load_manifest(request.dut or REFERENCE_DUT))
    options = _options(request, output)
    if not request.resume:
        _forget_results(output.directory)
    waivers = SuiteWaivers(
        load_suite_waivers(request.waivers, options, cases=request.cases),
        options,
        is_whole=request.suite in ("gate", "full") and not _is_selection(request),
    )
    try:
        with interruptions_let_through():
            made_of = _prepared(options, quiet=output.quiet)
    except KeyboardInterrupt:
        _tell_interrupted(options, output)
        raise
    request = _with_one_kernel(request)
    journal = open_journal(request, output.directory, made_of)
    _forget_results(output.directory)
    listening = Listener(
        quiet=output.quiet, as_json=output.as_json, waivers=waivers, stories=output.stories
    )
    watching = [Watchman(snapshot)] if snapshot else []
    with listening as listener, basetemp() as place:
        words = [*arguments_of(request, output.directory), "--basetemp", str(place), *journal]
        code = _ran(words, [listener, Workers(), *watching], output.directory)
    for watchman in watching:
        if watchman.problem:
            raise RoceproofError(watchman.problem)
    if snapshot:
        snapshot.must_hold()
    for problem in listener.problems:
        click.echo(printable_lines(problem), err=True)
    if listener.problems or code == pytest.ExitCode.USAGE_ERROR:
        return None  # pytest has said why
    is_all_over = request.resume and code == pytest.ExitCode.NO_TESTS_COLLECTED
    if not (code in KNOWN_ENDS or is_all_over) or not listener.document:
        raise click.ClickException(_why_nothing(code, request))
    junit = output.directory / JUNIT
    document = listener.document
    if request.resume:
        add_resumed(junit, document)
    sort_junit(junit, document)
    waivers.apply(document, results=output.directory / RESULTS, junit=junit)
    if request.target == "rxe" and not request.mutant:
        _draft(document, request, output)
    return Session(
        document=document,
        seconds=listener.seconds,
        waivers=waivers,
        is_interrupted=code == pytest.ExitCode.INTERRUPTED and "stopped" not in document,
    )


def _ran(words: list[str], plugins: list[object], directory: Path) -> int:
    try:
        return run_alone(words, plugins)
    except OSError as error:
        raise RoceproofError(
            f"{error.filename or directory}: {error.strerror}; mend it, then --resume"
        ) from error


def _forget_results(directory: Path) -> None:
    """Nothing that was there may be taken for what this run finds."""
    for name in (RESULTS, JUNIT, COVERAGE, PAGE):
        (directory / name).unlink(missing_ok=True)


def _is_selection(request: Request) -> bool:
    return bool(request.cases or request.expression or request.mutant)


def _has_reached_all(request: Request, output: Output) -> bool:
    is_full = request.target == "hdl" and request.suite == "full"
    return conclude_reach(
        output.directory,
        is_whole=is_full and not _is_selection(request),
        is_silent=output.as_json,
        quiet=output.quiet,
    )


def _options(request: Request, output: Output) -> Options:
    wanted = {each.name: getattr(request, each.name) for each in fields(Asked)}
    wanted["dut"] = request.dut or REFERENCE_DUT
    return Options(**wanted, report=output.directory / RESULTS)


def _prepared(options: Options, *, quiet: bool) -> Mapping[str, str]:
    """Read what describes the device, and build or boot it, before any case waits for it.

    What is returned is what the device is made of.
    """
    made_of: dict[str, str] = {}
    with Progress(quiet=quiet) as progress:
        for width in widths_of(options):
            factory = open_factory(options, width)
            factory.prepare(progress.step, waves=options.waves)
            made_of |= factory.versions()
    return made_of


def _with_one_kernel(request: Request) -> Request:
    """The request with the release that its kernel turned out to be, for all workers alike."""
    if request.kernel is None:
        return request
    return replace(request, kernel=versions.pinned(request.kernel))


def _draft(document: dict[str, Any], request: Request, output: Output) -> None:
    """Write drafts of entries for what the kernel does and nobody has declared."""
    place = output.directory / DRAFTS
    place.unlink(missing_ok=True)
    guest = versions.kept(request.kernel)
    if guest and (text := drafts_of(document, guest.release)):
        place.write_text(text, encoding="utf-8")
        click.echo(f"roceproof: drafts of what is not declared yet: {place}", err=True)


def _tell_interrupted(options: Options, output: Output) -> None:
    """The results of a run that has not begun."""
    results = Results(options)
    results.pytest_keyboard_interrupt()
    results.write()
    _show(results.document(), output, seconds=0.0)


def _show(document: dict[str, Any], output: Output, *, seconds: float) -> None:
    if output.as_json:
        print(json.dumps(document))
    else:
        print_summary(document, seconds=seconds, quiet=output.quiet)
        if output.per_rule:
            print_per_rule(document)


@contextmanager
def basetemp() -> Iterator[Path]:
    """Where cases have their temporary files, until the run's end."""
    with tempfile.TemporaryDirectory(prefix="roceproof-test-") as place:
        yield Path(place) / "cases"


def _why_nothing(code: int, request: Request) -> str:
    if code == pytest.ExitCode.NO_TESTS_COLLECTED or not request.expression:
        wanted = f"-k {request.expression!r} fits no case" if request.expression else "no case ran"
        return f"{wanted}; list them: roceproof rules --coverage --json"
    return f"the session ended with pytest's code {code}"


class Watchman:
    """Looks at what a device is made of whenever a case has been played."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._session: pytest.Session | None = None
        self.problem = ""

    def pytest_sessionstart(self, session: pytest.Session) -> None:
        self._session = session

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if self.problem or not self._session or report.when != "call":
            return
        if changed := self._snapshot.changed():
            self.problem = told(changed)
            end_session(self._session, self.problem)
