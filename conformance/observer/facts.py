# SPDX-License-Identifier: BSD-2-Clause
"""What a capture alone cannot show: the configured facts of queue pairs (`--qps FILE`)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from typing import Any

from roceproof.common.document import read_json
from roceproof.common.errors import RoceproofError
from roceproof.common.shape import Word
from roceproof.conformance.observer.psn import PATH_MTUS, PSN_MODULUS
from roceproof.conformance.wire.opcodes import Transport

SCHEMA = 1
_SERVICES = {"RC": Transport.RC, "UC": Transport.UC, "UD": Transport.UD}
_LIMITS = {
    "start_psn": PSN_MODULUS,
    "remote_start_psn": PSN_MODULUS,
    "dscp": 64,
    "ttl": 256,
    "min_rnr_timer": 32,
}
_ROW = {
    "service": frozenset(_SERVICES),
    "address": Word,
    "remote_address": Word,
    "qpn": range(PSN_MODULUS),
    "remote_qpn": range(PSN_MODULUS),
    "path_mtu?": frozenset(PATH_MTUS),
    "credits?": bool,
    **{f"{name}?": range(limit) for name, limit in _LIMITS.items()},
}
_SHAPE = {"schema": frozenset({SCHEMA}), "mtu?": range(1, 1 << 16), "qps": [_ROW]}


class FactsError(RoceproofError):
    """The file cannot be used; the text says which row and why."""


@dataclass(frozen=True, kw_only=True)
class QpFacts:
    """One end of a queue pair. Timer, credits, DSCP and TTL are of what this end sends."""

    service: Transport
    address: bytes
    qpn: int
    remote_address: bytes
    remote_qpn: int
    start_psn: int | None = None
    remote_start_psn: int | None = None
    path_mtu: int | None = None
    dscp: int | None = None
    ttl: int | None = None
    min_rnr_timer: int | None = None
    credits: bool | None = None


@dataclass(frozen=True)
class FlowFacts:
    """What is configured for one direction, gathered from the rows of both ends."""

    service: Transport | None = None
    own_qpn: int | None = None
    start_psn: int | None = None
    path_mtu: int | None = None
    dscp: int | None = None
    ttl: int | None = None
    min_rnr_timer: int | None = None
    credits: bool | None = None
    is_own: bool = False
    """Whether a row tells of the end that sends."""


class Facts:
    """All rows, found by the address pair and QPN of a packet."""

    def __init__(self, rows: Iterable[QpFacts] = (), *, ip_mtu: int | None = None) -> None:
        self.ip_mtu = ip_mtu
        self._sent_by: dict[tuple[bytes, bytes, int], QpFacts] = {}
        self._sent_to: dict[tuple[bytes, bytes, int], QpFacts] = {}
        for row in rows:
            self._sent_by[row.address, row.remote_address, row.remote_qpn] = row
            self._sent_to[row.remote_address, row.address, row.qpn] = row
        keys = [*self._sent_by, *self._sent_to]
        self._ways = {(src, dst) for src, dst, _ in keys} | {(dst, src) for src, dst, _ in keys}
        self._addresses = {address for way in self._ways for address in way}
        self._qpns = {qpn for _, _, qpn in keys}

    def of_flow(self, src: bytes, dst: bytes, dest_qpn: int) -> FlowFacts:
        """What is configured for packets between these addresses to that QPN."""
        near = self._sent_by.get((src, dst, dest_qpn))
        far = self._sent_to.get((src, dst, dest_qpn))
        if near is not None:
            start, mtu = near.start_psn, near.path_mtu
            if far is not None:
                start = far.remote_start_psn if start is None else start
                mtu = far.path_mtu if mtu is None else mtu
            return FlowFacts(
                near.service,
                near.qpn,
                start,
                mtu,
                near.dscp,
                near.ttl,
                near.min_rnr_timer,
                near.credits,
                is_own=True,
            )
        if far is not None:
            return FlowFacts(far.service, far.remote_qpn, far.remote_start_psn, far.path_mtu)
        return FlowFacts()

    def stranger(self, src: bytes, dst: bytes, dest_qpn: int) -> str | None:
        """The rule that a QPN breaks which no row gives to these two addresses."""
        key = (src, dst, dest_qpn)
        if key in self._sent_by or key in self._sent_to:
            return None
        if dest_qpn in self._qpns:
            return "IP-08" if {src, dst} <= self._addresses else None
        return "BTH-10" if (src, dst) in self._ways else None

    @classmethod
    def load(cls, path: Path) -> Facts:
        document = read_json(
            path, _SHAPE, no="is no file of facts", mend="see docs/observer.md, 6", error=FactsError
        )
        try:
            return cls.from_json(document)
        except FactsError as error:
            raise FactsError(f"{path}: {error}") from error

    @classmethod
    def from_json(cls, document: Any) -> Facts:
        if not isinstance(document, dict) or document.get("schema") != SCHEMA:
            raise FactsError(f'no facts: say "schema": {SCHEMA}')
        rows = document.get("qps", [])
        if not isinstance(rows, list):
            raise FactsError('"qps" is no list; give one object per end of a queue pair')
        ip_mtu = document.get("mtu")
        if ip_mtu is not None and not isinstance(ip_mtu, int):
            raise FactsError('"mtu" is no number; give the MTU of the IP layer in bytes')
        return cls((_row(number, row) for number, row in enumerate(rows)), ip_mtu=ip_mtu)


def _row(number: int, row: Any) -> QpFacts:
    try:
        service = _SERVICES[row["service"]]
        ends = [ip_address(row[name]).packed for name in ("address", "remote_address")]
        qpns = [int(row[name]) for name in ("qpn", "remote_qpn")]
        values = {name: row.get(name) for name in _LIMITS}
        path_mtu, credits = row.get("path_mtu"), row.get("credits")
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        needed = "service, address, qpn, remote_address and remote_qpn are needed"
        raise FactsError(f"row {number} of qps is wrong ({error!r}); {needed}") from error
    for name, value in values.items():
        if value is not None and not (isinstance(value, int) and 0 <= value < _LIMITS[name]):
            raise FactsError(f"row {number} of qps: {name} is {value}, not 0..{_LIMITS[name] - 1}")
    if path_mtu not in (None, *PATH_MTUS):
        raise FactsError(f"row {number} of qps: path_mtu is {path_mtu}, not one of {PATH_MTUS}")
    return QpFacts(
        service=service,
        address=ends[0],
        qpn=qpns[0],
        remote_address=ends[1],
        remote_qpn=qpns[1],
        path_mtu=path_mtu,
        credits=credits,
        **values,
    )
