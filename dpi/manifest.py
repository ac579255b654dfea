# SPDX-License-Identifier: BSD-2-Clause
"""The DUT manifest, dut.toml: what a device is made of and what it claims to do."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from roceproof.dpi.records import Operation
from roceproof.dpi.toml_table import ManifestError, Table, read_toml, shown
from roceproof.verbs.service import PathMtu, Service

__all__ = ["Capabilities", "Manifest", "ManifestError", "load_manifest"]

SCHEMA = 1
DATA_WIDTHS = (64, 128, 256, 512, 1024)
FEATURES = ("cnp", "ipv6")
"""What a device may do besides: react to CNPs, speak IPv6."""

NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]{0,63}")  # it becomes part of file names
IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_$]{0,254}")
MOST_QPS = 1 << 24
SLOWEST_CLOCK_PS = 10**9

E = TypeVar("E", Service, Operation)


@dataclass(frozen=True, kw_only=True)
class Capabilities:
    """What the device claims to support; tests ask for no more."""

    services: frozenset[Service]
    operations: frozenset[Operation]
    path_mtus: frozenset[PathMtu]
    qps: int
    retransmission: bool
    features: frozenset[str] = frozenset()


@dataclass(frozen=True, kw_only=True)
class Manifest:
    """One device under test. Sources are absolute and in compile order."""

    path: Path
    name: str
    top: str
    sources: tuple[Path, ...]
    clock_ps: int
    data_widths: tuple[int, ...]
    capabilities: Capabilities
    clock_ps_by_width: Mapping[int, int] = field(default_factory=dict)

    def clock_ps_at(self, data_width: int) -> int:
        """The clock period at a data width, which the device must support."""
        if data_width not in self.data_widths:
            raise ManifestError(
                f"{self.path}: no data width {data_width}; data_widths are {list(self.data_widths)}"
            )
        return self.clock_ps_by_width.get(data_width, self.clock_ps)


def _enum_names(table: Table, key: str, kind: type[E]) -> frozenset[E]:
    names = table.take_list(key, str)
    for name in names:
        if name not in kind.__members__:
            raise table.error(key, f"{shown(name)} is none of {', '.join(kind.__members__)}")
    return frozenset(kind[name] for name in names)


def _features(table: Table) -> frozenset[str]:
    names = table.take_list("features", str) if "features" in table else []
    for name in names:
        if name not in FEATURES:
            raise table.error("features", f"{shown(name)} is none of {', '.join(FEATURES)}")
    return frozenset(names)


def _capabilities(table: Table) -> Capabilities:
    sizes = table.take_list("path_mtus", int)
    for size in sizes:
        if size not in {mtu.size for mtu in PathMtu}:
            raise table.error("path_mtus", f"{shown(size)} is none of 256, 512, 1024, 2048, 4096")
    result = Capabilities(
        services=_enum_names(table, "services", Service),
        operations=_enum_names(table, "operations", Operation),
        path_mtus=frozenset(PathMtu.from_size(size) for size in sizes),
        qps=table.take_number("qps", least=1, most=MOST_QPS),
        retransmission=table.take("retransmission", bool, default=False),
        features=_features(table),
    )
    table.finish()
    return result


def _word(table: Table, key: str, form: re.Pattern[str], expected: str) -> str:
    word = table.take(key, str)
    if not form.fullmatch(word):
        raise table.error(key, f"{shown(word)} will not do; expected {expected}")
    return word


def _sources(table: Table, home: Path) -> tuple[Path, ...]:
    sources = []
    for name in table.take_list("sources", str):
        source = home / name
        if not name.isprintable() or not source.name:
            raise table.error("sources", f"{shown(name)} is no file name")
        try:
            is_there = source.resolve().is_file()
        except OSError as error:
            raise table.error("sources", f"{shown(name)}: {error.strerror}") from error
        if not is_there:
            raise table.error("sources", f"{source.resolve()} does not exist; correct the name")
        sources.append(source.resolve())
    return tuple(sources)


def _clock(table: Table, key: str) -> int:
    return table.take_number(key, least=2, most=SLOWEST_CLOCK_PS)


def load_manifest(path: Path) -> Manifest:
    """Read and check a dut.toml."""
    table = Table(path, "", read_toml(path))
    schema = table.take("schema", int)
    if schema != SCHEMA:
        raise table.error(
            "schema", f"{shown(schema)} is not supported; this version reads {SCHEMA}"
        )
    widths = table.take_list("data_widths", int)
    for width in widths:
        if width not in DATA_WIDTHS:
            raise table.error("data_widths", f"{shown(width)} is none of {list(DATA_WIDTHS)}")
    by_width = Table(path, "clock_ps_by_width.", table.take("clock_ps_by_width", dict, default={}))
    clocks = {width: _clock(by_width, str(width)) for width in widths if str(width) in by_width}
    by_width.finish()
    result = Manifest(
        path=path.resolve(),
        name=_word(table, "name", NAME, "letters, digits and _ . + -, at most 64"),
        top=_word(table, "top", IDENTIFIER, "the name of a SystemVerilog module"),
        sources=_sources(table, path.parent),
        clock_ps=_clock(table, "clock_ps"),
        data_widths=tuple(widths),
        capabilities=_capabilities(Table(path, "capabilities.", table.take("capabilities", dict))),
        clock_ps_by_width=clocks,
    )
    table.finish()
    return result
