# SPDX-License-Identifier: BSD-2-Clause
"""The matrix of devices as one HTML page that needs nothing but itself, and no script."""

from typing import Any

from markupsafe import Markup

from roceproof import __version__
from roceproof.common.page import content_hash, part, templates
from roceproof.conformance.devices.matrix import deviation_lines, rule_lines
from roceproof.conformance.devices.sheet import TITLE

_ROOM = "roceproof.conformance.devices"
_STYLES = (("roceproof.conformance.coverage", "page.css"), (_ROOM, "matrix.css"))


def page(document: dict[str, Any]) -> str:
    """The page of a matrix: what was run, the deviations, and every rule."""
    style = "".join(part(package, name) for package, name in _STYLES)
    return (
        templates(_ROOM)
        .get_template("matrix.html.j2")
        .render(
            title=document.get("title", TITLE),
            columns=document["devices"],
            deviations=deviation_lines(document),
            rules=rule_lines(document),
            version=__version__,
            style=Markup(style),
            style_hash=content_hash(style),
        )
    )
