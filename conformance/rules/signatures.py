# SPDX-License-Identifier: BSD-2-Clause
"""The catalogue of signatures: S for the ICRC, P for the PSN.

An id of several joined by "+" stands for faults that occur together.
"""

from typing import NamedTuple

from roceproof.conformance.rules.rows import rows_of


class Signature(NamedTuple):
    """One misimplementation; the columns are described at the head of signatures.tsv."""

    id: str
    title: str
    look: str
    traffic: str
    decides: str


def _load() -> dict[str, Signature]:
    return {row.id: row for row in map(Signature._make, rows_of("signatures.tsv"))}


SIGNATURES: dict[str, Signature] = _load()


def parts(name: str) -> list[Signature]:
    """The signatures behind an id; none for an id that names no misimplementation."""
    return [SIGNATURES[part] for part in name.split("+") if part in SIGNATURES]


def title(name: str) -> str:
    """What the device does wrong, in words."""
    return "; and ".join(row.title for row in parts(name)) or name
