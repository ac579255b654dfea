# SPDX-License-Identifier: BSD-2-Clause
"""A matrix of rules and devices as JSON, Markdown and a page, side by side in a folder."""

import json
from pathlib import Path
from typing import Any

from roceproof.common.whole_file import whole_file
from roceproof.conformance.devices.page import page
from roceproof.conformance.devices.sheet import markdown_of

_SUFFIXES = (".json", ".md", ".html")


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
