# SPDX-License-Identifier: BSD-2-Clause
"""A light transmitter's to-do list, each entry a case that the reference endpoint passes.

Where the endpoint does not claim it, or no case has it, the entry is missing, with the reason.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

from roceproof.common.paths import REFERENCE_DUT
from roceproof.conformance.scenarios.frames.command import told_by
from roceproof.conformance.scenarios.scenario import (
    Check,
    Plot,
    Row,
    Scene,
    SceneScenario,
    at_least,
    exactly,
)

_WIDTH = 64
_CASES = {
    "receive ICRC": "test_a_response_with_a_wrong_icrc_never_came",
    "UDP checksum": "test_the_udp_checksum_is_none_or_right",
    "ECN": "test_a_queue_pair_slows_down_and_others_do_not",
    "exchange of queue pairs": "test_a_req_asks_for_what_its_queue_pair_has",
}
_HAS = ("receive ICRC", "UDP checksum")
"""What the endpoint claims."""
_WITHOUT_CASE = {
    "100 Gb/s": "no case has a rate; see light-throughput with --dut and --width 512",
    "other vendors": "no case has a partner but the suite; see light-live",
}
_Told = Sequence[dict[str, Any]]


def _scenes(_quick: bool, seed: int) -> Iterator[Scene]:
    suite = cache(partial(_suite, seed))
    for gap, case in _CASES.items():
        yield Scene({"gap": gap, "case": case}, partial(_play, case, suite))
    for gap, why in _WITHOUT_CASE.items():
        row = {"outcome": "missing", "passed": 0, "failed": 0, "why": why}
        yield Scene({"gap": gap, "case": ""}, partial(_nothing, row))


def _suite(seed: int, folder: Path) -> _Told:
    """What the suite says of all cases."""
    which = " or ".join(_CASES.values())
    asked = ("--dut", REFERENCE_DUT, "--width", _WIDTH, "--seed", seed, "-k", which)
    printed = ("--out", "suite", "--keep-all", "--json", "-q", "-j", 1)
    text = told_by("test", *asked, *printed, place=folder, scenario="light-gaps")
    told: _Told = json.loads(text)["cases"]
    return told


def _play(case: str, suite: Callable[[Path], _Told], folder: Path) -> Row:
    told = [each for each in suite(folder) if each["case"].startswith(f"{case}[")]
    outcomes = [each["outcome"] for each in told]
    passed, skipped = outcomes.count("passed"), outcomes.count("skipped")
    failed = len(told) - passed - skipped
    return {
        "outcome": "failing" if failed else "passing" if passed else "missing",
        "passed": passed,
        "failed": failed,
        "why": "; ".join(sorted({each["reason"] for each in told if "reason" in each})),
    }


def _nothing(row: Row, _folder: Path) -> Row:
    return row


def _checks(rows: Sequence[Row]) -> Iterator[Check]:
    for row in rows:
        has = row["gap"] in _HAS
        yield exactly(row["gap"], "passing" if has else "missing", row["outcome"])
        yield exactly(f"{row['gap']}: cases that fail", 0, row["failed"])
        if has:
            yield at_least(f"{row['gap']}: cases that pass", 1, row["passed"])
        else:
            yield Check(f"{row['gap']}: why", "a reason", row["why"], bool(row["why"]))


GAPS = SceneScenario(
    id="light-gaps",
    title="the light transmitter's to-do list, on the reference endpoint",
    published="to do: 100G, receive ICRC, UDP checksum, ECN, exchange of queue pairs over UDP,"
    " other vendors",
    points=_scenes,
    checks=_checks,
    plot=Plot("gap", "passed", (), "entry", "cases that pass", log_x=False),
)

SCENARIOS: tuple[SceneScenario, ...] = (GAPS,)
