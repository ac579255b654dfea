# SPDX-License-Identifier: BSD-2-Clause
"""``roceproof doctor``: what this machine has and lacks."""

from __future__ import annotations

import json
from dataclasses import asdict

from rich.console import Console
from rich.table import Table

from roceproof.rxe_env.doctor import doctor

STYLES = {"ok": "green", "warn": "yellow", "fail": "red"}


def run_doctor(*, as_json: bool) -> int:
    """Print every check; 1 if one failed, else 0."""
    checks = doctor()
    if as_json:
        print(json.dumps({"schema": 1, "checks": [asdict(check) for check in checks]}))
    else:
        table = Table(box=None, pad_edge=False, show_header=False)
        for check in checks:
            remedy = f"; mend: {check.remedy}" if check.remedy else ""
            style = STYLES[check.status]
            table.add_row(f"[{style}]{check.status}[/]", check.name, f"{check.detail}{remedy}")
        Console(soft_wrap=True).print(table)
    return 1 if any(check.status == "fail" for check in checks) else 0
