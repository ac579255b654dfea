# SPDX-License-Identifier: BSD-2-Clause
"""What the devices of a run claim together; it decides which bins are theirs to fill.

A need is a word: a capability (`WRITE`), a path MTU (`mtu:1024`), a bound of the number of queue
pairs (`qps>=9`, `qps<=64`), a data width (`width:64`), `sends:UD` for a service on which it is a
requester, `serves:RC.SEND` for what it executes as a responder, `executes:SEND` for what it
executes on any service, or `cycles` for streams that a clock moves.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

from roceproof.common.shape import Word
from roceproof.conformance.targets.capability import Capability
from roceproof.conformance.targets.interface import Claims
from roceproof.dpi.manifest.dut import DATA_WIDTHS
from roceproof.verbs.limit_table import MOST_OUTSTANDING, MOST_QPS
from roceproof.verbs.service import PathMtu, Service

_NAMES = ([Word], type(None))
SCOPE_SHAPE = {
    "capabilities": [frozenset(Capability.__members__)],
    "path_mtus": [frozenset(mtu.size for mtu in PathMtu)],
    "qps": range(1, MOST_QPS + 1),
    "widths": [frozenset(DATA_WIDTHS)],
    "serves?": _NAMES,
    "sends?": _NAMES,
    "outstanding?": (range(1, MOST_OUTSTANDING + 1), type(None)),
}
"""Of the document of a scope that comes from a file."""
_BOUND = re.compile(r"qps(>=|<=)(\d+)")


@dataclass(frozen=True, kw_only=True)
class Scope:
    """Capabilities, path MTUs, queue pairs and data widths."""

    capabilities: frozenset[Capability]
    path_mtus: tuple[int, ...]
    qps: int
    widths: tuple[int, ...] = ()
    serves: frozenset[str] | None = None  # all that the services have, where nothing is said
    sends: frozenset[str] | None = None  # on all services, where nothing is said
    outstanding: int | None = None  # messages at once, any number where nothing is said

    @classmethod
    def of(cls, claims: Iterable[Claims]) -> Self:
        """One device at one or more data widths."""
        all_of_them = list(claims)
        first = all_of_them[0]
        widths = {each.data_width for each in all_of_them if each.data_width is not None}
        return cls(
            capabilities=first.capabilities,
            path_mtus=first.path_mtus,
            qps=first.qps,
            widths=tuple(sorted(widths)),
            serves=_served(first),
            sends=_senders(first),
            outstanding=first.limits.outstanding_messages,
        )

    def to_json(self) -> dict[str, Any]:
        """A document in a fixed order."""
        return {
            "capabilities": sorted(each.name for each in self.capabilities),
            "path_mtus": list(self.path_mtus),
            "qps": self.qps,
            "widths": list(self.widths),
            "serves": None if self.serves is None else sorted(self.serves),
            "sends": None if self.sends is None else sorted(self.sends),
            "outstanding": self.outstanding,
        }

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Self:
        return cls(
            capabilities=frozenset(Capability[name] for name in document["capabilities"]),
            path_mtus=tuple(dict.fromkeys(document["path_mtus"])),
            qps=document["qps"],
            widths=tuple(dict.fromkeys(document["widths"])),
            serves=_said(document.get("serves")),
            sends=_said(document.get("sends")),
            outstanding=document.get("outstanding"),
        )

    def joined(self, other: Self) -> Self | None:
        """The same device at the data widths of both; None if it is another device."""
        if replace(self, widths=()) != replace(other, widths=()):
            return None
        return replace(self, widths=tuple(sorted({*self.widths, *other.widths})))

    def allows(self, need: str) -> bool:
        """Whether a need is met; a capability that nobody has heard of is a KeyError."""
        if bound := _BOUND.fullmatch(need):
            limit = int(bound[2])
            return self.qps >= limit if bound[1] == ">=" else self.qps <= limit
        kind, _, value = need.partition(":")
        match kind:
            case "cycles":
                return bool(self.widths)
            case "mtu":
                return int(value) in self.path_mtus
            case "width":
                return int(value) in self.widths
            case "sends":
                return Capability[value] in self.capabilities and _among(value, self.sends)
            case "serves":
                service = Capability[value.partition(".")[0]]
                return service in self.capabilities and _among(value, self.serves)
            case "executes":
                return any(self.allows(f"serves:{service.name}.{value}") for service in Service)
        return Capability[need] in self.capabilities


def _among(name: str, said: frozenset[str] | None) -> bool:
    return said is None or name in said


def _said(names: Iterable[str] | None) -> frozenset[str] | None:
    return None if names is None else frozenset(names)


def _senders(claims: Claims) -> frozenset[str] | None:
    sent = claims.limits.operations
    return _said(None if sent is None else (service.name for service in sent if sent[service]))


def _served(claims: Claims) -> frozenset[str] | None:
    if claims.executes is None:
        return None
    return frozenset(
        f"{service.name}.{operation.name}"
        for service, operations in claims.executes.items()
        for operation in operations
    )
