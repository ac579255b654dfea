# SPDX-License-Identifier: BSD-2-Clause
"""``roceproof check``: captures or a live interface against the rules of the wire.

The exit code is 2 if anything could not be read to its end, else 1 if a rule of
weight is broken, else 0.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from roceproof.cli.console.help_examples import examples
from roceproof.cli.console.shared_options import qps_option, waivers_option
from roceproof.common.arguments import COUNT, JOBS, OUTPUT_FILE, WORD, Number
from roceproof.common.exit_codes import Exit
from roceproof.common.printable import printable

if TYPE_CHECKING:
    from roceproof.conformance.check.report import Document
    from roceproof.conformance.rules.waivers import Waiver


DAY_SECONDS = 86400


class Request(NamedTuple):
    """What to judge and by which facts."""

    files: Sequence[str]
    interface: str | None
    duration: float | None
    qps: Path | None
    waivers: Path | None
    keep: int
    jobs: int


class Output(NamedTuple):
    """What to print and to write."""

    each: bool
    as_json: bool
    annotate: Path | None
    junit: Path | None
    quiet: bool


@click.command(epilog=examples("check"))
@click.argument("files", nargs=-1, metavar="FILE...")
@click.option("-i", "--interface", type=WORD, help="Capture there until Ctrl-C, then report.")
@click.option(
    "--duration", type=Number(0.01, DAY_SECONDS, whole=False), help="Seconds to capture with -i."
)
@qps_option
@waivers_option
@click.option("--all", "each", is_flag=True, help="Print each finding, not groups of them.")
@click.option("--json", "as_json", is_flag=True, help="Print one document.")
@click.option(
    "--annotate",
    type=OUTPUT_FILE,
    help="Write the capture as pcapng with the findings as packet comments.",
)
@click.option("--junit", type=OUTPUT_FILE, help="Write a test case for each rule.")
@click.option(
    "--max",
    "keep",
    type=COUNT,
    default=250_000,
    show_default=True,
    help="Findings to keep of each file for --all and --json; 0 for all. They are all counted.",
)
@click.option("-j", "jobs", type=JOBS, default=1, help="Workers.")
@click.option("-q", "--quiet", is_flag=True, help="Findings only, and no progress on stderr.")
def check(**given: Any) -> None:
    """Judge captures (- is stdin) by the rules of the wire; exit code 1 if one is broken."""
    output = Output(**{name: given.pop(name) for name in Output._fields})
    sys.exit(run_check(Request(**given), output))


def run_check(request: Request, output: Output) -> int:
    """Check everything, print and write what was asked for, return the exit code."""
    from roceproof.conformance.check.build import find_oracle
    from roceproof.conformance.check.text import print_report

    _refuse_nonsense(request, output)
    waivers = None if request.waivers is None else _waivers(request.waivers)
    find_oracle()
    documents = []
    for document in _documents(request, output):
        if waivers is not None:
            _waive(document, waivers)
        documents.append(document)
        if not output.as_json and document["frames"]:
            print_report(document, each=output.each, quiet=output.quiet)
        _warn(document)
    if output.as_json:
        from roceproof.conformance.check.json_document import json_of

        sys.stdout.writelines(json_of(documents, waivers))
    if output.annotate is not None and (documents[0]["frames"] or not documents[0]["error"]):
        from roceproof.conformance.check.annotate import annotate

        annotate(request.files[0], output.annotate, documents[0])
    if output.junit is not None:
        from roceproof.conformance.check.junit import write_junit

        write_junit(output.junit, documents, waivers or ())
    for waiver in waivers or ():
        if status := waiver.status():
            click.echo(f"roceproof: {status}", err=True)
    return _exit_code(documents)


def _waivers(path: Path) -> list[Waiver]:
    from roceproof.conformance.rules.waivers import load_waivers

    return [waiver for waiver in load_waivers(path) if waiver.rule is not None]


def _waive(document: Document, waivers: list[Waiver]) -> None:
    from roceproof.conformance.check.waivers import apply_waivers

    apply_waivers(document, waivers)


def _refuse_nonsense(request: Request, output: Output) -> None:
    from roceproof.conformance.capture import STDIN

    if bool(request.files) == (request.interface is not None):
        raise click.UsageError("name either captures or an interface (-i)")
    if request.duration is not None and request.interface is None:
        raise click.UsageError("--duration is for a live capture (-i)")
    if output.annotate is not None:
        if len(request.files) != 1 or request.files[0] == STDIN:
            raise click.UsageError("--annotate copies one file")
        if output.annotate.exists() and output.annotate.samefile(request.files[0]):
            raise click.UsageError("--annotate writes a copy; name another file")


def _documents(request: Request, output: Output) -> Iterator[Document]:
    from roceproof.conformance.check.capture_input import say_what_is_awaited
    from roceproof.conformance.check.progress import reading
    from roceproof.conformance.check.report import unread
    from roceproof.conformance.check.run import UnreadableError, check_file, check_live

    quiet = output.quiet
    keep: int | None = 0  # groups need none of them
    if output.each or output.as_json or output.annotate is not None:
        keep = request.keep or None
    every = request.waivers is not None  # what is in no group cannot be waived
    for name in request.files:
        say_what_is_awaited(name, quiet=quiet)
        try:
            with reading(name, quiet=quiet) as advance:
                document = check_file(
                    name,
                    qps=request.qps,
                    keep=keep,
                    every=every,
                    jobs=request.jobs,
                    advance=advance,
                )
        except UnreadableError as error:
            document = unread(name, str(error))
        yield document
    if request.interface is not None:
        if not quiet:
            click.echo(f"capturing on {request.interface}; Ctrl-C ends it", err=True)
        yield check_live(request.interface, duration=request.duration, qps=request.qps, keep=keep)


def _warn(document: Document) -> None:
    if document["error"] is not None:
        click.echo(f"roceproof: {document['error']}", err=True)
    elif not document["roce_frames"]:
        click.echo(f"roceproof: no RoCE packets in {printable(document['file'])}", err=True)


def _exit_code(documents: Sequence[Document]) -> int:
    from roceproof.conformance.check.report import failed

    if any(document["error"] is not None for document in documents):
        return Exit.UNUSABLE
    return Exit.FINDINGS if any(map(failed, documents)) else Exit.FINE
