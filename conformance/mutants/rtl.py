# SPDX-License-Identifier: BSD-2-Clause
"""The reference endpoint with every fault of rtl/mutants in it, one chosen at run time.

`reference_mutants` writes changed copies of the sources below build/mutants and returns their
manifest: one ordinary build serves all mutants, and `rtl/` knows nothing of them. A simulation
started with a mutant's `plusarg` has that one fault, one started without has none.
"""

import tempfile
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from roceproof.common.paths import (
    BUILD,
    IPV6_DUT,
    READS_DUT,
    RECOVERY_DUT,
    REFERENCE_DUT,
    RESPONDER_DUT,
    VLAN_DUT,
    XGMII_DUT,
)
from roceproof.conformance.mutants.edits import (
    Declare,
    Edit,
    MutantError,
    Replacement,
    Statement,
    Trigger,
    edit_of,
    trigger_of,
)
from roceproof.conformance.mutants.schemata import PACKAGE, declared, metamutant
from roceproof.conformance.mutants.triggers import derived, monitored, package_body, reporting
from roceproof.conformance.rules.signatures import SIGNATURES
from roceproof.conformance.rules.table import RULES
from roceproof.dpi.manifest.dut import Manifest, load_manifest

MUTANTS = REFERENCE_DUT.parent / "mutants"
RESPONDER_MUTANTS = MUTANTS / "responder"
MAC_MUTANTS = MUTANTS / "mac"
RECOVERY_MUTANTS = MUTANTS / "recovery"
IPV6_MUTANTS = MUTANTS / "ipv6"
READS_MUTANTS = MUTANTS / "reads"
VLAN_MUTANTS = MUTANTS / "vlan"
DEVICES = {
    MUTANTS: REFERENCE_DUT,
    RESPONDER_MUTANTS: RESPONDER_DUT,
    MAC_MUTANTS: XGMII_DUT,
    RECOVERY_MUTANTS: RECOVERY_DUT,
    IPV6_MUTANTS: IPV6_DUT,
    READS_MUTANTS: READS_DUT,
    VLAN_MUTANTS: VLAN_DUT,
}
"""What the faults of each folder are planted in."""
IN_BENCHES = "bench"
"""The kind of those that no case can see: benches of modules find them."""
OVERLAY = BUILD / "mutants"

_KEYS = {"description", "expected", "explained_as", "edit", "when", "when_file"}
_THEME_KEYS = ("kind", "file", "expected", "shared", "mutant")


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
    kind: str | None = None
    """Of faults that measure how far the stimulus reaches; None of those that prove checks."""
    trigger: Trigger | None = None
    """Its own; others may have one that is derived from their edits."""

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
        kind, tables = _theme(path, shared)
        for name, table in tables.items():
            mutants.append(_mutant(path.stem, len(mutants) + 1, name, table, kind))
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
    texts = _declared_texts(healthy, faults)
    triggers = triggers_of(faults, texts)
    overlay.mkdir(parents=True, exist_ok=True)
    package = overlay / f"{PACKAGE}.sv"
    _write(package, _package(faults.mutants))
    sources = [package]
    for name, text in texts.items():
        changes = [
            (mutant.number, mutant.id, edit)
            for mutant in faults.mutants
            for edit in mutant.edits
            if edit.file == name and isinstance(edit, Statement | Replacement)
        ]
        watched = [
            (mutant.number, mutant.id, trigger)
            for mutant in faults.mutants
            for trigger in triggers[mutant.id]
            if trigger.file == name
        ]
        changed = monitored(metamutant(text, changes), watched)
        if f"module {healthy.top}\n" in text:
            changed = reporting(changed)
        sources.append(overlay / name)
        _write(sources[-1], changed)
    return replace(healthy, name=f"{healthy.name}-mutants", sources=tuple(sources))


def mutants_in(folder: Path) -> Manifest:
    """The same of the device that a folder's faults are planted in."""
    overlay = OVERLAY / folder.relative_to(MUTANTS)
    return reference_mutants(load_mutants(folder), dut=DEVICES[folder], overlay=overlay)


def triggers_of(
    faults: Mutants, texts: dict[str, str] | None = None
) -> dict[str, tuple[Trigger, ...]]:
    """The triggers of each mutant by its id; it is reached when one of them holds."""
    texts = texts or _declared_texts(load_manifest(REFERENCE_DUT), faults)
    return {
        mutant.id: (mutant.trigger,) if mutant.trigger else derived(mutant.edits, texts)
        for mutant in faults.mutants
    }


def _theme(
    path: Path, shared: list[tuple[str, Declare]]
) -> tuple[str | None, dict[str, dict[str, Any]]]:
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise MutantError(f"{path}: not a theme of mutants: {error}") from error
    for key in values.keys() - {*_THEME_KEYS}:
        raise MutantError(f"{path}: unknown key {key!r}; expected {', '.join(_THEME_KEYS)}")
    usual = {key: values[key] for key in ("file", "expected") if key in values}
    for table in values.get("shared", []):
        edit = edit_of(path.name, {"file": values.get("file"), **table})
        if not isinstance(edit, Declare):
            raise MutantError(f"{path}: only declarations are shared, not {table}")
        shared.append((path.name, edit))
    tables = values.get("mutant")
    if not isinstance(tables, dict):
        raise MutantError(f"{path}: no mutants; add a [mutant.ID] or remove the file")
    return values.get("kind"), {name: {**usual, **table} for name, table in tables.items()}


def _mutant(theme: str, number: int, owner: str, table: dict[str, Any], kind: str | None) -> Mutant:
    measures = kind not in (None, IN_BENCHES)
    for key in ("description", "expected", *(["when"] if measures else [])):
        if key not in table:
            raise MutantError(f"{theme}.toml: {owner}: no {key}")
    if "when" in table and not measures:
        raise MutantError(f"{theme}.toml: {owner}: when is of themes with a kind")
    table = {"explained_as": [], "edit": [], **table}
    for key, known in (("expected", RULES), ("explained_as", SIGNATURES)):
        for name in table[key]:
            if name not in known:
                raise MutantError(f"{theme}.toml: {owner}: {key} names the unknown {name!r}")
    if not table["expected"]:
        raise MutantError(f"{theme}.toml: {owner}: no rule is expected to find it")
    first = edit_of(owner, {key: value for key, value in table.items() if key not in _KEYS})
    replaced: dict[str, Any] = {
        key: table[key] for key in ("expression", "becomes") if key in table
    }
    others = [
        edit_of(owner, {"file": first.file, **({} if "after" in edit else replaced), **edit})
        for edit in table["edit"]
    ]
    place = table.get("when_file", first.file)
    return Mutant(
        number=number,
        id=owner,
        theme=theme,
        description=table["description"],
        expected=tuple(table["expected"]),
        explained_as=tuple(table["explained_as"]),
        edits=(first, *others),
        kind=kind,
        trigger=trigger_of(owner, place, table["when"]) if measures else None,
    )


def _declared_texts(healthy: Manifest, faults: Mutants) -> dict[str, str]:
    """The sources by name, with the declarations of all mutants."""
    sources = {source.name: source for source in healthy.sources}
    declarations = list(faults.shared)
    for mutant in faults.mutants:
        places = [*mutant.edits, *([mutant.trigger] if mutant.trigger else [])]
        for place in places:
            if place.file not in sources:
                raise MutantError(f"{mutant.id}: {place.file} is no source of {healthy.path}")
        declarations += [(mutant.id, edit) for edit in mutant.edits if isinstance(edit, Declare)]
    for owner, edit in faults.shared:
        if edit.file not in sources:
            raise MutantError(f"{owner}: {edit.file} is no source of {healthy.path}")
    return {
        name: declared(
            source.read_text(encoding="utf-8"),
            [(owner, edit) for owner, edit in declarations if edit.file == name],
        )
        for name, source in sources.items()
    }


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

{package_body(len(mutants))}
endpackage
"""


def _write(path: Path, text: str) -> None:
    """Whole or not at all, and only if it is new."""
    if path.is_file() and path.read_bytes() == text.encode():
        return
    with tempfile.NamedTemporaryFile("w", dir=path.parent, encoding="utf-8", delete=False) as file:
        file.write(text)
    Path(file.name).replace(path)
