# SPDX-License-Identifier: BSD-2-Clause
"""The configuration of the queue pair between `Sender` and the sender of `ack`."""

from __future__ import annotations

from typing import Any

from roceproof.conformance.observer.facts import Facts

START_PSN = 100


def document(**near: Any) -> dict[str, Any]:
    """Both ends; `near` is of what the sender of `ack` sends."""
    row = {
        "service": "RC",
        "address": "192.168.1.2",
        "qpn": 0x11,
        "start_psn": 500,
        "remote_address": "192.168.1.1",
        "remote_qpn": 0x21,
        "remote_start_psn": START_PSN,
        "path_mtu": 256,
    }
    return {"schema": 1, "qps": [row | near]}


def facts(**near: Any) -> Facts:
    return Facts.from_json(document(**near))
