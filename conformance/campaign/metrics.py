# SPDX-License-Identifier: BSD-2-Clause
"""What a run has come to in Prometheus' text format, as the textfile collector takes it."""

from collections.abc import Mapping
from typing import Any

_METRICS = {
    "programs_total": "counter",
    "seconds_total": "counter",
    "failed_programs_total": "counter",
    "findings": "gauge",
    "empty_bins": "gauge",
}


def metrics_of(facts: Mapping[str, Any], *, run: int) -> str:
    """A family for each number, labelled with the run and its device."""
    numbers = {
        "programs_total": facts["programs"],
        "seconds_total": facts["seconds"],
        "failed_programs_total": sum(facts["found"].values()),
        "findings": len(facts["found"]),
        "empty_bins": facts["empty"],
    }
    device = str(facts["device"]).replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
    lines = []
    for name, kind in _METRICS.items():
        lines.append(f"# TYPE roceproof_fuzz_{name} {kind}")
        lines.append(f'roceproof_fuzz_{name}{{run="{run}",device="{device}"}} {numbers[name]}')
    return "\n".join([*lines, ""])
