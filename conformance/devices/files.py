# SPDX-License-Identifier: BSD-2-Clause
"""A matrix of rules and devices as JSON, Markdown and a page, side by side in a folder."""

import json
from pathlib import Path
from typing import Any

from roceproof.common.page import rendered, templates
from roceproof.common.whole_file import whole_file
from roceproof.conformance.devices.matrix import deviation_lines, rule_lines
from roceproof.conformance.devices.sheet import TITLE, markdown_of

_SUFFIXES = (".json", ".md", ".html")
_ROOM = "roceproof.conformance.devices"
_STYLES = (("roceproof.conformance.coverage", "page.css"), (_ROOM, "matrix.css"))


def write_matrix(document: dict[str, Any], directory: Path, stem: str) -> None:
    told = json.dumps(document, indent=1, sort_keys=True) + "\n"
    texts = (told, markdown_of(document), page(document))
    for suffix, text in zip(_SUFFIXES, texts, strict=True):
        with whole_file(directory / f"{stem}{suffix}") as part:
            part.write_text(text, encoding="utf-8")


def remove_matrix(directory: Path, stem: str) -> None:
    """Remove what an earlier run has written."""
    for suffix in _SUFFIXES:
        (directory / f"{stem}{suffix}").unlink(missing_ok=True)


def page(document: dict[str, Any]) -> str:
    """The page of a matrix: what was run, the deviations, and every rule."""
    return rendered(
        templates(_ROOM).get_template("matrix.html.j2"),
        _STYLES,
        title=document.get("title", TITLE),
        columns=document["devices"],
        deviations=deviation_lines(document),
        rules=rule_lines(document),
    )
