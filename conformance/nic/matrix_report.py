# SPDX-License-Identifier: BSD-2-Clause
"""``roceproof nic merge`` and ``diff``: several devices side by side, out of their results."""

import json
from collections.abc import Sequence
from pathlib import Path

import click
from rich.markup import escape

from roceproof.common.errors import RoceproofError
from roceproof.common.output import output_directory
from roceproof.common.printable import printable
from roceproof.common.terminal import Terminal
from roceproof.conformance.devices.difference import Difference, difference
from roceproof.conformance.devices.document import matrix_of, read_document
from roceproof.conformance.devices.files import write_matrix

DEVICES = "devices"
SAME, DIFFERENT = 0, 1
_TOLD = 3


def merge(files: Sequence[Path], out: Path) -> None:
    document = matrix_of([read_document(path) for path in files])
    with output_directory(out):
        write_matrix(document, out, DEVICES)
    names = ", ".join(column["name"] for column in document["devices"])
    click.echo(f"{printable(out / DEVICES)}.html: {names}")


def run_diff(a: Path, b: Path, *, as_json: bool) -> int:
    """Tell which rules two devices answer differently; 1 if there are any."""
    documents = [read_document(path) for path in (a, b)]
    for path, document in zip((a, b), documents, strict=True):
        if "cases" not in document:
            raise RoceproofError(f"{path} has no cases: take a run's results.json")
    found = difference(documents[0], documents[1])
    if as_json:
        print(json.dumps(found.document()))
    else:
        _tell(found)
    return DIFFERENT if found.rules else SAME


def _tell(found: Difference) -> None:
    console = Terminal()
    a, b = map(escape, found.names)
    if not found.rules:
        console.print(f"{a} and {b} answer alike", highlight=False)
    for each in found.rules:
        words = [
            verdict + (f" ({', '.join(by)})" if by else "")
            for verdict, by in zip(each.verdicts, each.by, strict=True)
        ]
        console.print(f"[bold]{each.rule}[/]  {escape(each.sentence)}", highlight=False)
        console.print(f"  {a}: {words[0]}\n  {b}: {words[1]}", highlight=False)
        more = f" and {len(each.cases) - _TOLD} more" if len(each.cases) > _TOLD else ""
        if each.cases:
            console.print(escape(f"  in {', '.join(each.cases[:_TOLD])}{more}"), highlight=False)
    for name, alone in zip(found.names, found.asked_alone, strict=True):
        if alone:
            console.print(f"{len(alone)} cases were asked of {escape(name)} alone", highlight=False)
