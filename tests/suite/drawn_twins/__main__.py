# SPDX-License-Identifier: BSD-2-Clause
"""`python -m drawn_twins --draws N --seed S`: the cases of a suite, dealt to N twins."""

from __future__ import annotations

import argparse
import sys
from collections import Counter

import pytest

from drawn_twins.base import BASES
from drawn_twins.plugin import Dealer
from roceproof.common.paths import CASES
from roceproof.conformance.runner.session.options import session_arguments


def main() -> int:
    """Run a session for each device; 1 where a twin is accused."""
    parser = argparse.ArgumentParser(prog="drawn_twins", description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--draws", type=int, default=100, help="of each device")
    parser.add_argument("--draw", type=int, help="this one alone")
    parser.add_argument("--device", choices=BASES, action="append")
    parser.add_argument("--suite", default="smoke")
    parser.add_argument("--habit", action="append", default=[], help="as NAME=NUMBER: has it, too")
    known, words = parser.parse_known_args()
    also = {name: int(number) for name, number in (said.split("=") for said in known.habit)}
    cases, habits, twins, code = Counter[str](), Counter[str](), 0, 0
    for name in known.device or BASES:
        dealer = Dealer(BASES[name], seed=known.seed, draws=known.draws, only=known.draw, also=also)
        code |= pytest.main(_words(name, known, words), plugins=[dealer])
        cases += dealer.cases
        habits += dealer.habits
        twins += len(dealer.judged)
    outcomes = ", ".join(f"{count} {outcome}" for outcome, count in sorted(cases.items()))
    print(f"{twins} twins: {outcomes}; seed {known.seed}")
    print(", ".join(f"{name} {count}" for name, count in sorted(habits.items())))
    return code


def _words(name: str, known: argparse.Namespace, words: list[str]) -> list[str]:
    return [
        *(word for word in session_arguments("hdl") if word not in ("-p", "no:terminal")),
        *("--roce-dut", str(BASES[name].path), "--roce-width", str(BASES[name].width)),
        *("--roce-suite", known.suite, "--roce-seed", str(known.seed)),
        *("-q", "--no-header", "-n0", "--tb=short"),
        *words,
        *([] if any(".py" in word for word in words) else [str(CASES)]),
    ]


if __name__ == "__main__":
    sys.exit(main())
