# SPDX-License-Identifier: BSD-2-Clause
"""The part of a manifest that says what is compiled, and how."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from roceproof.dpi.manifest.file_list import FileList
from roceproof.dpi.manifest.toml_table import ManifestError, Table, shown

MEANINGFUL_WARNINGS = ("COMBDLY", "LATCH", "MULTIDRIVEN", "UNOPTFLAT")
"""Of Verilator: what it then simulates may be another circuit than the one that is built."""
RESERVED = "ROCEPROOF_"
"""What the macros begin with by which the bridge is told of the device."""
DIRECTIVES = frozenset(
    {"begin_keywords", "celldefine", "default_nettype", "define", "else", "elsif", "end_keywords"}
    | {"endcelldefine", "endif", "ifdef", "ifndef", "include", "line", "nounconnected_drive"}
    | {"pragma", "resetall", "timescale", "unconnected_drive", "undef", "undefineall"}
)
"""Of compilers: no macro can be called so."""
GIVEN = ("DataWidth", "ClockPs")
_PAIRS = {"(": ")", "[": "]", "{": "}"}
_LITERAL = re.compile(r'"(?:[^"\\]|\\.)*"')
IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_$]{0,254}")


@dataclass(frozen=True, kw_only=True)
class Circuit:
    """What is compiled besides the sources, and how."""

    includes: tuple[Path, ...] = ()
    defines: Mapping[str, str] = field(default_factory=dict)
    parameters: Mapping[str, str] = field(default_factory=dict)
    """Of the top module, as SystemVerilog expressions."""
    accepted_warnings: frozenset[str] | None = None
    """Of MEANINGFUL_WARNINGS, those that are no error; None: all are only told."""
    vhdl_top: str | None = None
    """The entity that is synthesized from those of the sources that are VHDL."""


def is_vhdl(path: Path) -> bool:
    return path.suffix.lower() in (".vhd", ".vhdl")


def read_files(table: Table, home: Path, *, schema: int) -> FileList:
    """In schema 1 sources are files, each named."""
    files = FileList()
    for key, add in (("sources", files.add), ("includes", files.add_include)):
        if key == "includes" and (schema == 1 or key not in table):
            continue
        for name in table.take_list(key, str):
            try:
                add(name, home)
            except ManifestError as error:
                raise table.error(key, str(error)) from error
    if not files.sources:
        raise table.error("sources", "none of them is a source")
    if schema == 1 and any(map(is_vhdl, files.sources)):
        raise table.error("sources", "VHDL needs a manifest of schema 2")
    return files


def _values(table: Table, flaw: Callable[[str, str], str | None]) -> dict[str, str]:
    """Of defines and parameters: text as it is, numbers in decimal."""
    found = {}
    for key in table.left():
        kind = str if isinstance(table.peek(key), str) else int
        value = table.take(key, kind)
        if not IDENTIFIER.fullmatch(key):
            raise table.error(shown(key)[1:-1], "is no identifier")
        if problem := flaw(key, str(value)):
            raise table.error(key, problem)
        found[key] = str(value)
    return found


def _define_flaw(name: str, value: str) -> str | None:
    if not IDENTIFIER.fullmatch(name):
        return "is no identifier"
    if name.startswith(RESERVED) or name in DIRECTIVES:
        return "is reserved; give it another name"
    if not value.isprintable() or "`" in value:
        return f"{shown(value)} will not do; expected one line without `"
    return None


def _parameter_flaw(name: str, value: str) -> str | None:
    if name in GIVEN:
        return "is what the bench gives; leave it out"
    is_line = value.isprintable() and "`" not in value
    if not is_line or not _is_closed(value):
        return f"{shown(value)} will not do; expected one expression on one line without `"
    return None


def _is_closed(value: str) -> bool:
    """Whether an expression ends within the brackets that are put around it."""
    awaited: list[str] = []
    rest = _LITERAL.sub("0", value)
    for sign in rest:
        if sign in _PAIRS:
            awaited.append(_PAIRS[sign])
        elif sign in _PAIRS.values():
            if not awaited or awaited.pop() != sign:
                return False
        elif sign in '";' or (sign == "," and not awaited):
            return False
    return bool(rest.strip()) and not awaited and "//" not in rest and "/*" not in rest


def read_circuit(table: Table, files: FileList) -> Circuit:
    """The keys `warnings`, `defines` and `parameters`, and what lists of files have said."""
    accepted = table.take_list("warnings", str) if "warnings" in table else []
    for name in accepted:
        if name not in MEANINGFUL_WARNINGS:
            known = ", ".join(MEANINGFUL_WARNINGS)
            raise table.error("warnings", f"{shown(name)} is none of {known}; others are no error")
    for name, value in files.defines.items():
        if problem := _define_flaw(name, value):
            raise table.error("sources", f"the define {shown(name)} of a list: {problem}")
    return Circuit(
        includes=tuple(files.includes),
        defines=files.defines | _values(table.take_table("defines"), _define_flaw),
        parameters=_values(table.take_table("parameters"), _parameter_flaw),
        accepted_warnings=frozenset(accepted),
        vhdl_top=_vhdl_top(table, files),
    )


def _vhdl_top(table: Table, files: FileList) -> str | None:
    has_vhdl = any(map(is_vhdl, files.sources))
    if "vhdl_top" not in table:
        if has_vhdl:
            raise table.error("vhdl_top", "missing; name the entity that the wrapper instantiates")
        return None
    entity = table.take("vhdl_top", str)
    if not has_vhdl:
        raise table.error("vhdl_top", "none of the sources is VHDL (.vhd, .vhdl)")
    if not IDENTIFIER.fullmatch(entity):
        raise table.error("vhdl_top", f"{shown(entity)} is no identifier")
    return entity
