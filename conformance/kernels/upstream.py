# SPDX-License-Identifier: BSD-2-Clause
"""Builds rdma_rxe with the ledger's patches, alone and together, and shows what each changes.

python -m roceproof.conformance.kernels.upstream [--whole] [KERNEL]...
"""

import json
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import click

from roceproof.common.outcome import end_as
from roceproof.common.paths import BUILD, cache_dir
from roceproof.common.progress import Progress
from roceproof.conformance.kernels.ledger import AS_IT_SHOULD_BE, SELFTEST, RootCause, root_causes
from roceproof.conformance.kernels.reproducers import NO_VERDICT, PROGRAM, Shown, build, seen
from roceproof.rxe_env.kernel import kbuild, versions
from roceproof.rxe_env.kernel.distribution import Kernel
from roceproof.rxe_env.kernel.kmodules import RXE

DEFAULT = ("6.12", "newest")
PLAIN, ALL = "plain", "all"
PLACE = BUILD / "upstream"


def modules_of(causes: Sequence[RootCause]) -> dict[str, tuple[Path, ...]]:
    """By the name of a module, the patches in it: none, each alone, and all together."""
    alone = {cause.name: cause.patches for cause in causes if cause.patches and cause.cases}
    every = tuple(dict.fromkeys(patch for cause in causes for patch in cause.patches))
    return {PLAIN: (), **alone, ALL: every}


def faults(shown: Mapping[str, Shown], causes: Sequence[RootCause]) -> list[str]:
    """What is not as claimed, a line each: a patch mends its own cases and changes no other."""
    plain = shown[PLAIN]
    found = [
        f"{PLAIN}: {case} is {verdict}" for case, verdict in plain.items() if verdict == NO_VERDICT
    ]
    patches = modules_of(causes)
    for module, verdicts in shown.items():
        mended = {case for each in causes if each.mail in patches[module] for case in each.cases}
        for case, verdict in verdicts.items():
            due = AS_IT_SHOULD_BE if case in mended else plain[case]
            if verdict != due:
                found.append(f"{module}: {case} is {verdict}, not {due}")
    return found


def whole_faults(row: Mapping[str, Any], causes: Sequence[RootCause]) -> list[str]:
    """What a run of the suite on the module with all patches has against the ledger.

    `row` is that of `roceproof kernels`: all that is explained is to be gone, and nothing new.
    """
    mended = {name for cause in causes if cause.patches for name in cause.explains}
    gone, still = set(row["stale"]), set(row["deviations"])
    undeclared = sorted(rule for rule, at in row["rules"].items() if at["verdict"] == "undeclared")
    return [
        *(f"{name} is still seen" for name in sorted(still & mended)),
        *(f"{name} is gone, and no patch explains it" for name in sorted(gone - mended)),
        *(f"{rule} is broken, which nobody has declared" for rule in undeclared),
    ]


@click.command()
@click.argument("wanted", metavar="[KERNEL]...", nargs=-1)
@click.option("--whole", is_flag=True, help="Run the whole suite on the module with all patches.")
@click.option("--alone/--together", default=True, help="Try each patch alone, or all of them only.")
def main(wanted: tuple[str, ...], whole: bool, alone: bool) -> None:
    """Try the ledger's patches on each KERNEL (6.12 and the newest); 1 if one does not hold."""
    sys.exit(any([_tried(each, whole=whole, alone=alone) for each in wanted or DEFAULT]))


def _tried(wanted: str, *, whole: bool, alone: bool) -> bool:
    causes = root_causes()
    with Progress(quiet=False) as progress, ExitStack() as stack:
        kernel = versions.find(wanted, progress.step)
        place = cache_dir() / "upstream" / kernel.release
        stack.callback(shutil.rmtree, place, ignore_errors=True)
        program, modules = _built(kernel.release, causes, place, progress, alone=alone)
        tree = _tree(kernel, modules[ALL])
        progress.step(f"running the reproducer on {len(modules)} modules of {kernel.release}")
        cases = [case for cause in causes for case in cause.cases]
        images = {name: images[RXE] for name, images in modules.items()}
        found = faults(seen(program, cases, kernel=wanted, modules=images), causes)
    if whole:
        found += whole_faults(_row(kernel, tree), causes)
    click.echo(f"Linux {kernel.release}: {len(images) - 2} patches alone, then all")
    for line in found:
        click.echo(f"  {line}")
    return bool(found)


def _built(
    release: str, causes: Sequence[RootCause], place: Path, progress: Progress, *, alone: bool
) -> tuple[Path, dict[str, dict[str, Path]]]:
    """The reproducer, as a selftest of that kernel where it has such, and the modules by name."""
    modules: dict[str, dict[str, Path]] = {}
    with kbuild.workshop(release, progress.step) as workshop:
        PLACE.mkdir(parents=True, exist_ok=True)
        selftest = workshop.build_selftest(PROGRAM, SELFTEST)
        program = Path(shutil.copy(selftest, PLACE)) if selftest else build(PLACE)
        for name, patches in modules_of(causes).items():
            if name not in (PLAIN, ALL) and not alone:
                continue
            progress.step(f"building {name}")
            folder = place / name
            folder.mkdir(parents=True, exist_ok=True)
            modules[name] = {
                module: shutil.copyfile(image, folder / f"{module}.ko")
                for module, image in workshop.build(name if patches else "base", patches).items()
            }
    return program, modules


def _tree(kernel: Kernel, patched: Mapping[str, Path]) -> Path:
    """The modules of a kernel with those that were built in their places, as --kernel takes it."""
    tree = PLACE / "modules" / kernel.release
    shutil.rmtree(tree, ignore_errors=True)
    shutil.copytree(kernel.directory / "modules", tree)
    for name, image in patched.items():
        shutil.copyfile(image, tree / f"{name}.ko")
    return tree


def _row(kernel: Kernel, tree: Path) -> dict[str, Any]:
    out = PLACE / f"suite-{kernel.release}"
    command = Path(sys.executable).with_name("roceproof")
    words = ("kernels", f"{kernel.image},{tree}", "--out", str(out))
    subprocess.run([command, *words], check=False)
    (row,) = json.loads((out / "kernels.json").read_text(encoding="utf-8"))["devices"]
    return dict(row)


if __name__ == "__main__":
    end_as(main)
