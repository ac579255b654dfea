# SPDX-License-Identifier: BSD-2-Clause
"""Names of cases are sentences that mean something alone, as JUnit shows them."""

from __future__ import annotations

import re

import pytest

from roceproof.common.paths import CASES

NAMES = [
    name
    for path in sorted(CASES.glob("test_*.py"))
    for name in re.findall(r"^def test_(\w+)", path.read_text(encoding="utf-8"), re.MULTILINE)
]
LEANS_ON_ANOTHER = re.compile(r"(so|nor|and|but|or|then|neither|likewise)_")


def test_no_name_goes_on_from_another() -> None:
    assert [name for name in NAMES if LEANS_ON_ANOTHER.match(name)] == []


@pytest.mark.parametrize("name", ["so_does_a_packet_sent_again", "nor_does_it_change_the_rate"])
def test_a_name_that_did_is_known(name: str) -> None:
    assert LEANS_ON_ANOTHER.match(name)
