# SPDX-License-Identifier: BSD-2-Clause
"""A plan as data: a device's identity, and the steps of a play in their order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from inspect import signature
from ipaddress import ip_address
from typing import Any, Protocol

from roceproof.conformance.stimulus.requester.play import Play
from roceproof.conformance.suite.bench import Bench
from roceproof.verbs.addresses import Host, parse_mac


class Player(Protocol):
    """Whose methods the steps of a plan are: `Play` or `Asking`."""

    def __init__(self, bench: Bench) -> None: ...

    def finish(self) -> None:
        """The end of every plan."""


@dataclass(frozen=True)
class Step:
    """One call of a method of a player."""

    name: str
    fields: Mapping[str, Any]

    def apply(self, play: Player) -> None:
        """Do it."""
        getattr(play, self.name)(**self.fields)

    def optional(self, player: type[Player]) -> list[str]:
        """The names of what need not be said."""
        parameters = signature(getattr(player, self.name)).parameters.values()
        needed = {each.name for each in parameters if each.default is each.empty}
        return [name for name in self.fields if name not in needed]

    def without(self, field: str) -> Step:
        """The same step, in which that is not said."""
        return Step(self.name, {k: v for k, v in self.fields.items() if k != field})

    def but(self, field: str, value: Any) -> Step:
        """The same step, in which that is said otherwise."""
        return Step(self.name, {**self.fields, field: value})

    def __str__(self) -> str:
        said = [f"{name}={_shown(name, value)}" for name, value in self.fields.items()]
        return f"play.{self.name}({', '.join(said)})"


@dataclass(frozen=True, kw_only=True)
class Plan:
    """Stimulus for one device; the end is always the same and not among the steps."""

    steps: tuple[Step, ...]
    mac: str | None = None
    ip: str | None = None
    player: type[Player] = Play

    @property
    def host(self) -> Host | None:
        """The address that the device shall have, None for its own."""
        if self.mac is None or self.ip is None:
            return None
        return Host(parse_mac(self.mac), ip_address(self.ip).packed)

    def having(self, steps: Sequence[Step]) -> Plan:
        """The same plan with other steps."""
        return replace(self, steps=tuple(steps))

    def play(self, bench: Bench) -> None:
        """Do it all; a deviation of the device is raised as `CaseFailed`."""
        play = self.player(bench)
        for step in self.steps:
            step.apply(play)
        play.finish()

    def case(self, name: str, *, rules: Sequence[str]) -> str:
        """The plan as a case, ready to be pasted into a file of cases."""
        marks = [f"@case({', '.join(map(repr, rules))})".replace("'", '"')]
        if self.host is not None:
            marks.append(f'@identity(mac="{self.mac}", ip="{self.ip}")')
        lines = [
            f"def test_{name}(bench: Bench) -> None:",
            f"    play = {self.player.__name__}(bench)",
        ]
        lines += [f"    {step}".replace("'", '"') for step in self.steps]
        where, name = self.player.__module__, self.player.__name__
        imports = [f"from {where} import {name}", *_IMPORTS]
        return "\n".join([*imports, "", "", *marks, *lines, "    play.finish()", ""])


_IMPORTS = (
    "from roceproof.conformance.suite.bench import Bench",
    "from roceproof.conformance.suite.case import case, identity",
)
_HEX = frozenset(
    [
        *("wr_id", "remote_addr", "rkey", "immediate", "syndrome", "sq_psn", "local_qpn"),
        *("remote_qpn", "udp_sport", "ip_id", "length", "fill", "rq_psn"),
    ]
)


def _shown(name: str, value: Any) -> str:
    return f"{value:#x}" if name in _HEX and isinstance(value, int) and value > 9 else repr(value)
