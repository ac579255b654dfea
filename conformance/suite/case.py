# SPDX-License-Identifier: BSD-2-Clause
"""How a case is declared: the rules it decides, what it needs, and whether smoke runs it.

    @case("PSN-03", needs=[Capability.WRITE], smoke=True)
    @over_services
    def test_a_psn_wraps(bench, service): ...

The rules are those of `roceproof rules`, the services RC and UC.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

import pytest

from roceproof.common.errors import RoceproofError
from roceproof.conformance.rules.table import RULES
from roceproof.conformance.targets.capability import Capability
from roceproof.verbs.service import Service

F = TypeVar("F", bound=Callable[..., object])


class CaseError(RoceproofError):
    """A case is declared wrongly; the text names it and what it may say."""


def case(
    *rules: str,
    needs: Iterable[Capability] = (),
    smoke: bool = False,
    long: bool = False,
    unjudged: Mapping[str, str] | None = None,
    breaks: Iterable[str] = (),
    targets: Iterable[str] = (),
) -> Callable[[F], F]:
    """Declare a case.

    `unjudged` names rules that the passive observer must not judge here, each with the reason:
    what the case itself sends can make a capture look broken. `breaks` names the rules that the
    case breaks on purpose, where that does not follow from what it sends (`intent`): any other is
    an error of the case. `targets` restricts a case to
    some kinds of target, for what only they can show; elsewhere it is skipped with that reason.
    A `long` case takes minutes, and only the suite of that name has it.
    """
    broken = sorted(breaks)
    for rule in (*rules, *(unjudged or {}), *broken):
        if rule not in RULES:
            raise CaseError(f"{rule} is no rule; list: roceproof rules")

    def mark(function: F) -> F:
        marks = [pytest.mark.rules(*rules), pytest.mark.needs(*needs)]
        if smoke:
            marks.append(pytest.mark.smoke)
        if long:
            marks.append(pytest.mark.long_life)
        if unjudged:
            marks.append(pytest.mark.unjudged(reasons=dict(unjudged)))
        if broken:
            marks.append(pytest.mark.breaks(*broken))
        if targets:
            marks.append(pytest.mark.targets(*targets))
        for each in marks:
            function = each(function)
        return function

    return mark


def identity(*, mac: str, ip: str) -> pytest.MarkDecorator:
    """The address that the device shall have, where it lets itself be told."""
    return pytest.mark.identity(mac=mac, ip=ip)


def needs(*capabilities: Capability) -> pytest.MarkDecorator:
    """A mark for one parameter or a whole module."""
    return pytest.mark.needs(*capabilities)


MASSES = pytest.mark.masses
"""For cases that are many by chance or by number: a gate has those of smoke."""
REQUESTER = needs(Capability.REQUESTER)
"""`pytestmark` of a module whose cases test the device as requester."""

RESPONDER = needs(Capability.RESPONDER, Capability.MEMORY)
"""`pytestmark` of a module whose cases test the device as responder."""


def over(
    name: str | tuple[str, ...],
    values: Iterable[Any],
    *,
    ids: Iterable[str] | Callable[[Any], str] | None = None,
) -> pytest.MarkDecorator:
    """Run a case once for each value; `ids` name them, or say how to."""
    names = ids if ids is None or callable(ids) else list(ids)
    return pytest.mark.parametrize(name, list(values), ids=names)


over_services = pytest.mark.parametrize(
    "service",
    [
        pytest.param(Service.RC, id="RC", marks=needs(Capability.RC)),
        pytest.param(Service.UC, id="UC", marks=needs(Capability.UC)),
    ],
)
"""Run a case on RC and on UC, each where the device has it."""
over_all_services = pytest.mark.parametrize(
    "service",
    [pytest.param(each, id=each.name, marks=needs(Capability[each.name])) for each in Service],
)
"""The same with UD."""
over_ways_anew = pytest.mark.parametrize(
    "straight",
    [
        pytest.param(False, id="reset"),
        pytest.param(True, id="activate", marks=needs(Capability.RESTART)),
    ],
)
"""Begin the life of a queue pair anew through RESET, and as `straight` as a device can."""


over_gaps = pytest.mark.parametrize(
    "gaps",
    [
        pytest.param({}, id="gapless"),
        pytest.param({"rx_gap": 60}, id="gaps", marks=needs(Capability.DISTURBANCE)),
    ],
)
"""Frames come to the device beat by beat, or with gaps between beats: `disturb` takes it."""

over_ip_versions = pytest.mark.parametrize(
    "ipv6",
    [
        pytest.param(False, id="IPv4"),
        pytest.param(True, id="IPv6", marks=needs(Capability.IPV6)),
    ],
)
"""Run a case with a peer of either IP version, IPv6 where the device speaks it."""


def over_mtus(*sizes: int) -> pytest.MarkDecorator:
    """Run a case at each path MTU (all five without any); those a device lacks are skipped."""
    return pytest.mark.parametrize("mtu", sizes or (256, 512, 1024, 2048, 4096))
