# SPDX-License-Identifier: BSD-2-Clause
"""All results as one HTML page that needs nothing but itself, and no script."""

from base64 import b64encode
from typing import Any

from markupsafe import Markup

from roceproof import __version__
from roceproof.common.page import content_hash, part, templates

_ROOM = "roceproof.conformance.scenarios"
_STYLES = (("roceproof.conformance.coverage", "page.css"), (_ROOM, "scenarios.css"))


def page(documents: list[dict[str, Any]]) -> str:
    """Published figure, ours and verdict side by side, with every law and plot."""
    style = "".join(part(package, name) for package, name in _STYLES)
    pictures = [
        f"data:image/svg+xml;base64,{b64encode(each['plot'].encode()).decode()}"
        if each["plot"]
        else ""
        for each in documents
    ]
    return (
        templates(_ROOM)
        .get_template("scenarios.html.j2")
        .render(
            results=list(zip(documents, pictures, strict=True)),
            version=__version__,
            style=Markup(style),
            style_hash=content_hash(style),
        )
    )
