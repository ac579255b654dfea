# SPDX-License-Identifier: BSD-2-Clause
"""What every HTML page is made with: templates that escape, and styles and scripts by their hash.

A page needs nothing but itself; its policy of content names what is in it by `content_hash`.
"""

from base64 import b64encode
from collections.abc import Iterable
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, Template
from markupsafe import Markup

from roceproof import __version__


@cache
def templates(package: str) -> Environment:
    """The templates in the folder `page` of a package; a name that they lack is an error."""
    return Environment(
        loader=PackageLoader(package, "page"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def rendered(template: Template, styles: Iterable[tuple[str, str]], **words: Any) -> str:
    """A page without a script; its styles are files of packages."""
    style = "".join(part(package, name) for package, name in styles)
    hash_ = content_hash(style)
    return template.render(version=__version__, style=Markup(style), style_hash=hash_, **words)


def part(package: str, *place: str) -> str:
    """The text of a file in that folder."""
    return files(package).joinpath("page", *place).read_text(encoding="utf-8")


def content_hash(text: str) -> str:
    """As a content security policy names a style or a script."""
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"
