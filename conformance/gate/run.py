# SPDX-License-Identifier: BSD-2-Clause
"""``roceproof gate``: one verdict on a device, from its build to a real receiver.

First it is built, at all widths. Then come a few questions of connectivity, which stop a device
that sends nothing; the suite with coverage; a fixed share of random plans; and, where a machine
can run it, Soft-RoCE. Every frame of every stage is seen by the observer.
"""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from roceproof.common.errors import RoceproofError, first_line
from roceproof.common.exit_codes import Exit
from roceproof.common.interruption import interruptions_held, interruptions_let_through, time_limit
from roceproof.common.output import output_directory
from roceproof.common.printable import printable_lines
from roceproof.common.progress import Progress
from roceproof.common.whole_file import whole_file
from roceproof.conformance.coverage.run_report import COVERAGE
from roceproof.conformance.coverage.run_report import PAGE as COVERAGE_PAGE
from roceproof.conformance.gate.document import Known, document_of, read_baseline
from roceproof.conformance.gate.guest import Landed, meet_guest
from roceproof.conformance.gate.junit import add_to_junit
from roceproof.conformance.gate.markdown import markdown_of
from roceproof.conformance.gate.proposals import write_proposals
from roceproof.conformance.gate.seeds import Kept, fresh_seed, keep, kept_seeds
from roceproof.conformance.gate.soak import Soaked, soak
from roceproof.conformance.gate.text import print_gate
from roceproof.conformance.regression.request import JUNIT, RESULTS, Output, Request
from roceproof.conformance.regression.run import run_session
from roceproof.conformance.regression.waivers import SuiteWaivers, load_suite_waivers
from roceproof.conformance.runner.connectivity import (
    Check,
    check_connectivity,
    is_alive,
    told_first,
)
from roceproof.conformance.runner.findings.root import STREAM
from roceproof.conformance.runner.outcomes import ERROR, FAILING, HUNG, SKIPPED
from roceproof.conformance.runner.session.options import Options, open_factory, widths_of
from roceproof.conformance.runner.session.verdict import REQUESTS
from roceproof.dpi import BuildError, load_manifest
from roceproof.dpi.manifest.snapshot import Snapshot
from roceproof.rxe_env.kernel import versions

PAGE, COMMENT, VERDICT = "gate.html", "gate.md", "gate.json"
_CODES = {"pass": Exit.FINE, "fail": Exit.FINDINGS, "incomplete": Exit.UNUSABLE}
Document = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Gate:
    manifest: Path
    suite: str
    widths: Sequence[int]
    seed: int
    plans: int
    guest: bool
    kernel: str | None
    baseline: Path | None
    waivers: Path | None
    out: Path
    as_json: bool
    jobs: int
    quiet: bool
    resume: bool = False
    minutes: float | None = None
    propose_limits: Path | None = None
    fresh: bool = False


def run_gate(wanted: Gate) -> int:
    """Go through all stages; 0 if nothing failed, or nothing that the baseline does not know.

    Whatever ends it, gate.json says what is known, and that it is not all.
    """
    manifest = load_manifest(wanted.manifest)
    baseline = read_baseline(wanted.baseline)
    if wanted.guest and wanted.kernel is not None:
        with Progress(quiet=wanted.quiet) as progress:
            versions.find(wanted.kernel, progress.step)
    options = _options(wanted)
    known = Known()

    def told() -> Document:
        return document_of(manifest, options=options, known=known, baseline=baseline)

    with output_directory(wanted.out), interruptions_held():
        _forget(wanted)
        known.lacks = ["it has not ended: it is under way, or was killed"]
        _write_verdict(wanted, told())
        known.lacks = []
        end: BaseException | None = None
        with time_limit(wanted.minutes) as is_over:  # what is known then is written all the same
            try:
                _judge(wanted, options, known, Snapshot(manifest))
            except KeyboardInterrupt as interruption:
                end = None if is_over() else interruption
                known.lacks.append("out of time" if is_over() else "interrupted")
            except (RoceproofError, OSError) as error:
                end = error
                known.lacks.append(first_line(error))
        document = told()
        if isinstance(end, BuildError):
            _write_verdict(wanted, document)
        else:
            end = _written(wanted, document) or end
            if wanted.propose_limits is not None:
                write_proposals(wanted.propose_limits, document)
    if wanted.as_json:
        print(json.dumps(document))
    elif not isinstance(end, BuildError):
        print_gate(document, out=wanted.out, quiet=wanted.quiet)
    if end is not None:
        raise end
    return _CODES[document["verdict"]]


def _forget(wanted: Gate) -> None:
    """Nothing of a run before may be taken for this one's; what it has judged, by `resume`."""
    kept = (RESULTS, JUNIT) if wanted.resume else ()
    for name in {PAGE, COMMENT, RESULTS, JUNIT, COVERAGE, COVERAGE_PAGE} - {*kept}:
        (wanted.out / name).unlink(missing_ok=True)
    if not wanted.resume:
        for capture in (wanted.out / REQUESTS).glob("*.pcapng"):
            capture.unlink()


def _options(wanted: Gate) -> Options:
    return Options(
        target="hdl",
        dut=wanted.manifest.resolve(),
        width=tuple(wanted.widths),
        suite=wanted.suite,
        seed=wanted.seed,
    )


def _judge(wanted: Gate, options: Options, known: Known, snapshot: Snapshot) -> None:
    """Go through the stages, each of the same manifest and sources."""
    with interruptions_let_through(), Progress(quiet=wanted.quiet) as progress:
        widths = [width for width in widths_of(options) if width is not None]
        _connect(options, widths, wanted.out, progress, known.checks)
    snapshot.must_hold()
    kept = kept_seeds(wanted.manifest)
    sending = [width for width in widths if is_alive(known.checks[width])]
    if wanted.baseline:  # that a width does nothing may be known, but nothing else of it is
        known.lacks += [f"no case was run at {n} bit" for n in widths if n not in sending]
    if not sending:
        asked = {check.name: check.outcome for check in known.checks[widths[0]]}
        known.landed = Landed(words=f"its first {told_first(asked)} fails")
        return
    session = run_session(_request(wanted, sending), _output(wanted), snapshot=snapshot)
    if session is None:
        raise RoceproofError("the suite did not run, for what is said above")
    known.session = session.document
    known.lacks += lacks_of(session.document)
    if session.is_interrupted:
        raise KeyboardInterrupt
    snapshot.must_hold()
    waivers = _waivers(wanted, options)
    known.hung = "" if wanted.baseline else hung_cases(session.document)
    with interruptions_let_through(), Progress(quiet=wanted.quiet) as progress:
        soak(
            options,
            sending,
            plans=0 if known.hung else wanted.plans,
            kept=[] if known.hung else kept,
            fresh=fresh_seed() if wanted.fresh else None,
            jobs=wanted.jobs,
            out=wanted.out,
            waives=lambda rules: waivers.reasons("", rules),
            progress=progress,
            soaked=known.soaked,
            look=snapshot.must_hold,
            has_hung=any(HUNG in case for case in session.document["cases"]),
        )
        known.lacks += lacks_of_plans(known.soaked)
        _keep_seeds(wanted, kept, known.soaked)
        snapshot.must_hold()
        known.landed = _landed(wanted, sending[0], progress)
    snapshot.must_hold()
    if known.landed.is_broken or (wanted.kernel and known.landed.outcome == SKIPPED):
        known.lacks.append(f"Soft-RoCE: {known.landed.words}")


def _keep_seeds(wanted: Gate, kept: Sequence[Kept], soaked: Soaked) -> None:
    """Those of the fresh seeds that have found something."""
    if soaked.fresh is not None:
        drawn = range(soaked.fresh, soaked.fresh + wanted.plans)
        plans = [each for each in soaked.findings if each["seed"] in drawn]
        soaked.added = [each.seed for each in keep(wanted.manifest, kept, plans)]


def lacks_of(document: Document) -> Iterator[str]:
    """What the suite lacks to be one that has judged the device."""
    counts = Counter(case["outcome"] for case in document["cases"])
    if stopped := document.get("stopped"):
        yield str(stopped)
    if count := document["not_run"]:
        yield f"{count} cases of the suite were not run"
    if count := counts[ERROR]:
        yield f"{count} cases broke by themselves, whatever the device"
    if document["cases"] and counts.keys() <= {SKIPPED}:
        yield "no case of the suite is for this device"


def lacks_of_plans(soaked: Soaked) -> Iterator[str]:
    if broke := soaked.broke:
        yield f"{len(broke)} random plans broke by themselves, whatever the device ({broke[0]})"


def hung_cases(document: Document) -> str:
    """Why random plans would show no more: the device has hung in most cases, or a stream stops."""
    if still := next((each for each in document["findings"] if each["troubles"] == [STREAM]), None):
        return str(still["sentence"]).removeprefix("stop: ")
    cases = [case for case in document["cases"] if case["outcome"] != SKIPPED]
    hung = sum(HUNG in case and case["outcome"] in FAILING for case in cases)
    if 2 * hung <= len(cases):
        return ""
    return f"something never came in {hung} of {len(cases)} cases"


def _waivers(wanted: Gate, options: Options) -> SuiteWaivers:
    accepted = load_suite_waivers(wanted.waivers, options, cases=())
    return SuiteWaivers(accepted, options, is_whole=False)


def _connect(
    options: Options,
    widths: Sequence[int],
    out: Path,
    progress: Progress,
    checks: dict[int, list[Check]],
) -> None:
    for width in widths:
        factory = open_factory(options, width)
        factory.prepare(progress.step)
        progress.step(f"asking the {width}-bit device the first questions")
        place = partial(_first_frames, out, width)
        checks[width] = [
            *check_connectivity(
                factory, seed=options.seed, capture=place, simulated=options.simulated
            )
        ]
        factory.close()


def _first_frames(out: Path, width: int, name: str) -> Path:
    return out / f"connectivity.{name}_{width}bit.pcapng"


def _landed(wanted: Gate, width: int, progress: Progress) -> Landed:
    if not wanted.guest:
        return Landed(words="left out by --no-guest")
    return meet_guest(
        wanted.manifest,
        kernel=wanted.kernel,
        data_width=width,
        seed=wanted.seed,
        out=wanted.out,
        progress=progress,
    )


def _request(wanted: Gate, widths: Sequence[int]) -> Request:
    return Request(
        target="hdl",
        dut=wanted.manifest,
        suite=wanted.suite,
        seed=wanted.seed,
        width=tuple(widths),
        jobs=wanted.jobs,
        waivers=wanted.waivers,
        coverage=True,
        keep_requests=True,
        resume=wanted.resume,
    )


def _output(wanted: Gate) -> Output:
    return Output(directory=wanted.out, quiet=wanted.quiet, stories=False)


def _written(wanted: Gate, document: Document) -> OSError | None:
    """What kept it from being written, if anything."""
    try:
        _write(wanted, document)
    except OSError as error:
        return error
    return None


def _write_verdict(wanted: Gate, document: Document) -> None:
    with whole_file(wanted.out / VERDICT) as part:
        part.write_text(json.dumps(document, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def _write(wanted: Gate, document: Document) -> None:
    _write_verdict(wanted, document)
    with whole_file(wanted.out / COMMENT) as part:
        part.write_text(printable_lines(markdown_of(document)), encoding="utf-8")
    add_to_junit(wanted.out / JUNIT, document)
    # The template engine and the story of a capture are needed for nothing else here.
    from roceproof.conformance.gate.page import page
    from roceproof.conformance.gate.stories import stories_of

    stories = stories_of(document, junit=wanted.out / JUNIT, out=wanted.out)
    with whole_file(wanted.out / PAGE) as part:
        part.write_text(printable_lines(page(document, stories)), encoding="utf-8")
