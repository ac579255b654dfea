# SPDX-License-Identifier: BSD-2-Clause
"""The DUT manifest, dut.toml: what a device is made of, what it claims to do and what limits it.

Schema 2 is described in docs/dut-contract.md; manifests of schema 1, which knew no limits, are read
as before.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any, TypeVar

from roceproof.common.paths import REPOSITORY
from roceproof.dpi.contract.records import ASKING, Operation
from roceproof.dpi.manifest.circuit import IDENTIFIER, Circuit, read_circuit, read_files
from roceproof.dpi.manifest.limits import Environment, read_environment, read_limit, read_limits
from roceproof.dpi.manifest.responder import Management, Responder, read_management, read_responder
from roceproof.dpi.manifest.toml_table import ManifestError, Table, read_toml, shown
from roceproof.verbs.limit_table import LIMITS
from roceproof.verbs.limits import Limits
from roceproof.verbs.service import PathMtu, Service

__all__ = ["Capabilities", "Manifest", "ManifestError", "load_manifest"]

SCHEMAS = (1, 2)
_OF_SCHEMA_2 = ("limits", "fixed", "environment", "responder", "cm", "wire", "waivers")
DATA_WIDTHS = (8, 16, 32, 64, 128, 256, 512, 1024)
STREAM, XGMII = "stream", "xgmii"
WIRES = (STREAM, XGMII)
"""How frames cross its border: AXI4-Stream of the data width, or XGMII of 64 bits."""
XGMII_WIDTH = 64
FEATURES = ("cnp", "credits", "ipv6", "pfc", "vlan")
"""What a device may do besides: react to CNPs, speak IPv6, obey priority pauses, tag frames."""

CONTRACT = REPOSITORY / "rtl" / "roceproof_dut_pkg.sv"
NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]{0,63}")  # it becomes part of file names
SLOWEST_CLOCK_PS = 10**9

_ROWS = {row.key: row for row in LIMITS}

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
    """One device under test.

    Sources are absolute and in compile order; the contract's package, which the bridge needs as
    well, comes first where no other of its name is listed.
    """

    path: Path
    name: str
    top: str
    sources: tuple[Path, ...]
    clock_ps: int
    data_widths: tuple[int, ...]
    capabilities: Capabilities
    clock_ps_by_width: Mapping[int, int] = field(default_factory=dict)
    wire: str = STREAM
    circuit: Circuit = field(default_factory=Circuit)
    limits: Limits = field(default_factory=Limits)
    environment: Environment = field(default_factory=Environment)
    responder: Responder | None = None
    cm: Management | None = None
    waivers: tuple[Mapping[str, Any], ...] = ()
    """As they stand there; what a suite accepts for a time is no matter of the bridge."""

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


def _path_mtus(table: Table) -> frozenset[PathMtu]:
    return frozenset(map(PathMtu.from_size, read_limit(table, _ROWS["path_mtus"])))


def _qps(table: Table) -> int:
    return int(read_limit(table, _ROWS["qps"]))


def _capabilities_1(table: Table) -> Capabilities:
    result = Capabilities(
        services=_enum_names(table, "services", Service),
        operations=_enum_names(table, "operations", Operation),
        path_mtus=_path_mtus(table),
        qps=_qps(table),
        retransmission=table.take("retransmission", bool, default=False),
        features=_features(table),
    )
    if result.operations & ASKING:
        raise table.error("operations", "READ and atomics take schema = 2 and a table [responder]")
    table.finish()
    return result


def _capabilities_2(
    table: Table, limits: Table, *, is_responder: bool
) -> tuple[Capabilities, dict[Service, frozenset[Operation]]]:
    """Operations are listed by service: `RC = ["WRITE", "SEND"]`. A responder may send nothing."""
    by_service = {
        service: _enum_names(table, service.name, Operation)
        for service in Service
        if service.name in table
    }
    for service, operations in by_service.items():
        if operations & ASKING and service is not Service.RC:
            raise table.error(service.name, "READ and atomics are for RC alone")
        if operations & ASKING and not is_responder:
            raise table.error(service.name, "what READs return needs memory: add a [responder]")
    if not by_service and not is_responder:
        names = " or ".join(service.name for service in Service)
        raise table.error("RC", f'missing; list the operations of {names}, such as ["WRITE"]')
    result = Capabilities(
        services=frozenset(by_service),
        operations=frozenset().union(*by_service.values()),
        path_mtus=_path_mtus(limits) if "path_mtus" in limits else frozenset(PathMtu),
        qps=_qps(limits) if "qps" in limits else 1,
        retransmission=table.take("retransmission", bool, default=False),
        features=_features(table),
    )
    table.finish()
    return result, by_service


def _responder(table: Table, *, asks: bool) -> Responder | None:
    if "responder" not in table:
        for part in ("region", "cm"):
            if part in table:
                raise table.error(part, "says what a responder has: add a table [responder]")
        return None
    return read_responder(table.take_table("responder"), table.take_tables("region"), asks=asks)


def _wire(table: Table, widths: Sequence[int]) -> str:
    if "wire" not in table:
        return STREAM
    wire = table.take("wire", str)
    if wire not in WIRES:
        raise table.error("wire", f"{shown(wire)} is none of {', '.join(WIRES)}")
    if wire == XGMII and list(widths) != [XGMII_WIDTH]:
        raise table.error("wire", f"XGMII has 64 bits; write data_widths = [{XGMII_WIDTH}]")
    return wire


def _word(table: Table, key: str, form: re.Pattern[str], expected: str) -> str:
    word = table.take(key, str)
    if not form.fullmatch(word):
        raise table.error(key, f"{shown(word)} will not do; expected {expected}")
    return word


def _clock(table: Table, key: str) -> int:
    return table.take_number(key, least=2, most=SLOWEST_CLOCK_PS)


def _with_contract(sources: Sequence[Path]) -> tuple[Path, ...]:
    is_named = any(path.name == CONTRACT.name for path in sources)
    return tuple(sources) if is_named else (CONTRACT, *sources)


def _with_waived_limits(values: dict[str, Any]) -> dict[str, Any]:
    """What is waived beyond some limits lies beyond the limits of the device until that ends."""
    waivers, limits = values.get("waivers"), values.get("limits", {})
    if not isinstance(waivers, list) or not isinstance(limits, dict):
        return values  # which is refused later
    for each in waivers:
        if not isinstance(each, dict) or type(each.get("expires")) is not date:
            continue
        if isinstance(each.get("limits"), dict) and date.today() <= each["expires"]:
            limits = {**limits, **each["limits"]}
    return {**values, "limits": limits} if limits else values


def load_manifest(path: Path) -> Manifest:
    """Read and check a dut.toml."""
    table = Table(path, "", _with_waived_limits(read_toml(path)))
    schema = table.take("schema", int)
    if schema not in SCHEMAS:
        known = " and ".join(map(str, SCHEMAS))
        raise table.error("schema", f"{shown(schema)} is not supported; this version reads {known}")
    widths = table.take_list("data_widths", int)
    for width in widths:
        if width not in DATA_WIDTHS:
            raise table.error("data_widths", f"{shown(width)} is none of {list(DATA_WIDTHS)}")
    by_width = table.take_table("clock_ps_by_width")
    clocks = {width: _clock(by_width, str(width)) for width in widths if str(width) in by_width}
    by_width.finish()
    files = read_files(table, path.parent, schema=schema)
    claimed = Table(path, "capabilities.", table.take("capabilities", dict))
    more: dict[str, Any] = {}
    if schema == 1:
        for key in _OF_SCHEMA_2:
            if key in table:
                raise table.error(key, "is a key of schema 2; docs/dut-contract.md has its form")
        capabilities = _capabilities_1(claimed)
    else:
        limits = table.take_table("limits")
        capabilities, by_service = _capabilities_2(
            claimed, limits, is_responder="responder" in table
        )
        more = {
            "wire": _wire(table, widths),
            "circuit": read_circuit(table, files),
            "limits": read_limits(limits, table.take_table("fixed"), by_service),
            "environment": read_environment(table.take_table("environment")),
            "responder": _responder(table, asks=bool(capabilities.operations & ASKING)),
            "cm": read_management(table.take_table("cm")) if "cm" in table else None,
            "waivers": tuple(table.take_list("waivers", dict) if "waivers" in table else ()),
        }
    result = Manifest(
        path=path.resolve(),
        name=_word(table, "name", NAME, "letters, digits and _ . + -, at most 64"),
        top=_word(table, "top", IDENTIFIER, "the name of a SystemVerilog module"),
        sources=_with_contract(files.sources),
        clock_ps=_clock(table, "clock_ps"),
        data_widths=tuple(widths),
        capabilities=capabilities,
        clock_ps_by_width=clocks,
        **more,
    )
    table.finish()
    return result
