# SPDX-License-Identifier: BSD-2-Clause
"""``roceproof diff``: the same traffic from two devices, and whether the differences matter."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from roceproof.cli.console.help_examples import examples
from roceproof.common.arguments import CAPTURE
from roceproof.common.errors import RoceproofError
from roceproof.common.printable import printable

if TYPE_CHECKING:
    from roceproof.conformance.review.diff import Comparison
    from roceproof.conformance.review.story_source import Tale


@click.command(epilog=examples("diff"))
@click.argument("a", type=CAPTURE)
@click.argument("b", type=CAPTURE)
@click.option("--json", "as_json", is_flag=True, help="Print one document.")
@click.option("-q", "--quiet", is_flag=True, help="The exit code only.")
def diff(a: Path, b: Path, as_json: bool, quiet: bool) -> None:
    """Compare the same traffic from two devices (- is stdin); exit code 1 if one matters."""
    sys.exit(run_diff(a, b, as_json=as_json, quiet=quiet))


def run_diff(a: Path, b: Path, *, as_json: bool, quiet: bool) -> int:
    """Print what differs; 1 if a receiver could behave differently, 2 for a damaged file."""
    from roceproof.conformance.capture import STDIN
    from roceproof.conformance.review.comparison_report import document, print_comparison
    from roceproof.conformance.review.conclusion import conclude
    from roceproof.conformance.review.diff import compare
    from roceproof.conformance.review.story_source import tell_damage

    if str(a) == str(b) == STDIN:
        raise click.UsageError("only one of the two can be stdin")
    tales = [_load(path, quiet=quiet) for path in (a, b)]
    found = compare(tales[0].steps, tales[1].steps, tales[0].counterparts, tales[1].counterparts)
    if not quiet:
        named = _named(a, found), _named(b, found)
        conclusion = conclude(found, *_unshared(*named))
        if as_json:
            notes = {name: tale.notes for name, tale in zip("ab", tales, strict=True)}
            print(json.dumps(document(a, b, found, conclusion) | {"notes": notes}))
        else:
            print_comparison(a, b, found, conclusion)
    elif as_json:
        print(json.dumps(document(a, b, found, conclude(found))))
    damaged = [tell_damage(tale.damage) for tale in tales]
    return max(*damaged, int(found.matters))


def _named(path: Path, found: Comparison) -> list[str]:
    """The signatures that `explain` names in a capture, where ICRCs or PSNs differ."""
    from roceproof.conformance.review.conclusion import ICRC, PSN, kinds_of

    differing = {kind.example.field.name for kind in kinds_of(found)}
    starts = found.same_start[0] is not found.same_start[1]
    if not path.is_file() or not (starts or differing & {ICRC, PSN}):
        return []
    from roceproof.conformance.diagnosis.report import explain_excerpt
    from roceproof.conformance.diagnosis.result import COPIES, CORRUPT, LOST, UNDECIDED
    from roceproof.conformance.diagnosis.source import read_capture

    explained = explain_excerpt(read_capture(str(path), None)).diagnoses
    return [each.id for each in explained if each.id not in (COPIES, CORRUPT, LOST, UNDECIDED)]


def _unshared(a: list[str], b: list[str]) -> tuple[list[str], list[str]]:
    return [each for each in a if each not in b], [each for each in b if each not in a]


def _load(path: Path, *, quiet: bool) -> Tale:
    from roceproof.conformance.review.story_source import load

    tale = load(path, quiet=quiet)
    if not tale.steps:
        raise RoceproofError(f"{printable(path)}: no RoCE packet; nothing to compare")
    if tale.notes and not quiet:
        print(f"roceproof: {printable(path)}: {'; '.join(tale.notes)}", file=sys.stderr)
    return tale
