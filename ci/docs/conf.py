# SPDX-License-Identifier: BSD-2-Clause
"""The documentation site: pages as they lie in the tree, the interface from its docstrings."""

import re
import sys
from pathlib import Path

from sphinx.application import Sphinx

sys.path.insert(0, str(Path(__file__).parent))
from navigation import CHAPTERS, FRONT

project = "roceproof"
project_copyright = "BSD-2-Clause"
extensions = ["myst_parser", "sphinx.ext.autodoc"]
root_doc = FRONT
include_patterns = [f"{page}.md" for pages in CHAPTERS.values() for page in pages] + [f"{FRONT}.md"]
include_patterns += ["docs/**.md"]  # one that no chapter has is a warning
exclude_patterns = ["build", ".venv", ".git"]
templates_path = ["."]
html_additional_pages = {"index": "index.html"}
html_theme = "furo"
html_title = "roceproof"
html_copy_source = False
myst_heading_anchors = 4
default_role = "literal"
autodoc_typehints = "none"
add_module_names = False
autodoc_member_order = "bysource"

_REMOTE = re.compile(r"\]\((https?:[^)]*)\)")
_SYNTAX = re.compile(r"https?://[\w.-]+(:\d+)?(/[^\s<>\"]*)?")


def _navigation(_app: Sphinx, page: str, source: list[str]) -> None:
    """Give the front page its table of contents; hold links to other sites to their syntax."""
    for address in _REMOTE.findall(source[0]):
        if not _SYNTAX.fullmatch(address):
            raise ValueError(f"{page}.md: {address} is no address; write https://host/path")
    if page == FRONT:
        for title, pages in CHAPTERS.items():
            source[0] += "\n".join(
                ["\n```{toctree}", ":hidden:", f":caption: {title}", "", *pages, "```\n"]
            )


def _literal_examples(
    _app: Sphinx, _what: str, _name: str, _of: object, _options: object, lines: list[str]
) -> None:
    """Docstrings are plain text: what is indented behind an empty line is an example."""
    shown = False
    for at in range(len(lines) - 1, -1, -1):
        indented = lines[at].startswith("    ")
        if shown and lines[at] and not indented:
            lines[at + 1 : at + 1] = ["", "::"]
        shown = indented or (shown and not lines[at])


def setup(app: Sphinx) -> None:
    app.connect("source-read", _navigation)
    app.connect("autodoc-process-docstring", _literal_examples)
