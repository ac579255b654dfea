# SPDX-License-Identifier: BSD-2-Clause
"""Runs the reproducer for the kernel's maintainers in guests, and holds it against the ledger.

python -m roceproof.conformance.kernels.reproducers [KERNEL]...
"""

import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from roceproof.common.outcome import end_as
from roceproof.common.paths import BUILD
from roceproof.common.progress import Progress
from roceproof.conformance.kernels.ledger import (
    AS_IT_SHOULD_BE,
    DEVIATES,
    NOT_TOLD,
    PANICS,
    SELFTEST,
    root_causes,
)
from roceproof.rxe_env.commands import run, tool
from roceproof.rxe_env.kernel import versions
from roceproof.rxe_env.vm.inside import run_inside_vm

PROGRAM = "rxe_wire"
NO_VERDICT = "no verdict"
_FLAGS = ("-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror")
_CASE_SECONDS = 20
_MODULE = re.compile(r"^module (\S+)$", re.MULTILINE)
_FILE = re.compile(r"^\+\+\+ b/\S+/(rxe_wire\S*)\n@@.*\n((?:\+.*\n)+)", re.MULTILINE)
_LINE = re.compile(r"^(not )?ok \d+ (\S+)( # SKIP.*)?$", re.MULTILINE)

Shown = dict[str, str]


def told() -> dict[str, Shown]:
    """By case, what the ledger says of each kernel that it names."""
    return {case: cause.told for cause in root_causes() for case in cause.cases}


def told_of(release: str, table: Mapping[str, Shown]) -> Shown:
    """By case, what the ledger says of a kernel; `-` where it does not name it."""
    return {
        name: next((row[head] for head in row if versions.is_of(release, head)), NOT_TOLD)
        for name, row in table.items()
    }


def build(place: Path) -> Path:
    """Compile it as it says, out of the patch that adds it to the kernel's selftests."""
    compiler, folder = tool("cc"), place / "selftest"
    folder.mkdir(parents=True, exist_ok=True)
    for path, text in sources().items():
        (folder / path).write_text(text, encoding="utf-8")
    names = sorted(path for path in sources() if path.endswith(".c"))
    run([compiler, *_FLAGS, "-o", place / PROGRAM, *names, "-libverbs"], cwd=folder)
    return place / PROGRAM


def sources() -> dict[str, str]:
    """By name the files that the patch adds, but for those that make it a selftest."""
    added = _FILE.findall(SELFTEST.read_text(encoding="utf-8"))
    return {name: re.sub(r"^\+", "", text, flags=re.MULTILINE) for name, text in added}


def seen(
    program: Path,
    names: Sequence[str],
    *,
    kernel: str | None,
    modules: Mapping[str, Path | None] | None = None,
) -> dict[str, Shown]:
    """By module and case what is shown on a kernel, all in one machine.

    `modules` has images of rdma_rxe by name, None for that of the kernel, which is the default.
    """
    tried = modules or {"-": None}
    script = "".join(
        f"echo module {name}; "
        + (f"rmmod rdma_rxe; insmod {image}; " if image else "")
        + f"timeout {_CASE_SECONDS * len(names)} {program} {' '.join(names)}; "
        + "rdma link delete repro 2>/dev/null; "
        for name, image in tried.items()
    )
    seconds = 60.0 + _CASE_SECONDS * len(names) * len(tried)
    _, printed = run_inside_vm(["sh", "-c", script], kernel=kernel, timeout=seconds)
    parts = _MODULE.split(printed)[1:]
    texts = zip(parts[::2], parts[1::2], strict=True)
    return {name: _verdicts(text, names) for name, text in texts}


def _verdicts(text: str, names: Sequence[str]) -> Shown:
    found = {
        name: NO_VERDICT if skipped else DEVIATES if failed else AS_IT_SHOULD_BE
        for failed, name, skipped in _LINE.findall(text)
    }
    return {name: found.get(name, NO_VERDICT) for name in names}


@click.command()
@click.argument("wanted", metavar="[KERNEL]...", nargs=-1)
def main(wanted: tuple[str, ...]) -> None:
    """Run all cases on each KERNEL (those of the ledger); 1 if one shows otherwise, or nothing."""
    sys.exit(_differs(wanted))


def _differs(wanted: tuple[str, ...]) -> bool:
    table = told()
    program = build(BUILD / "upstream")
    differ = False
    for each in wanted or tuple(next(iter(table.values()))):
        with Progress(quiet=False) as progress:
            release = versions.find(each, progress.step).release
            progress.step(f"running the reproducer on Linux {release}")
            due = told_of(release, table)
            names = [name for name in table if due[name] != PANICS]
            (shown,) = seen(program, names, kernel=each).values()
        click.echo(f"Linux {release}")
        for name, verdict in shown.items():
            is_other = due[name] not in (NOT_TOLD, verdict)
            differ = differ or is_other or verdict == NO_VERDICT
            click.echo(f"  {name:24}{verdict}" + (f"; told: {due[name]}" if is_other else ""))
    return differ


if __name__ == "__main__":
    end_as(main)
