# SPDX-License-Identifier: BSD-2-Clause
"""Runs the reproducer for the kernel's maintainers in guests, and holds it against its table.

python -m roceproof.conformance.kernels.reproducers [KERNEL]...
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import click

from roceproof.common.errors import RoceproofError
from roceproof.common.paths import BUILD, REPOSITORY
from roceproof.common.printable import printable_lines
from roceproof.common.progress import Progress
from roceproof.rxe_env import kernels
from roceproof.rxe_env.commands import run, tool
from roceproof.rxe_env.inside import run_inside_vm

UPSTREAM = REPOSITORY / "docs" / "upstream"
DEVIATES, AS_IT_SHOULD_BE, NOT_TOLD = "deviates", "as it should be", "-"
_FLAGS = ("-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror")
_WORDS = {"0": AS_IT_SHOULD_BE, "1": DEVIATES}

Table = dict[str, dict[str, str]]


def told() -> Table:
    """By case, what docs/upstream/README.md says of each kernel that it names."""
    lines = (UPSTREAM / "README.md").read_text(encoding="utf-8").splitlines()
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines if line[:1] == "|"]
    heads, cells = rows[0], rows[2:]
    return {
        re.sub(r"\[(.+)\]\(.+\)", r"\1", row[0]): dict(zip(heads[2:], row[2:], strict=True))
        for row in cells
    }


def told_of(release: str, table: Table) -> dict[str, str]:
    """By case, what the table says of a kernel; `-` where it does not name it."""
    return {
        name: next((row[head] for head in row if kernels.is_of(release, head)), NOT_TOLD)
        for name, row in table.items()
    }


def build(place: Path) -> Path:
    """Compile it as its report says."""
    place.mkdir(parents=True, exist_ok=True)
    program = place / "rxe_repro"
    source = UPSTREAM / "rxe_repro.c"
    run([tool("cc"), *_FLAGS, "-o", program, source, "-libverbs"])
    return program


def seen(program: Path, names: list[str], *, kernel: str | None) -> dict[str, str]:
    """By case, what it shows on a kernel, all of them in one machine."""
    script = "".join(
        f"timeout 30 {program} {name}; echo {name} code $?; rdma link delete repro; "
        for name in names
    )
    _, printed = run_inside_vm(["sh", "-c", script], kernel=kernel)
    codes = dict(re.findall(r"^(\S+) code (\d+)$", printed, re.MULTILINE))
    return {name: _words(codes.get(name)) for name in names}


def _words(code: str | None) -> str:
    return _WORDS.get(code or "", f"no verdict (exit code {code})")


@click.command()
@click.argument("wanted", metavar="[KERNEL]...", nargs=-1)
def main(wanted: tuple[str, ...]) -> None:
    """Run all cases on each KERNEL (those of the table); 1 if one shows otherwise, or nothing."""
    try:
        sys.exit(_differs(wanted))
    except RoceproofError as error:
        click.echo(f"roceproof: {printable_lines(str(error))}", err=True)
        sys.exit(error.exit_code)


def _differs(wanted: tuple[str, ...]) -> bool:
    table = told()
    program = build(BUILD / "upstream")
    names = list(table)
    differ = False
    for each in wanted or tuple(table[names[0]]):
        with Progress(quiet=False) as progress:
            release = kernels.find(each, progress.step).release
            progress.step(f"running the reproducer on Linux {release}")
            shown = seen(program, names, kernel=each)
        click.echo(f"Linux {release}")
        for name, due in told_of(release, table).items():
            is_other = due not in (NOT_TOLD, shown[name])
            differ = differ or is_other or shown[name] not in _WORDS.values()
            click.echo(f"  {name:20}{shown[name]}" + (f"; told: {due}" if is_other else ""))
    return differ


if __name__ == "__main__":
    main()
