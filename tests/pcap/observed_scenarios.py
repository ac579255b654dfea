# SPDX-License-Identifier: BSD-2-Clause
"""The captures that break rules, as both observers are told of them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "conformance"))

import corrupted_datagrams
import corrupted_headers
import corrupted_links
import corrupted_requests
import corrupted_responses
from healthy_capture import RECEIVER, SENDER
from queue_pair_facts import document
from scenarios import SCENARIOS, Scenario

from roceproof.conformance.rules.table import RULES

REGISTERED = (
    corrupted_datagrams,
    corrupted_headers,
    corrupted_links,
    corrupted_requests,
    corrupted_responses,
)
NEVER_BY_THEMSELVES = {
    *("VLAN-01", "UC-01", "PFC-04"),
    *("ACK-03", "CNP-03", "CNP-04", "CNP-05", "CM-09"),
}
"""What no observer reports: a conforming wire shows it, too, or another rule says it first."""
DECIDED = {rule.id for rule in RULES.values() if rule.observable} - NEVER_BY_THEMSELVES

__all__ = ["DECIDED", "NEVER_BY_THEMSELVES", "REGISTERED", "SCENARIOS", "Scenario", "facts_for"]


def service_of(frames: list[bytes]) -> str:
    """That of the first packet, all of which are untagged IPv4 here."""
    return ("RC", "UC", "", "UD")[frames[0][42] >> 5]


def facts_for(scenario: Scenario, frames: list[bytes]) -> dict[str, Any] | None:
    """The options of the reference checker, as the file that the tool reads."""
    options = scenario.options
    if "ip_mtu" in options:
        return {"schema": 1, "mtu": options["ip_mtu"], "qps": []}
    if "path_mtu" in options:
        ends = {"address": "192.168.1.1", "remote_address": "192.168.1.2"}
        row = {**ends, "qpn": 0x21, "remote_qpn": 0x11, "path_mtu": options["path_mtu"]}
        return {"schema": 1, "qps": [row | {"service": service_of(frames)}]}
    if "facts" in options:
        near = options["facts"].of_flow(RECEIVER, SENDER, 0x21)
        told = {"dscp": near.dscp, "ttl": near.ttl, "min_rnr_timer": near.min_rnr_timer}
        told |= {"credits": near.credits, "service": near.service.name}
        return document(**{name: value for name, value in told.items() if value is not None})
    return None
