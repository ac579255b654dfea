# SPDX-License-Identifier: BSD-2-Clause
"""The catalogue of signatures: S for the ICRC, P for the PSN.

An id of several joined by "+" stands for faults that occur together.
"""

from __future__ import annotations

from importlib.resources import files
from typing import NamedTuple


class Signature(NamedTuple):
    """One misimplementation; the columns are described at the head of signatures.tsv."""

    id: str
    title: str
    look: str
    traffic: str
    decides: str


def _load() -> dict[str, Signature]:
    text = (files(__package__) / "signatures.tsv").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    rows = (Signature(*line.split("\t")) for line in lines[1:])
    return {row.id: row for row in rows}


SIGNATURES: dict[str, Signature] = _load()


def parts(name: str) -> list[Signature]:
    """The signatures behind an id; none for an id that names no misimplementation."""
    return [SIGNATURES[part] for part in name.split("+") if part in SIGNATURES]


def title(name: str) -> str:
    """What the device does wrong, in words."""
    return "; and ".join(row.title for row in parts(name)) or name
