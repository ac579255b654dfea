# SPDX-License-Identifier: BSD-2-Clause
"""What is known of a case before it runs, and what it leaves behind for the report."""

from __future__ import annotations

from typing import Any

import pytest

SEEN = pytest.StashKey[dict[str, Any]]()
"""What a case has seen of its device (`observations`)."""


def rules_of(item: pytest.Item) -> list[str]:
    """The rules that a case decides."""
    return [rule for mark in item.iter_markers("rules") for rule in mark.args]


def unjudged_by(item: pytest.Item) -> frozenset[str]:
    """The rules that nobody judges in a case, since it provokes what looks like a break."""
    return frozenset(
        rule for mark in item.iter_markers("unjudged") for rule in mark.kwargs["reasons"]
    )


def width_of(item: pytest.Item) -> int | None:
    """The data width at which a case runs, on a simulated device."""
    callspec = getattr(item, "callspec", None)
    return callspec.params.get("data_width") if callspec else None
