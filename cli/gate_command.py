# SPDX-License-Identifier: BSD-2-Clause
"""``roceproof gate``: one verdict on a device, from its build to a real receiver.

First it is built, at all widths. Then come a few questions of connectivity, which stop a device
that sends nothing; the suite with coverage; a fixed share of random plans; and, where a machine
can run it, Soft-RoCE. Every frame of every stage is seen by the observer.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from roceproof.common.interruption import interruptions_held, interruptions_let_through
from roceproof.common.output import output_directory
from roceproof.common.progress import Progress
from roceproof.common.whole_file import whole_file
from roceproof.conformance.runner.connectivity import Check, check_connectivity, is_alive
from roceproof.conformance.runner.options import Options, open_factory, widths_of
from roceproof.conformance.runner.verdict import REQUESTS
from roceproof.dpi import Manifest, load_manifest
from roceproof.gate_document import Baseline, document_of, read_baseline
from roceproof.gate_guest import Landed, meet_guest
from roceproof.gate_junit import add_to_junit
from roceproof.gate_markdown import markdown_of
from roceproof.gate_soak import Soaked, soak
from roceproof.gate_text import print_gate
from roceproof.reach_command import COVERAGE
from roceproof.suite_command import UNUSABLE, run_session
from roceproof.suite_request import JUNIT, RESULTS, Output, Request
from roceproof.suite_waivers import SuiteWaivers, load_suite_waivers

PAGE, COMMENT, VERDICT = "gate.html", "gate.md", "gate.json"
Document = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Gate:
    """What was asked for."""

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


def run_gate(wanted: Gate) -> int:
    """Go through all stages; 0 if nothing failed, or nothing that the baseline does not know."""
    manifest = load_manifest(wanted.manifest)
    baseline = read_baseline(wanted.baseline)
    with output_directory(wanted.out), interruptions_held():
        for name in (PAGE, COMMENT, VERDICT, RESULTS, JUNIT, COVERAGE):
            (wanted.out / name).unlink(missing_ok=True)  # nothing of a run before
        for capture in (wanted.out / REQUESTS).glob("*.pcapng"):
            capture.unlink()
        document = _judged(wanted, manifest, baseline)
        if document is None:
            return UNUSABLE
        _write(wanted, document)
    if wanted.as_json:
        print(json.dumps(document))
    else:
        print_gate(document, out=wanted.out, quiet=wanted.quiet)
    return 0 if document["verdict"] == "pass" else 1


def _judged(wanted: Gate, manifest: Manifest, baseline: Baseline | None) -> Document | None:
    options = Options(
        target="hdl",
        dut=wanted.manifest.resolve(),
        widths=tuple(wanted.widths),
        suite=wanted.suite,
        seed=wanted.seed,
    )
    with interruptions_let_through(), Progress(quiet=wanted.quiet) as progress:
        widths = [width for width in widths_of(options) if width is not None]
        checks = _connected(options, widths, wanted.out, progress)
    sending = [width for width in widths if is_alive(checks[width])]
    session, soaked, landed = None, Soaked(), Landed(words="no frame comes out")
    if sending:
        session = run_session(_request(wanted, sending), _output(wanted))
        if session is None:
            return None
        if session.is_interrupted:
            raise KeyboardInterrupt
        waivers = _waivers(wanted, options)
        with interruptions_let_through(), Progress(quiet=wanted.quiet) as progress:
            soaked = soak(
                options,
                sending,
                plans=wanted.plans,
                jobs=wanted.jobs,
                out=wanted.out,
                waives=lambda rules: waivers.reasons("", rules),
                progress=progress,
            )
            landed = _landed(wanted, sending[0], progress)
    return document_of(
        manifest,
        options=options,
        checks=checks,
        session=session.document if session else None,
        soaked=soaked,
        landed=landed,
        baseline=baseline,
    )


def _waivers(wanted: Gate, options: Options) -> SuiteWaivers:
    accepted = load_suite_waivers(wanted.waivers, options, cases=())
    return SuiteWaivers(accepted, options, is_whole=False)


def _connected(
    options: Options, widths: Sequence[int], out: Path, progress: Progress
) -> dict[int, list[Check]]:
    checks = {}
    for width in widths:
        factory = open_factory(options, width)
        factory.prepare(progress.step)
        progress.step(f"asking the {width}-bit device the first questions")
        place = partial(_first_frames, out, width)
        checks[width] = list(check_connectivity(factory, seed=options.seed, capture=place))
        factory.close()
    return checks


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
        cases=(),
        target="hdl",
        dut=wanted.manifest,
        suite=wanted.suite,
        seed=wanted.seed,
        widths=widths,
        jobs=wanted.jobs,
        waivers=wanted.waivers,
        coverage=True,
        keep_requests=True,
    )


def _output(wanted: Gate) -> Output:
    return Output(directory=wanted.out, quiet=wanted.quiet, stories=False)


def _write(wanted: Gate, document: Document) -> None:
    with whole_file(wanted.out / VERDICT) as part:
        part.write_text(json.dumps(document, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    with whole_file(wanted.out / COMMENT) as part:
        part.write_text(markdown_of(document), encoding="utf-8")
    add_to_junit(wanted.out / JUNIT, document)
    # The template engine and the story of a capture are needed for nothing else here.
    from roceproof.conformance.runner.gate_page import page
    from roceproof.gate_stories import stories_of

    stories = stories_of(document, junit=wanted.out / JUNIT, out=wanted.out)
    with whole_file(wanted.out / PAGE) as part:
        part.write_text(page(document, stories), encoding="utf-8")
