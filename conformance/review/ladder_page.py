# SPDX-License-Identifier: BSD-2-Clause
"""The ladder as one HTML page that needs nothing but itself: style, script and packets inside.

Its policy lets run only this script and this style, known by their hashes.
"""

from collections.abc import Iterator, Mapping

from markupsafe import Markup

from roceproof import __version__
from roceproof.common.page import content_hash, part, templates
from roceproof.conformance.review.columns import Columns
from roceproof.conformance.review.page_document import Marks, document
from roceproof.conformance.review.story import Flow

_ROOM = "roceproof.conformance.review"
_STYLES = ("page", "ladder")
_SCRIPTS = (
    "data",
    "dom",
    "header_fields",
    "decode",
    "caption",
    "marks",
    "filter",
    "view",
    "scroller",
    "rows",
    "axis",
    "plot",
    "plot_input",
    "overview",
    "detail",
    "choice",
    "keys",
    "main",
)


def page(
    columns: Columns, marks: Marks, counterparts: Mapping[Flow, Flow], *, title: str, note: str = ""
) -> Iterator[str]:
    """The page's text, piece by piece; `note` says what is left out."""
    style = "".join(part(_ROOM, "style", f"{name}.css") for name in _STYLES)
    script = "".join(part(_ROOM, "script", f"{name}.js") for name in _SCRIPTS)
    script = f'(() => {{\n"use strict";\n{script}}})();\n'
    meta, data = document(columns, marks, counterparts, title=title, note=note)
    yield from (
        templates(_ROOM)
        .get_template("page.html.j2")
        .generate(
            title=title,
            note=note,
            version=__version__,
            style=Markup(style),
            style_hash=content_hash(style),
            script=Markup(script),
            script_hash=content_hash(script),
            meta=Markup(meta),
            data=((name, kind, Markup(text)) for name, kind, text in data),
        )
    )
