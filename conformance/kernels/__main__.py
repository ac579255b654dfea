# SPDX-License-Identifier: BSD-2-Clause
"""Keeps the matrix of a run of `roceproof kernels`, and has docs/findings.md tell it.

python -m roceproof.conformance.kernels build/kernels/kernels.json
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

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


@click.command()
@click.argument("kernels", type=INPUT_FILE)
def main(kernels: Path) -> None:
    """Take KERNELS, a kernels.json, for the record."""
    shutil.copyfile(kernels, RECORD)
    FINDINGS.write_text(retold(FINDINGS.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    end_as(main)
