# SPDX-License-Identifier: BSD-2-Clause
"""The ladder as one HTML page that needs nothing but itself: SVG, style and script inside."""

from __future__ import annotations

from collections.abc import Mapping

from jinja2 import Environment, PackageLoader, StrictUndefined

from roceproof import __version__
from roceproof.conformance.review import psn_plot
from roceproof.conformance.review.ladder import Ladder

_LANE = 460
_FIRST_LANE = 190


def page(ladder: Ladder, *, title: str, note: str = "") -> str:
    """The page's text; `note` says what the ladder leaves out."""
    environment = Environment(
        loader=PackageLoader("roceproof.conformance.review"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    lanes = [_FIRST_LANE + _LANE * place for place in range(len(ladder.stations))]
    values: Mapping[str, object] = {
        "title": title,
        "note": note,
        "version": __version__,
        "ladder": ladder,
        "lanes": lanes,
        "width": _FIRST_LANE + _LANE * max(1, len(lanes) - 1) + 120,
        "plots": list(psn_plot.psn_plots(ladder)),
        "plot": psn_plot,
    }
    return environment.get_template("ladder.html.j2").render(values)
