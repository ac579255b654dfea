# SPDX-License-Identifier: BSD-2-Clause
"""`python -m drawn --seed N [words of pytest]`: every case under what it draws from that seed."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import pytest

from roceproof.common.paths import CASES
from roceproof.conformance.runner.session.options import session_arguments


def main() -> int:
    """Run the suite once for each seed."""
    parser = argparse.ArgumentParser(prog="drawn", description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--suite", default="gate")
    known, words = parser.parse_known_args()
    return pytest.main(
        [
            *_without_terminal(session_arguments("model")),
            "-p",
            "drawn.plugin",
            "-q",
            "--no-header",
            "-n0",
            "--roce-suite",
            known.suite,
            "--roce-seed",
            str(known.seed),
            "--tb=short",
            *words,
            *([] if any(map(_is_case, words)) else [str(CASES)]),
        ]
    )


def _is_case(word: str) -> bool:
    return Path(word.partition("::")[0]).exists()


def _without_terminal(words: list[str]) -> list[str]:
    at = words.index("no:terminal")
    return words[: at - 1] + words[at + 1 :]


if __name__ == "__main__":
    sys.exit(main())
