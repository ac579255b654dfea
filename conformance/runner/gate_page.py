# SPDX-License-Identifier: BSD-2-Clause
"""The verdict of a gate as one HTML page that needs nothing but itself, and no script."""

from __future__ import annotations

from base64 import b64encode
from collections import Counter
from collections.abc import Iterable, Sequence
from hashlib import sha256
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from roceproof import __version__
from roceproof.conformance.rules.table import RULES

Document = dict[str, Any]
_STYLES = (
    ("roceproof.conformance.coverage", "page.css"),
    ("roceproof.conformance.runner", "gate.css"),
)
_BAD = ("failed", "error", "not_reached")


def page(gate: Document, stories: Sequence[Document]) -> str:
    """The page of a gate's document; `stories` are told of its root findings, in their order."""
    environment = Environment(
        loader=PackageLoader("roceproof.conformance.runner", "page"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["counted"] = _counted
    style = "".join(
        (files(package) / "page" / name).read_text(encoding="utf-8") for package, name in _STYLES
    )
    digest = b64encode(sha256(style.encode()).digest()).decode()
    groups: dict[str, list[Document]] = {}
    for rule in gate["rules"]:
        groups.setdefault(rule["rule"].partition("-")[0], []).append(rule)
    return environment.get_template("gate.html.j2").render(
        gate=gate,
        version=__version__,
        style=Markup(style),
        style_hash=f"sha256-{digest}",
        findings=list(zip(gate["findings"], stories, strict=True)),
        groups=groups,
        sentences={rule.id: rule.sentence for rule in RULES.values()},
        bad=_BAD,
    )


def _counted(verdicts: Iterable[str]) -> list[tuple[str, int]]:
    return Counter(verdicts).most_common()
