# SPDX-License-Identifier: BSD-2-Clause
"""The configured facts of queue pairs, as `roceproof check --qps FILE` reads them."""

from collections.abc import Iterable
from ipaddress import ip_address
from typing import Any

from roceproof.conformance.faults.conversation.plan import Connection, End
from roceproof.verbs.service import Service

Facts = dict[str, Any]
_SCHEMA = 1


def facts_of(connections: Iterable[Connection]) -> Facts:
    """One row per end of a queue pair."""
    rows = [_row(made, side) for made in connections for side in (0, 1)]
    return {"schema": _SCHEMA, "qps": rows}


def _row(connection: Connection, side: int) -> dict[str, object]:
    end, peer = connection.ends[side], connection.ends[1 - side]
    row: dict[str, object] = {
        "service": connection.service.name,
        "address": _address(connection, end),
        "qpn": end.qpn,
        "start_psn": end.start_psn,
        "remote_address": _address(connection, peer),
        "remote_qpn": peer.qpn,
        "remote_start_psn": peer.start_psn,
        "path_mtu": connection.path_mtu,
        "dscp": end.dscp,
        "ttl": end.hops,
    }
    if connection.service is Service.RC:
        row["min_rnr_timer"] = end.rnr_timer
        row["credits"] = end.credit_code != 31
    return row


def _address(connection: Connection, end: End) -> str:
    station = end.station
    return str(ip_address(station.ipv6 if connection.ip_version == 6 else station.ipv4))
