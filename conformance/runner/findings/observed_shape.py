# SPDX-License-Identifier: BSD-2-Clause
"""Whether what a case has seen, as somebody's journal has it, is what `observed` tells."""

from collections.abc import Iterator, Sequence

from roceproof.common.shape import Word, flaw
from roceproof.conformance.runner.findings.observations import FEATURES
from roceproof.conformance.runner.findings.quantities import QUANTITIES
from roceproof.conformance.runner.findings.received import Row, is_row
from roceproof.conformance.runner.findings.unheeded import ANSWERS, ASKED, Document

_NONE = type(None)
_FRAMES = {"heeded": [[(int, Word, _NONE)]], "unheeded": [[(int, Word, _NONE)]]}
_SHAPE = {
    "rows": [list],
    "values": {str: {"want": [str], "got": [str]}},
    "right": {str: [int]},
    "shown": {str: [int]},
    "stop": (
        _NONE,
        {"kind": str, "fields": [[str]], "words?": (str, _NONE), "cause?": list},
    ),
    "streams": [str],
    "frames": int,
    "failures": [list],
    "rules": {str: str},
    "lost": (str, _NONE),
    "tempted": [str],
    "flushed": bool,
    "disturbed": [str],
    ANSWERS: _FRAMES,
    ASKED: _FRAMES,
    "standing": {str: list},
}
_ROW = ([object], str, [str], int, [int], [int])
_LENGTHS = (len(FEATURES), len(QUANTITIES), len(QUANTITIES))
_STANDING, _FAILURE, _MISMATCH, _CAUSE = (int, bool, bool, int), (str, [str]), 3, (str, [str])


def is_observed(document: object) -> bool:
    """Whether findings can be made of it."""
    if not isinstance(document, dict) or flaw(document, _SHAPE) is not None:
        return False
    stop = document["stop"] or {"fields": []}
    return (
        all(_is_row(each) for each in document["rows"])
        and all(_are(each, _STANDING) for each in document["standing"].values())
        and all(_are(each, _FAILURE) for each in document["failures"])
        and all(len(each) == _MISMATCH for each in stop["fields"])
        and all(map(is_row, _frames(document)))
        and ("cause" not in stop or _are(stop["cause"], _CAUSE))
    )


def _frames(document: Document) -> Iterator[Row]:
    for what in (ANSWERS, ASKED):
        for rows in document[what].values():
            yield from rows


def _is_row(row: Sequence[object]) -> bool:
    if not _are(row, _ROW):
        return False
    features, _, _, _, least, most = row
    return tuple(map(len, (features, least, most))) == _LENGTHS  # type: ignore[arg-type]


def _are(values: Sequence[object], shapes: Sequence[object]) -> bool:
    return len(values) == len(shapes) and all(
        flaw(value, shape) is None for value, shape in zip(values, shapes, strict=True)
    )
