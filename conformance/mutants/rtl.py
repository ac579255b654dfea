# SPDX-License-Identifier: BSD-2-Clause
"""The reference endpoint with every fault of rtl/mutants in it, one chosen at run time.

`reference_mutants` writes changed copies of the sources below build/mutants and returns their
manifest: one ordinary build serves all mutants, and `rtl/` knows nothing of them. A simulation
started with a mutant's `plusarg` has that one fault, one started without has none.
"""

from __future__ import annotations

import tempfile
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from roceproof.common.paths import BUILD, REFERENCE_DUT
from roceproof.conformance.mutants.edits import (
    Declare,
    Edit,
    MutantError,
    Replacement,
    Statement,
    edit_of,
)
from roceproof.conformance.mutants.schemata import PACKAGE, declared, metamutant
from roceproof.conformance.rules.signatures import SIGNATURES
from roceproof.conformance.rules.table import RULES
from roceproof.dpi.manifest import Manifest, load_manifest

MUTANTS = REFERENCE_DUT.parent / "mutants"
OVERLAY = BUILD / "mutants"
NAME = "reference-mutants"

_KEYS = {"id", "description", "expected", "explained_as", "edit"}


@dataclass(frozen=True, kw_only=True)
class Mutant:
    """One fault of the endpoint."""

    number: int
    id: str
    theme: str
    description: str
    expected: tuple[str, ...]
    """Rules, one of which at least has to be found broken."""
    explained_as: tuple[str, ...]
    """Signatures that name it; none if no wrong ICRC or PSN gets onto the wire."""
    edits: tuple[Edit, ...]

    @property
    def plusarg(self) -> str:
        """Selects it in a simulation of `reference_mutants`."""
        return f"roceproof_mutant={self.number}"


@dataclass(frozen=True)
class Mutants:
    """All mutants of a folder, and the declarations that those of one theme share."""

    mutants: tuple[Mutant, ...]
    shared: tuple[tuple[str, Declare], ...]


def load_mutants(folder: Path = MUTANTS) -> Mutants:
    """Read and check every theme of a folder; numbers follow the order of files and places."""
    mutants: list[Mutant] = []
    shared: list[tuple[str, Declare]] = []
    for path in sorted(folder.glob("*.toml")):
        for table in _theme(path, shared):
            mutants.append(_mutant(path.stem, len(mutants) + 1, table))
    ids = [mutant.id for mutant in mutants]
    for name in ids:
        if ids.count(name) > 1:
            raise MutantError(f"{folder}: two mutants are called {name!r}; rename one")
    return Mutants(tuple(mutants), tuple(shared))


def reference_mutants(
    faults: Mutants | None = None, *, dut: Path = REFERENCE_DUT, overlay: Path = OVERLAY
) -> Manifest:
    """The manifest of the endpoint with all mutants; two processes may write it at once."""
    faults = faults or load_mutants()
    healthy = load_manifest(dut)
    known = {source.name for source in healthy.sources}
    edits = [(mutant, edit) for mutant in faults.mutants for edit in mutant.edits]
    for owner, edit in [*faults.shared, *((mutant.id, edit) for mutant, edit in edits)]:
        if edit.file not in known:
            raise MutantError(f"{owner}: {edit.file} is no source of {dut}")
    overlay.mkdir(parents=True, exist_ok=True)
    package = overlay / f"{PACKAGE}.sv"
    _write(package, _package(faults.mutants))
    sources = [package]
    for source in healthy.sources:
        text = _overlaid(source, faults, edits)
        sources.append(overlay / source.name)
        _write(sources[-1], text)
    return replace(healthy, name=NAME, sources=tuple(sources))


def _theme(path: Path, shared: list[tuple[str, Declare]]) -> list[dict[str, Any]]:
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise MutantError(f"{path}: not a theme of mutants: {error}") from error
    for key in values.keys() - {"shared", "mutant"}:
        raise MutantError(f"{path}: unknown key {key!r}; expected shared or mutant")
    for table in values.get("shared", []):
        edit = edit_of(path.name, table)
        if not isinstance(edit, Declare):
            raise MutantError(f"{path}: only declarations are shared, not {table}")
        shared.append((path.name, edit))
    tables = values.get("mutant", [])
    if not tables:
        raise MutantError(f"{path}: no mutants; add a [[mutant]] or remove the file")
    return list(tables)


def _mutant(theme: str, number: int, table: dict[str, Any]) -> Mutant:
    owner = str(table.get("id", f"mutant {number}"))
    if table.keys() != _KEYS:
        wrong = ", ".join(sorted(table.keys() ^ _KEYS))
        raise MutantError(f"{theme}.toml: {owner}: wrong or missing: {wrong}")
    for key, known in (("expected", RULES), ("explained_as", SIGNATURES)):
        for name in table[key]:
            if name not in known:
                raise MutantError(f"{theme}.toml: {owner}: {key} names the unknown {name!r}")
    if not table["expected"]:
        raise MutantError(f"{theme}.toml: {owner}: no rule is expected to find it")
    return Mutant(
        number=number,
        id=owner,
        theme=theme,
        description=table["description"],
        expected=tuple(table["expected"]),
        explained_as=tuple(table["explained_as"]),
        edits=tuple(edit_of(owner, edit) for edit in table["edit"]),
    )


def _overlaid(source: Path, faults: Mutants, edits: Iterable[tuple[Mutant, Edit]]) -> str:
    ours = [(mutant, edit) for mutant, edit in edits if edit.file == source.name]
    declarations = [(owner, edit) for owner, edit in faults.shared if edit.file == source.name]
    declarations += [(m.id, edit) for m, edit in ours if isinstance(edit, Declare)]
    changes = [
        (m.number, m.id, edit) for m, edit in ours if isinstance(edit, Statement | Replacement)
    ]
    return metamutant(declared(source.read_text(encoding="utf-8"), declarations), changes)


def _package(mutants: Sequence[Mutant]) -> str:
    names = "\n".join(f"  //   {mutant.number}: {mutant.id}" for mutant in mutants)
    return f"""\
// Generated from rtl/mutants. Which fault the endpoint has; 0 is none.
package {PACKAGE};

{names}
  function automatic int unsigned chosen();
    if (!$value$plusargs("roceproof_mutant=%d", chosen)) chosen = 0;
    if (chosen > {len(mutants)}) $fatal(1, "there is no mutant %0d", chosen);
  endfunction

  int unsigned selected = chosen();

endpackage
"""


def _write(path: Path, text: str) -> None:
    """Whole or not at all, and only if it is new."""
    if path.is_file() and path.read_bytes() == text.encode():
        return
    with tempfile.NamedTemporaryFile("w", dir=path.parent, encoding="utf-8", delete=False) as file:
        file.write(text)
    Path(file.name).replace(path)
