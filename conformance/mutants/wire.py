# SPDX-License-Identifier: BSD-2-Clause
"""Faults between the suite and a healthy device: what it sends is corrupted, what it gets repaired.

A device that ignores a wrong transport version is a healthy device behind a filter that clears
the version. So any rule has a device that breaks it, on any target.

    @wire_mutant("tver-ignored", expected=["BTH-05"])
    class TverIgnored(WireFault):
        "TVer is not looked at."

        def received(self, frame, time_ns): ...

What a filter cannot do, since it never sees how a device is configured, is a part of the
reference model exchanged for a faulty one.

    @model_mutant("psn-of-other-way", expected=["PSN-01"], explained_as=["P01"])
    def starts_the_other_way() -> Components: ...

The first paragraph of its docstring describes a fault, as who made it would confess it.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib import import_module
from pkgutil import iter_modules
from typing import TypeVar

from roceproof.common.errors import RoceproofError
from roceproof.conformance.model.components import Components
from roceproof.conformance.rules.table import RULES
from roceproof.conformance.wire.framing import frame_check_sequence


class WireMutantError(RoceproofError):
    """A wire mutant is declared wrongly or does not exist; the text says what to do."""


class WireFault:
    """A filter with the state of one case. Each method may be overridden; these change nothing."""

    def received(self, frame: bytes, time_ns: int) -> list[bytes]:
        """What the device gets instead of a frame that was sent to it."""
        return [frame]

    def sent(self, frame: bytes, time_ns: int) -> list[bytes]:
        """What the wire gets instead of a frame that the device sends."""
        return [frame]

    def answers(self, frame: bytes, time_ns: int) -> list[bytes]:
        """What leaves in the device's name at once when a frame is sent to it."""
        return []

    def fcs(self, frame: bytes) -> bytes:
        """The FCS of a frame that leaves, where that is shown."""
        return frame_check_sequence(frame)

    def disturbed(self, percent: Mapping[str, int]) -> None:
        """The bench stalls the device's streams from now on."""


@dataclass(frozen=True)
class WireMutant:
    id: str
    description: str
    expected: tuple[str, ...]
    explained_as: tuple[str, ...]
    make: Callable[[], WireFault] = WireFault
    components: Callable[[], Components] | None = None

    @property
    def kind(self) -> str:
        return "wire" if self.components is None else "model"


_REGISTRY: dict[str, WireMutant] = {}
_FAMILIES = "roceproof.conformance.mutants.families"
F = TypeVar("F", bound=type[WireFault])
P = TypeVar("P", bound=Callable[[], Components])


def wire_mutant(
    id: str, *, expected: Iterable[str], explained_as: Iterable[str] = ()
) -> Callable[[F], F]:
    """Declare a fault: the rules that must find it, and how `explain` must name it."""

    def register(kind: F) -> F:
        description = _description(id, kind)
        _declare(WireMutant(id, description, tuple(expected), tuple(explained_as), make=kind))
        return kind

    return register


def model_mutant(
    id: str, *, expected: Iterable[str], explained_as: Iterable[str] = ()
) -> Callable[[P], P]:
    """Declare a fault inside the model; the function makes its components, one of them faulty."""

    def register(components: P) -> P:
        description = _description(id, components)
        _declare(
            WireMutant(id, description, tuple(expected), tuple(explained_as), components=components)
        )
        return components

    return register


def _description(id: str, fault: object) -> str:
    if not fault.__doc__:
        raise WireMutantError(f"{id}: what is wrong is not said; give it a docstring")
    return " ".join(fault.__doc__.split("\n\n")[0].split())


def _declare(mutant: WireMutant) -> None:
    unknown = [rule for rule in mutant.expected if rule not in RULES]
    if unknown or not mutant.expected:
        raise WireMutantError(
            f"{mutant.id}: expected {unknown or 'nothing'}; give ids of rules.tsv"
        )
    if mutant.id in _REGISTRY:
        raise WireMutantError(f"{mutant.id}: two wire mutants have this id; rename one")
    _REGISTRY[mutant.id] = mutant


def wire_mutants() -> dict[str, WireMutant]:
    """All declared faults by their id."""
    package = import_module(_FAMILIES)
    for module in iter_modules(package.__path__):
        import_module(f"{_FAMILIES}.{module.name}")
    return dict(sorted(_REGISTRY.items()))
