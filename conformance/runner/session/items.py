# SPDX-License-Identifier: BSD-2-Clause
"""What is known of a case before it runs, and what it leaves behind for the report."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pytest

from roceproof.common.errors import RoceproofError
from roceproof.conformance.runner.session.names import plain_name
from roceproof.verbs.addresses import Host, parse_mac

SEEN = pytest.StashKey[dict[str, Any]]()
"""What a case has seen of its device (`observations`)."""


def plainly_named(items: Sequence[pytest.Item]) -> list[pytest.Item]:
    """The same with names that can be typed behind `-k`; two that were the same get a number."""
    given = Counter((item.parent, item.name) for item in items)
    named = []
    for item in items:
        plain, taken = plain_name(item.name), 1
        if plain != item.name and isinstance(item, pytest.Function):
            while (item.parent, plain) in given:
                taken += 1
                plain = f"{plain_name(item.name)[:-1]}.{taken}]"
            given[item.parent, plain] += 1
            parameters = plain.partition("[")[2].removesuffix("]")
            item = type(item).from_parent(
                item.parent,
                name=plain,
                callspec=replace(item.callspec, _idlist=(parameters,)),
                fixtureinfo=item._fixtureinfo,  # noqa: SLF001 (pytest hands it to from_parent itself)
                keywords={parameters: True},
                originalname=item.originalname,
            )
        named.append(item)
    return named


def rules_of(item: pytest.Item) -> list[str]:
    return [rule for mark in item.iter_markers("rules") for rule in mark.args]


def unjudged_by(item: pytest.Item) -> frozenset[str]:
    """The rules that nobody judges in a case, since it provokes what looks like a break."""
    return frozenset(
        rule for mark in item.iter_markers("unjudged") for rule in mark.kwargs["reasons"]
    )


def broken_on_purpose(item: pytest.Item) -> frozenset[str]:
    """The rules that a case itself breaks, and says so."""
    return frozenset(rule for mark in item.iter_markers("breaks") for rule in mark.args)


def width_of(item: pytest.Item) -> int | None:
    """The data width at which a case runs, on a simulated device."""
    callspec = getattr(item, "callspec", None)
    return callspec.params.get("data_width") if callspec else None


def belongs(item: pytest.Item, suite: str) -> bool:
    is_long = item.get_closest_marker("long_life") is not None
    if suite == "smoke" or (suite == "gate" and item.get_closest_marker("masses") is not None):
        return item.get_closest_marker("smoke") is not None
    return is_long == (suite == "long")


def identity_of(item: pytest.Item) -> Host | None:
    """The addresses that a case gives the device, None where they are drawn."""
    mark = item.get_closest_marker("identity")
    if mark is None:
        return None
    return Host(parse_mac(mark.kwargs["mac"]), ip_address(mark.kwargs["ip"]).packed)


def broken_by(caught: pytest.ExceptionInfo[BaseException], item: pytest.Item) -> str:
    """An exception that says nothing of the device, and the case's line that met it."""
    lines = [entry.lineno + 1 for entry in caught.traceback if Path(entry.path) == item.path]
    place = f" ({item.path.name}:{lines[-1]})" if lines else ""
    ours = isinstance(caught.value, RoceproofError)
    told = str(caught.value) if ours else caught.exconly()
    return f"{told.partition(chr(10))[0]}{place}"
