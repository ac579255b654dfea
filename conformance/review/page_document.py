# SPDX-License-Identifier: BSD-2-Clause
"""What the page's script reads: a document in JSON, and columns as compressed arrays.

The reader is `page/script/data.js`. Frame numbers and times are written as steps
from row to row, which compress to almost nothing.
"""

from __future__ import annotations

import json
import zlib
from array import array
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from ipaddress import ip_address
from itertools import pairwise
from typing import Any

from roceproof.conformance.review.columns import BAD_ICRC, MARKED, Columns
from roceproof.conformance.review.header_chunks import CHUNK_ROWS, TAIL
from roceproof.conformance.review.story import Flow, flow_name
from roceproof.conformance.rules.table import RULES
from roceproof.conformance.wire.opcodes import OPCODES

MOST_MARKS = 100_000
_TYPES = {"d": "f64", "I": "u32", "i": "i32", "H": "u16", "B": "u8"}
_TITLES = {
    "Reth": "RETH",
    "Ieth": "IETH",
    "Feth": "FETH",
    "AtomicEth": "AtomicETH",
    "AtomicAckEth": "AtomicAckETH",
    "Deth": "DETH",
    "CnpReserved": "CNP",
    "Aeth": "AETH",
}
_WRONG_ICRC = frozenset({"ICRC-01", "ICRC-02", "ICRC-03", "ICRC-05"})


@dataclass(slots=True)
class Marks:
    """Findings by row, and the groups that they belong to; beyond MOST_MARKS rows name none."""

    groups: Sequence[GroupRow] = ()
    rows: list[tuple[int, int, int]] = field(default_factory=list)
    """Row, group and place in `texts`."""
    texts: dict[str, int] = field(default_factory=dict)
    unlinked: int = 0

    def add(self, columns: Columns, row: int, finding: Mapping[str, Any], group: int) -> None:
        """Enter a finding of the oracle in a row that is drawn."""
        if finding["rule"] in _WRONG_ICRC:
            columns.flags[row] |= BAD_ICRC
        if len(self.rows) >= MOST_MARKS:
            self.unlinked += 1
            return
        columns.flags[row] |= MARKED
        text = told(finding)
        self.rows.append((row, group, self.texts.setdefault(text, len(self.texts))))


@dataclass(frozen=True, slots=True)
class GroupRow:
    """Findings of one rule, flow and cause, as the page tells them."""

    rule: str
    severity: str
    flow: str
    """In words; empty where the findings have none."""
    text: str
    """What the first of them says."""
    count: int
    first: int
    last: int
    cause: int | None = None
    """The number of the group from which this one follows."""
    why: str = ""
    """How it follows, or where the habit is known from."""


def told(finding: Mapping[str, Any]) -> str:
    return f"expected {finding['expected']}, got {finding['got']}"


def document(
    columns: Columns, marks: Marks, counterparts: Mapping[Flow, Flow], *, title: str, note: str
) -> tuple[str, Iterator[tuple[str, str, str]]]:
    """The document's text, and every data element: its id, its class and its text."""
    arrays = list(_arrays(columns, marks, counterparts))
    stations = _stations(columns)
    meta = {
        "title": title,
        "note": note,
        "rows": len(columns.numbers),
        "chunk_rows": CHUNK_ROWS,
        "tail_bytes": TAIL,
        "columns": [(name, _TYPES[values.typecode], len(values)) for name, values in arrays],
        "names": columns.name_table,
        "stations": [str(ip_address(station)) for station in stations],
        "groups": [asdict(each) | {"sentence": RULES[each.rule].sentence} for each in marks.groups],
        "opcodes": {
            value: {
                "name": row.name,
                "headers": [_TITLES.get(kind.__name__, kind.__name__) for kind in row.headers],
            }
            for value, row in OPCODES.items()
        },
    }
    return _without_markup(json.dumps(meta)), _data(columns, marks, arrays)


def _without_markup(text: str) -> str:
    """JSON that can stand in a script element whatever it says."""
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def _data(
    columns: Columns, marks: Marks, arrays: Sequence[tuple[str, array[Any]]]
) -> Iterator[tuple[str, str, str]]:
    packer = zlib.compressobj()
    packed = [packer.compress(values.tobytes()) for _, values in arrays]
    yield "columns", "columns", b64encode(b"".join((*packed, packer.flush()))).decode()
    texts = json.dumps(list(marks.texts)).encode()
    yield "texts", "texts", b64encode(zlib.compress(texts)).decode()
    for place, chunk in enumerate(columns.headers.chunks):
        yield f"headers-{place}", "headers", b64encode(chunk).decode()


def _arrays(
    columns: Columns, marks: Marks, counterparts: Mapping[Flow, Flow]
) -> Iterator[tuple[str, array[Any]]]:
    """Longer items first, so that every array lies where its items may lie."""
    stations = _stations(columns)
    flows = {name: place for place, name in enumerate(columns.flow_table)}
    answers = {flow_name(flow): flow_name(other) for flow, other in counterparts.items()}
    yield "times", _steps(columns.times)
    yield "psns", columns.psns
    yield "numbers", _steps(columns.numbers)
    yield "flows", columns.flows
    yield "messages", columns.messages
    yield "flow_sources", array("I", (stations[_source(name)] for name in flows))
    yield "flow_destinations", array("I", (stations[_destination(name)] for name in flows))
    yield "flow_qpns", array("I", (int.from_bytes(name[-3:], "big") for name in flows))
    yield "flow_answers", array("i", (flows.get(answers.get(name, b""), -1) for name in flows))
    marked = sorted(marks.rows)
    yield "mark_rows", array("I", (row for row, _, _ in marked))
    yield "mark_groups", array("I", (group for _, group, _ in marked))
    yield "mark_texts", array("I", (text for _, _, text in marked))
    yield "names", columns.names
    yield "flags", array("B", bytes(columns.flags))


def _steps(values: array[Any]) -> array[Any]:
    return array(values.typecode, (*values[:1], *(b - a for a, b in pairwise(values))))


def _stations(columns: Columns) -> dict[bytes, int]:
    found: dict[bytes, int] = {}
    for name in columns.flow_table:
        found.setdefault(_source(name), len(found))
        found.setdefault(_destination(name), len(found))
    return found


def _source(name: bytes) -> bytes:
    return name[: (len(name) - 3) // 2]


def _destination(name: bytes) -> bytes:
    return name[(len(name) - 3) // 2 : -3]
