# SPDX-License-Identifier: BSD-2-Clause
"""Rules on what never changes within a flow."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from roceproof.conformance.observer.observed import Observed
from roceproof.conformance.rules.findings import Violation
from roceproof.conformance.rules.table import Severity
from roceproof.conformance.wire.opcodes import Transport

_VID = 0xFFF
_DEI = 1 << 12
_CONNECTED = (Transport.RC, Transport.UC)


class _Traits(NamedTuple):
    sport: int | None
    dscp: int
    tag: int | None
    migreq: int | None


_RULES = {
    "sport": ("UDP-04", "source port", None),
    "dscp": ("IP-07", "DSCP", Severity.SHOULD),
    "tag": ("VLAN-02", "VLAN tag", Severity.SHOULD),
    "migreq": ("BTH-03", "MigReq", None),
}
"""Where a network may have changed it, a capture can only warn."""


class Constants:
    """The traits of the requests, responses and CNPs of one flow, each kind apart."""

    def __init__(self) -> None:
        self._newest: dict[str, _Traits] = {}

    def take(self, packet: Observed) -> Iterator[Violation]:
        """UDP-04, IP-07, VLAN-02, BTH-03: hold a packet against the one before of its kind."""
        kind, now = _traits(packet)
        before = self._newest.get(kind)
        if before == now:
            return
        self._newest[kind] = now
        if before is None:
            return
        for name, (rule, what, severity) in _RULES.items():
            old: Any = getattr(before, name)
            new: Any = getattr(now, name)
            if old != new:
                yield Violation(rule, f"{what} {_shown(old)}", _shown(new), severity)


def _traits(packet: Observed) -> tuple[str, _Traits]:
    tag = packet.vlan_tag
    if packet.is_cnp:
        vid = None if tag is None else tag & _VID
        return "CNP", _Traits(None, packet.dscp, vid, None)
    tag = None if tag is None else tag & ~_DEI
    if packet.is_response:
        return "response", _Traits(None, packet.dscp, tag, packet.migreq)
    sport = packet.sport if packet.transport_class in _CONNECTED else None
    return "request", _Traits(sport, packet.dscp, tag, packet.migreq)


def _shown(value: int | None) -> str:
    return "none" if value is None else str(value)
