# SPDX-License-Identifier: BSD-2-Clause
"""A check as one JSON document, written finding by finding: there may be hundreds of thousands."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from roceproof.conformance.check.report import Document, message_of

if TYPE_CHECKING:
    from roceproof.conformance.rules.waivers import Waiver

SCHEMA = 1


def json_of(documents: Sequence[Document], waivers: Sequence[Waiver] | None) -> Iterator[str]:
    """The pieces of the document: that of the only capture, or a list; and the waivers, if any."""
    head: Document = {"schema": SCHEMA}
    if waivers is not None:
        head["waivers"] = [waiver.document() for waiver in waivers]
    if len(documents) == 1:
        yield from _members({**head, **documents[0]})
    else:
        yield f'{json.dumps(head)[:-1]}, "files": ['
        for number, document in enumerate(documents):
            yield ", " if number else ""
            yield from _members(document)
        yield "]}"
    yield "\n"


def _members(document: Document) -> Iterator[str]:
    rest = {key: value for key, value in document.items() if key != "findings"}
    yield f'{json.dumps(rest)[:-1]}, "findings": ['
    for number, row in enumerate(document["findings"]):
        text = json.dumps({**row, "message": message_of(row)})
        yield f", {text}" if number else text
    yield "]}"
