# SPDX-License-Identifier: BSD-2-Clause
"""What a run of the suite is told by, so that ``--resume`` takes up the same and no other."""

import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from roceproof import __version__
from roceproof.common.paths import CASES
from roceproof.conformance.runner.session.resume_journal import NAME, begin, take_up

_SAYS = ("cases", "target", "dut", "suite", "seed", "expression", "width", "kernel", "mutant")
"""Of a request; how a device is reached may change."""
_PASSED_OVER = (".*", "build", "dist", "node_modules", "venv", "*.egg")
"""As pytest's norecursedirs has it."""


def open_journal(request: Any, directory: Path, made_of: Mapping[str, str]) -> list[str]:
    """Begin the run's journal, or take up the one that is there; the words for the session."""
    path = directory / NAME
    run = {name: str(getattr(request, name)) for name in _SAYS}
    run |= {"device_ip": str(request.device_ip), "roceproof": __version__, **made_of}
    if request.dut is not None:  # what it claims is asked for, and is no part of what is built
        run["manifest"] = _digest([request.dut])
    run["code of the cases"] = _digest(_code(request.cases or [CASES]))
    resumed = take_up(path, run) if request.resume else begin(path, run)
    return ["--roce-journal", str(path), "--roce-resumed", str(resumed)]


def _code(paths: Sequence[Path]) -> Iterator[Path]:
    """The Python files in folders, without what pytest does not enter, and beside single files."""
    for path in paths:
        if path.is_file():
            yield path
            beside = (each for each in path.parent.glob("*.py") if each != path)
            yield from sorted(each for each in beside if not each.name.startswith("test_"))
        for place, folders, names in os.walk(path):
            folders[:] = sorted(each for each in folders if not _is_passed_over(each))
            yield from (Path(place, name) for name in sorted(names) if name.endswith(".py"))


def _is_passed_over(folder: str) -> bool:
    return any(fnmatch(folder, pattern) for pattern in _PASSED_OVER)


def _digest(paths: Iterable[Path]) -> str:
    whole = hashlib.sha256()
    for file in filter(Path.is_file, paths):  # an editor's lock is none
        whole.update(hashlib.sha256(file.read_bytes()).digest())
    return whole.hexdigest()[:16]
