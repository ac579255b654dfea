# SPDX-License-Identifier: BSD-2-Clause
"""Whether a document has the shape of a run's results, or of a matrix: it may come from anybody.

Only what is read here is looked at. A word must be printable, since it is shown on terminals.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from roceproof.common.printable import printable

_LONGEST = 1000
_COUNTS = {str: int}
_CASE = {
    "file": str,
    "case": str,
    "outcome": str,
    "rules?": [str],
    "broken?": [str],
    "deviation?": str,
}
_RUN = {"target": str, "suite": str, "seed": int, "made_of?": {str: str}, "cases": [_CASE]}
_COLUMN = {
    "version": str,
    "release": str,
    "name?": str,
    "suite": str,
    "seed": int,
    "cases": _COUNTS,
    "deviations": _COUNTS,
    "rules": {str: {"verdict": str, "by?": [str]}},
}
_MATRIX = {"kernels": [_COLUMN]}


def flaw(document: Mapping[str, Any]) -> str | None:
    """Where it is not as results are, None if it is."""
    if "kernels" in document:
        return next(_flaws(document, _MATRIX, ""), None)
    found = next(_flaws(document, _RUN, ""), None)
    if found is not None:
        return found
    unnamed = (
        number
        for number, case in enumerate(document["cases"])
        if case["outcome"] == "deviation" and "deviation" not in case
    )
    return next((f"cases[{number}].deviation is missing" for number in unnamed), None)


def _flaws(value: object, shape: Any, place: str) -> Iterator[str]:
    kind = shape if isinstance(shape, type) else type(shape)
    if not isinstance(value, kind):
        yield f"{place or 'it'} is no {kind.__name__}"
    elif isinstance(value, str):
        if len(value) > _LONGEST or value != printable(value):
            yield f"{place} is no word to print"
    elif isinstance(value, list):
        for number, each in enumerate(value):
            yield from _flaws(each, shape[0], f"{place}[{number}]")
    elif isinstance(value, dict):
        yield from _flaws_within(value, shape, f"{place}." if place else "")


def _flaws_within(value: dict[str, Any], shape: dict[Any, Any], place: str) -> Iterator[str]:
    if str in shape:
        for name, each in value.items():
            yield from _flaws(name, str, f"a name in {place}")
            yield from _flaws(each, shape[str], f"{place}{printable(name)}")
        return
    for key, inner in shape.items():
        name = key.removesuffix("?")
        if name in value:
            yield from _flaws(value[name], inner, f"{place}{name}")
        elif name == key:
            yield f"{place}{name} is missing"
