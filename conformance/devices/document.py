# SPDX-License-Identifier: BSD-2-Clause
"""The matrix of rules and devices as a document, made of the results of runs and of other matrices.

It names devices and no host or address, so that it can be given away.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from roceproof.common.document import read_json
from roceproof.common.errors import RoceproofError
from roceproof.common.printable import printable
from roceproof.common.shape import Word, flaw
from roceproof.conformance.devices.column import VERDICTS, column_of
from roceproof.conformance.devices.matrix import SCHEMA
from roceproof.conformance.runner.outcomes import KNOWN

Document = dict[str, Any]
_COUNTS = {str: range(1 << 53)}
_CASE = {
    "file": Word,
    "case": Word,
    "outcome": frozenset(KNOWN),
    "rules?": [Word],
    "broken?": [Word],
    "deviation?": Word,
}
_RUN = {"target": Word, "suite": Word, "seed": int, "made_of?": {str: Word}, "cases": [_CASE]}
_COLUMN = {
    "version": Word,
    "release": Word,
    "name?": Word,
    "suite": Word,
    "seed": int,
    "cases": _COUNTS,
    "deviations": _COUNTS,
    "rules": {str: {"verdict": frozenset(VERDICTS), "by?": [Word]}},
}
_MATRIX = {"devices": [_COLUMN]}
_NO_RESULTS, _MEND = "is not as results are", "take a results.json or a merged one"
TITLE = "RoCEv2 devices, side by side"


def read_document(path: Path) -> Document:
    """A run's results, or a matrix; a folder has its run's."""
    place = path / "results.json" if path.is_dir() else path
    document: Document = read_json(place, dict, no=_NO_RESULTS, mend=_MEND)
    found = flaw(document, _MATRIX if "devices" in document else _RUN)
    for number, case in enumerate([] if found else document.get("cases", ())):
        if case["outcome"] == "deviation" and "deviation" not in case:
            found = f"cases[{number}].deviation is missing"
    if found:
        raise RoceproofError(f"{printable(place)} {_NO_RESULTS} ({found}): {_MEND}")
    return document


def columns_of(document: Document) -> list[Document]:
    """The columns of a matrix, or the one of a run."""
    return list(document["devices"]) if "devices" in document else [column_of_run(document)]


def column_of_run(results: Document) -> Document:
    """The column of one run.

    Soft-RoCE is known by its kernel, a card by its firmware, a design by its manifest's name.
    """
    made_of = results.get("made_of", {})
    told = {name.removeprefix("nic "): value for name, value in made_of.items()}
    kernel = str(told.get("kernel", ""))
    device = str(told.get("device", ""))
    is_card = results["target"] == "nic" and not device.startswith("rxe")
    release = _make(told) if is_card else kernel or device or results["target"]
    column = column_of(results, release)
    name = f"Linux {column['version']}" if kernel and not is_card else release
    if results.get("interrupted") or results.get("not_run"):
        name += ", cut short"
    return column | {"version": name, "name": name}


def matrix_of(documents: list[Document]) -> Document:
    """The columns of all, in the order in which they come; two of one name are told apart."""
    columns = []
    seen: dict[str, int] = {}
    for column in (each for document in documents for each in columns_of(document)):
        name = str(column.get("name", f"Linux {column['version']}"))
        seen[name] = seen.get(name, 0) + 1
        name += f" #{seen[name]}" if seen[name] > 1 else ""
        columns.append(column | {"version": name, "name": name})
    return {"schema": SCHEMA, "title": TITLE, "devices": columns}


def _make(told: Mapping[str, str]) -> str:
    words = (told.get("driver") or told.get("device", "nic"), told.get("board_id", ""))
    firmware = told.get("fw_ver", "")
    return " ".join([*filter(None, words), *([f"fw {firmware}"] if firmware else [])])
