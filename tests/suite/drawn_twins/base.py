# SPDX-License-Identifier: BSD-2-Clause
"""The healthy devices that twins are made of, each behind the adapter of tests/suite/twin."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from roceproof.common.paths import REFERENCE_DUT
from roceproof.dpi import Manifest, load_manifest

Tables = dict[str, Any]

_ROOT = Path(__file__).resolve().parents[3]
_ADAPTER = tuple(
    _ROOT / "tests/suite/twin" / f"{name}.sv"
    for name in ("twin_pkg", "twin_wait", "twin_arrivals", "twin_outbox", "twin_departures", "twin")
)
_PACKAGE = _ROOT / "rtl/roceproof_dut_pkg.sv"
_QUIET_CYCLES = 1600
_ANSWER_CYCLES = 100_000


@dataclass(frozen=True)
class Base:
    """One of them."""

    name: str
    path: Path
    is_late: bool = False
    """Its ACK timeout takes more than 2 T already, of the 4 T that it may take."""

    @cached_property
    def manifest(self) -> Manifest:
        """Its own."""
        return load_manifest(self.path)

    @property
    def width(self) -> int:
        """Of all streams."""
        return self.manifest.data_widths[0]

    @property
    def quiet_cycles(self) -> int:
        """What it claims."""
        return self.manifest.limits.quiet_cycles or _QUIET_CYCLES

    @property
    def answer_cycles(self) -> int:
        """What it claims."""
        return self.manifest.limits.answer_cycles or _ANSWER_CYCLES

    def tables(self) -> Tables:
        """The manifest of the twin that has no limits and no habits, as tables."""
        own = self.manifest
        claimed = own.capabilities
        sent = {
            service.name: [op.name for op in own.limits.operations[service]]
            if own.limits.operations
            else [op.name for op in claimed.operations]
            for service in claimed.services
            if claimed.operations
        }
        sources = [path for path in own.sources if path.name != _PACKAGE.name]
        limits: Tables = {
            "path_mtus": sorted(mtu.size for mtu in claimed.path_mtus),
            "qps": claimed.qps,
            "length": [own.limits.shortest, own.limits.longest or 1 << 31],
            "answer_cycles": self.answer_cycles,
            "quiet_cycles": self.quiet_cycles,
        }
        if own.limits.outstanding_messages:
            limits["outstanding_messages"] = own.limits.outstanding_messages
        return {
            "schema": 2,
            "name": f"twin-{self.name}",
            "top": "twin",
            "sources": [str(path) for path in (_PACKAGE, *sources, *_ADAPTER)],
            "clock_ps": own.clock_ps_at(self.width),
            "data_widths": [self.width],
            "warnings": ["COMBDLY", "LATCH", "MULTIDRIVEN", "UNOPTFLAT"],
            "defines": {"TWIN_DEVICE": own.top},
            "parameters": dict(self._said.get("parameters", {})),
            "capabilities": {name: sorted(names) for name, names in sent.items()},
            "limits": limits,
            "fixed": {},
            "environment": {},
            **self._responder(),
        }

    def _responder(self) -> Tables:
        said = self._said
        parts = {name: said[name] for name in ("responder", "cm", "region") if name in said}
        if "backdoor" in parts.get("responder", {}):
            inside = {"backdoor": f"u_device.{said['responder']['backdoor']}"}
            parts["responder"] = said["responder"] | inside
        return parts

    @cached_property
    def _said(self) -> Tables:
        import tomllib

        return tomllib.loads(self.path.read_text())


BASES = {
    base.name: base
    for base in (
        Base("endpoint", REFERENCE_DUT),
        Base("responder", REFERENCE_DUT.with_name("responder.toml")),
        Base("byte_endpoint", _ROOT / "examples/byte_endpoint/dut.toml", is_late=True),
        Base("uc_writer", _ROOT / "examples/uc_writer/dut.toml"),
    )
}


def text_of(tables: Tables) -> str:
    """As TOML."""
    plain = {name: value for name, value in tables.items() if not _is_table(value)}
    lines = _lines(plain)
    for name, value in tables.items():
        if isinstance(value, dict):
            lines += [f"[{name}]", *_lines(value)]
        elif _is_table(value):
            for each in value:
                lines += [f"[[{name}]]", *_lines(each)]
    return "\n".join(lines) + "\n"


def _lines(table: Tables) -> list[str]:
    return [f"{name} = {json.dumps(value)}" for name, value in table.items()]


def _is_table(value: Any) -> bool:
    return isinstance(value, dict) or (
        isinstance(value, list) and bool(value) and isinstance(value[0], dict)
    )
