# SPDX-License-Identifier: BSD-2-Clause
"""Functional coverage as one HTML page that needs nothing but itself, and no script."""

from itertools import product
from typing import Any

from roceproof.common.page import rendered, templates
from roceproof.conformance.coverage.summary import Standing, Summary

_ROOM = "roceproof.conformance.coverage"
_NONE = "\N{EN DASH}"


def page(summary: Summary) -> str:
    groups = [_group(name, found) for name, found in summary.groups().items()]
    totals = {key: sum(group[key] for group in groups) for key in ("bins", "filled", "open")}
    return rendered(
        templates(_ROOM).get_template("page.html.j2"),
        [(_ROOM, "page.css")],
        title=summary.title,
        runs="; ".join(map(_told, summary.coverage.runs)),
        gaps=summary.gaps,
        groups=groups,
        **totals,
    )


def _told(run: dict[str, Any]) -> str:
    chosen = f", -k {run['expression']!r}" if run.get("expression") else ""
    return f"{run.get('suite')} suite, seed {run.get('seed')}{chosen}"


def _group(name: str, found: list[Standing]) -> dict[str, Any]:
    bins = sum(len(each.hits) for each in found)
    filled = sum(each.filled for each in found)
    return {
        "name": name,
        "anchor": f"group-{name.replace(' ', '-')}",
        "bins": bins,
        "filled": filled,
        "gaps": sum(len(each.gaps) for each in found),
        "open": sum(len(each.open) for each in found),
        "percent": f"{1000 * filled // bins / 10:.1f}",
        "points": [_point(each) for each in found],
    }


def _point(standing: Standing) -> dict[str, Any]:
    *outer, columns = standing.axes
    rows = [_row(standing, values, columns) for values in product(*outer)]
    if not outer:  # one dimension reads better downwards
        rows = [_row(standing, (value,), ()) for value in columns]
        columns = ()
    reasons: dict[str, list[str]] = {}
    for name, why in standing.open.items():
        reasons.setdefault(why, []).append(name)
    return {
        "id": standing.point.id,
        "says": standing.point.says,
        "bins": len(standing.hits),
        "filled": standing.filled,
        "gaps": len(standing.gaps),
        "open": len(standing.open),
        "boxes": standing.told_gaps(),
        "reasons": [(why, standing.told(tuple(names))) for why, names in reasons.items()],
        "columns": columns,
        "rows": [row for row in rows if row is not None],
    }


def _row(
    standing: Standing, values: tuple[str, ...], columns: tuple[str, ...]
) -> dict[str, Any] | None:
    name = "/".join(values)
    names = [f"{name}/{column}" for column in columns] or [name]
    cells = [_cell(standing, each) for each in names]
    if all(cell["kind"] == "none" for cell in cells):
        return None
    return {"name": name, "cells": cells}


def _cell(standing: Standing, name: str) -> dict[str, str]:
    if name not in standing.hits:
        return {"kind": "none", "text": _NONE}
    kind = "open" if name in standing.open else "" if standing.hits[name] else "gap"
    return {"kind": kind, "text": f"{standing.hits[name]:,}"}
