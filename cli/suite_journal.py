# SPDX-License-Identifier: BSD-2-Clause
"""What a run of the suite is told by, so that ``--resume`` takes up the same and no other."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from roceproof import __version__
from roceproof.conformance.runner.journal import NAME, begin, take_up

_SAYS = ("cases", "target", "dut", "suite", "seed", "expression", "widths", "kernel", "mutant")
"""Of a request; how a device is reached may change."""


def open_journal(request: Any, directory: Path, made_of: Mapping[str, str]) -> list[str]:
    """Begin the run's journal, or take up the one that is there; the words for the session."""
    path = directory / NAME
    run = {name: str(getattr(request, name)) for name in _SAYS}
    run |= {"device_ip": str(request.device_ip), "roceproof": __version__, **made_of}
    if request.dut is not None:  # what it claims is asked for, and is no part of what is built
        run["manifest"] = hashlib.sha256(request.dut.read_bytes()).hexdigest()[:16]
    resumed = take_up(path, run) if request.resume else begin(path, run)
    return ["--roce-journal", str(path), "--roce-resumed", str(resumed)]
