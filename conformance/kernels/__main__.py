# SPDX-License-Identifier: BSD-2-Clause
"""Keeps the matrix of a run of `roceproof kernels`, and has docs/findings.md tell it.

python -m roceproof.conformance.kernels build/kernels/kernels.json
"""

import json
import re
from pathlib import Path
from typing import Any

import click

from roceproof.common.arguments import INPUT_FILE
from roceproof.common.outcome import end_as
from roceproof.common.paths import REPOSITORY
from roceproof.conformance.devices.sheet import section

RECORD = REPOSITORY / "docs" / "findings" / "kernels.json"
FINDINGS = REPOSITORY / "docs" / "findings.md"
BEGIN = "<!-- what follows is made by: python -m roceproof.conformance.kernels -->"
END = "<!-- end of what is made -->"


def retold(text: str, record: Path = RECORD) -> str:
    """The text of findings.md with the section that the record calls for."""
    document = json.loads(record.read_text(encoding="utf-8"))
    before, begin, rest = text.partition(BEGIN)
    _, end, behind = rest.partition(END)
    if not begin or not end:
        raise click.ClickException(f"{FINDINGS} lacks the lines {BEGIN} and {END}")
    return "\n".join([f"{before}{BEGIN}", "", *section(document), "", f"{END}{behind}"])


def record_of(document: dict[str, Any]) -> str:
    """The matrix as JSON in which a rule on a kernel is one line, so that diffs are short."""
    text = json.dumps(document, indent=1, sort_keys=True)
    cell = r'\{[^{}]*"verdict"[^{}]*\}'
    return re.sub(cell, lambda found: json.dumps(json.loads(found[0])), text) + "\n"


@click.command()
@click.argument("kernels", type=INPUT_FILE)
def main(kernels: Path) -> None:
    """Take KERNELS, a kernels.json, for the record."""
    RECORD.write_text(record_of(json.loads(kernels.read_text(encoding="utf-8"))), encoding="utf-8")
    FINDINGS.write_text(retold(FINDINGS.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    end_as(main)
