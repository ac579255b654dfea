# SPDX-License-Identifier: BSD-2-Clause
"""Reads JSON and TOML that may come from anybody: within bounds, and of the shape that is needed.

Whatever is wrong is one error that names the file, the reason and the mend. What a file may hold
bounds what reading it takes: some hundreds of megabytes at the very worst.
"""

import json
import math
import tomllib
from pathlib import Path
from typing import Any, NoReturn

from roceproof.common.errors import RoceproofError
from roceproof.common.printable import printable
from roceproof.common.shape import Shape, flaw

MOST_BYTES = 32 << 20
MOST_TEXT_BYTES = 1 << 20
MOST_VALUES = 2_000_000
DEEPEST = 32


class DocumentError(RoceproofError):
    """A file cannot be used; the text says why, and which is meant."""


def read_json(
    path: Path, shape: Shape, *, no: str, mend: str, error: type[RoceproofError] = DocumentError
) -> Any:
    """The document in a file; `no` says what a wrong one is not, as in "is no gate.json"."""
    try:
        document = parsed(content(path, MOST_BYTES))
        if found := flaw(document, shape):
            raise ValueError(found)
    except OSError as problem:
        raise error(f"cannot read {printable(path)}: {problem.strerror}") from problem
    except ValueError as problem:
        reason = printable(problem)
        raise error(f"{printable(path)} {no} ({reason}): {mend}") from problem
    return document


def read_toml(
    path: Path, *, mend: str, error: type[RoceproofError] = DocumentError
) -> dict[str, Any]:
    """The table in a file."""
    try:
        return tomllib.loads(content(path).decode())
    except OSError as problem:
        raise error(f"{printable(path)}: {problem.strerror}") from problem
    except ValueError as problem:  # of TOML, UTF-8, or a number of too many digits
        raise error(f"{printable(path)}: not TOML: {printable(problem)}; {mend}") from problem
    except RecursionError:
        raise error(f"{printable(path)}: not TOML: nested too deeply; {mend}") from None


def parsed(data: bytes) -> Any:
    """A JSON text; a ValueError says why it is none, or more than anybody means."""
    if sum(map(data.count, (b",", b"[", b"{"))) > MOST_VALUES:
        raise ValueError(f"it has more than {MOST_VALUES:,} values")
    try:
        document = json.loads(data.decode(), parse_constant=_refused, parse_float=_finite)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    level = [document]
    for _ in range(DEEPEST):
        level = [inner for each in level for inner in _within(each)]
        if not level:
            return document
    raise ValueError("it is nested too deeply")


def _within(value: object) -> Any:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


def content(path: Path, most: int = MOST_TEXT_BYTES) -> bytes:
    """The bytes of a file; a ValueError says that there are too many."""
    with path.open("rb") as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise ValueError(f"it has more than {most:,} bytes")
    return data


def _refused(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text[:20]} is no number")
    return number
