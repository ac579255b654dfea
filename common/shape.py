# SPDX-License-Identifier: BSD-2-Clause
"""Whether a document has the shape that its reader needs: it may come from anybody.

A shape is a type; `object`, for anything; a range, for a whole number in it;
a frozenset, for one of its words or numbers; a list of one shape; a dict with a shape for each key
(`"key?"` may lack) or, as `{str: shape}`, for whatever keys there are; a tuple, for one of several.
"""

from collections.abc import Iterator
from typing import Any

from roceproof.common.printable import printable

_LONGEST = 1000
_SHOWN = 60
_LARGEST = 1 << 64

Shape = Any


class Word(str):
    """As a shape: a text that can be shown on a line."""


def flaw(value: object, shape: Shape, place: str = "") -> str | None:
    """Where it is not as it should be, None if it is."""
    return next(_flaws(value, shape, place), None)


def _flaws(value: object, shape: Shape, place: str) -> Iterator[str]:
    place_or_it = place or "it"
    if isinstance(shape, tuple):
        found = [flaw(value, each, place) for each in shape]
        if None not in found:
            yield str(found[0])
    elif isinstance(shape, range):
        if type(value) is not int or value not in shape:
            yield f"{place_or_it} is {_shown(value)}, not {shape[0]} to {shape[-1]}"
    elif isinstance(shape, frozenset):
        if not isinstance(value, str | int) or value not in shape:
            yield f"{place_or_it} is {_shown(value)}, which is unknown"
    elif shape is Word:
        if not isinstance(value, str) or len(value) > _LONGEST or value != printable(value):
            yield f"{place_or_it} is no word to print"
    elif isinstance(shape, type):
        if shape is not object and type(value) is not shape:
            yield f"{place_or_it} is no {shape.__name__}"
        elif isinstance(value, int) and abs(value) >= _LARGEST:
            yield f"{place_or_it} is too large"
    elif isinstance(shape, list):
        if not isinstance(value, list):
            yield f"{place_or_it} is no list"
            return
        for number, each in enumerate(value):
            yield from _flaws(each, shape[0], f"{place}[{number}]")
    elif not isinstance(value, dict):
        yield f"{place_or_it} is no {type(shape).__name__}"
    else:
        yield from _flaws_within(value, shape, f"{place}." if place else "")


def _flaws_within(value: dict[Any, Any], shape: dict[Any, Any], place: str) -> Iterator[str]:
    if str in shape:
        for name, each in value.items():
            yield from _flaws(name, Word, f"a name in {place or 'it'}")
            yield from _flaws(each, shape[str], f"{place}{printable(name)}")
        return
    for key, inner in shape.items():
        name = key.removesuffix("?")
        if name in value:
            yield from _flaws(value[name], inner, f"{place}{name}")
        elif name == key:
            yield f"{place}{name} is missing"


def _shown(value: object) -> str:
    text = repr(value) if isinstance(value, str | int | float | None) else type(value).__name__
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
