# SPDX-License-Identifier: BSD-2-Clause
"""``roceproof doctor``: what this machine has and lacks."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict

from rich.markup import escape

from roceproof.cli.doctor_checks import simulation_build, wire_oracle
from roceproof.common.exit_codes import Exit
from roceproof.common.printable import printable
from roceproof.common.terminal import Terminal
from roceproof.rxe_env.doctor import Check, doctor

STYLES = {"ok": "green", "warn": "yellow", "fail": "red"}


def run_doctor(*, as_json: bool) -> int:
    """Print every check; 1 if one failed, else 0."""
    return tell_checks([wire_oracle(), simulation_build(), *doctor()], as_json=as_json)


def tell_checks(checks: Sequence[Check], *, as_json: bool) -> int:
    """Print checks, each lack with what mends it; 1 if one failed, else 0."""
    if as_json:
        print(json.dumps({"schema": 1, "checks": [asdict(check) for check in checks]}))
    else:
        console = Terminal()
        for check in checks:
            remedy = f"; mend: {check.remedy}" if check.remedy else ""
            mark = f"[{STYLES[check.status]}]{check.status:4}[/]"
            console.print(f"{mark}  {check.name:18}{escape(printable(check.detail + remedy))}")
    return Exit.FINDINGS if any(check.status == "fail" for check in checks) else Exit.FINE
