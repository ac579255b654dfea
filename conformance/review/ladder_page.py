# SPDX-License-Identifier: BSD-2-Clause
"""The ladder as one HTML page that needs nothing but itself: style, script and packets inside.

Its policy lets run only this script and this style, known by their hashes.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator, Mapping
from hashlib import sha256
from importlib.resources import files

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from roceproof import __version__
from roceproof.conformance.review.columns import Columns
from roceproof.conformance.review.page_document import Marks, document
from roceproof.conformance.review.story import Flow

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
    columns: Columns,
    marks: Marks,
    counterparts: Mapping[Flow, Flow],
    *,
    title: str,
    note: str = "",
) -> Iterator[str]:
    """The page's text, piece by piece; `note` says what is left out."""
    environment = Environment(
        loader=PackageLoader("roceproof.conformance.review", "page"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    style = "".join(_part("style", f"{name}.css") for name in _STYLES)
    script = "".join(_part("script", f"{name}.js") for name in _SCRIPTS)
    script = f'(() => {{\n"use strict";\n{script}}})();\n'
    meta, data = document(columns, marks, counterparts, title=title, note=note)
    yield from environment.get_template("page.html.j2").generate(
        title=title,
        note=note,
        version=__version__,
        style=Markup(style),
        style_hash=_hash(style),
        script=Markup(script),
        script_hash=_hash(script),
        meta=Markup(meta),
        data=((name, kind, Markup(text)) for name, kind, text in data),
    )


def _part(folder: str, name: str) -> str:
    place = files("roceproof.conformance.review") / "page" / folder / name
    return place.read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"
