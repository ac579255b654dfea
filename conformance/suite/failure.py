# SPDX-License-Identifier: BSD-2-Clause
"""How a case fails: with the rules that the device has broken."""

from __future__ import annotations

from collections.abc import Iterable


class CaseFailed(AssertionError):
    """The device did otherwise than its case says. `rules` are those that the text names."""

    def __init__(self, text: str, *, rules: Iterable[str] = ()) -> None:
        super().__init__(text)
        self.rules = tuple(dict.fromkeys(rules))


FIELD_RULES = {
    "opcode": "OPC-01",
    "psn": "PSN-02",
    "se": "BTH-02",
    "tver": "BTH-04",
    "pkey": "BTH-06",
    "fecn": "BTH-08",
    "becn": "BTH-08",
    "resv6": "BTH-08",
    "resv7": "PSN-19",
    "qpn": "BTH-10",
    "pad": "PAD-01",
    "va": "RETH-01",
    "rkey": "RETH-01",
    "dmalen": "RETH-02",
    "imm": "IMM-02",
    "a": "ACK-02",
    "payload": "RETH-13",
    "src_ip": "IP-08",
    "dst_ip": "IP-08",
    "src_mac": "ETH-05",
    "dst_mac": "ETH-05",
    "tos": "IP-07",
    "ttl": "IP-06",
    "sport": "UDP-04",
    "qkey": "UD-01",
    "src_qpn": "UD-01",
    "vlan": "VLAN-02",
}
"""The rule that a wrong field of a predicted request breaks, whatever the case is about."""
