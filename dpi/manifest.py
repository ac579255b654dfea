# SPDX-License-Identifier: BSD-2-Clause
"""The DUT manifest, dut.toml: what a device is made of and what it claims to do."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from roceproof.dpi.records import Operation, PathMtu, Service
from roceproof.errors import RoceproofError

SCHEMA = 1
DATA_WIDTHS = (64, 128, 256, 512, 1024)
FEATURES = ("cnp", "ipv6")
"""What a device may do besides: react to CNPs, speak IPv6."""


T = TypeVar("T")
E = TypeVar("E", Service, Operation)


class ManifestError(RoceproofError):
    """A manifest cannot be used. The text names the key and what it should hold."""


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


class _Table:
    """A TOML table whose every key must be asked for."""

    def __init__(self, path: Path, name: str, values: Mapping[str, Any]):
        self._path = path
        self._name = name
        self._left = dict(values)

    def error(self, key: str, problem: str) -> ManifestError:
        return ManifestError(f"{self._path}: {self._name}{key}: {problem}")

    def take(self, key: str, kind: type[T], *, default: T | None = None) -> T:
        value = self._left.pop(key, default)
        if value is None:
            raise self.error(key, f"missing; add a value of type {kind.__name__}")
        if type(value) is not kind:
            raise self.error(key, f"expected {kind.__name__}, got {value!r}")
        return value

    def take_list(self, key: str, kind: type[T]) -> list[T]:
        values = self.take(key, list)
        if not values or any(type(value) is not kind for value in values):
            raise self.error(key, f"expected a list of {kind.__name__}, got {values!r}")
        return values

    def __contains__(self, key: str) -> bool:
        return key in self._left

    def finish(self) -> None:
        for key in self._left:
            raise self.error(key, "unknown key; remove it or correct its spelling")


def _enum_names(table: _Table, key: str, kind: type[E]) -> frozenset[E]:
    names = table.take_list(key, str)
    for name in names:
        if name not in kind.__members__:
            raise table.error(key, f"{name!r} is none of {', '.join(kind.__members__)}")
    return frozenset(kind[name] for name in names)


def _features(table: _Table) -> frozenset[str]:
    names = table.take_list("features", str) if "features" in table else []
    for name in names:
        if name not in FEATURES:
            raise table.error("features", f"{name!r} is none of {', '.join(FEATURES)}")
    return frozenset(names)


def _capabilities(table: _Table) -> Capabilities:
    sizes = table.take_list("path_mtus", int)
    for size in sizes:
        if size not in {mtu.size for mtu in PathMtu}:
            raise table.error("path_mtus", f"{size} is none of 256, 512, 1024, 2048, 4096")
    result = Capabilities(
        services=_enum_names(table, "services", Service),
        operations=_enum_names(table, "operations", Operation),
        path_mtus=frozenset(PathMtu.from_size(size) for size in sizes),
        qps=table.take("qps", int),
        retransmission=table.take("retransmission", bool, default=False),
        features=_features(table),
    )
    table.finish()
    return result


def load_manifest(path: Path) -> Manifest:
    """Read and check a dut.toml."""
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ManifestError(f"{path}: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ManifestError(f"{path}: not TOML: {error}") from error
    table = _Table(path, "", values)
    schema = table.take("schema", int)
    if schema != SCHEMA:
        raise table.error("schema", f"{schema} is not supported; this version reads {SCHEMA}")
    widths = table.take_list("data_widths", int)
    for width in widths:
        if width not in DATA_WIDTHS:
            raise table.error("data_widths", f"{width} is none of {list(DATA_WIDTHS)}")
    sources = tuple((path.parent / name).resolve() for name in table.take_list("sources", str))
    for source in sources:
        if not source.is_file():
            raise table.error("sources", f"{source} does not exist")
    by_width = _Table(path, "clock_ps_by_width.", table.take("clock_ps_by_width", dict, default={}))
    clocks = {w: by_width.take(str(w), int) for w in widths if str(w) in by_width}
    by_width.finish()
    clock_ps = table.take("clock_ps", int)
    for period in (clock_ps, *clocks.values()):
        if period < 2:
            raise table.error("clock_ps", f"{period} ps is no clock period; expected at least 2")
    result = Manifest(
        path=path.resolve(),
        name=table.take("name", str),
        top=table.take("top", str),
        sources=sources,
        clock_ps=clock_ps,
        data_widths=tuple(widths),
        capabilities=_capabilities(_Table(path, "capabilities.", table.take("capabilities", dict))),
        clock_ps_by_width=clocks,
    )
    table.finish()
    return result
