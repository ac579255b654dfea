# SPDX-License-Identifier: BSD-2-Clause
"""Scapy layers for RoCEv2 and RoCEv1: every opcode, every header, the right ICRC.

They extend `scapy.contrib.roce`. Building works once they are imported; Scapy
dissects with them only between `register()` and `unregister()`. Importing them
changes nothing in Scapy beyond what importing `scapy.contrib.roce` does.
"""

from roceproof.conformance.wire.scapy.bth import BTH
from roceproof.conformance.wire.scapy.dissection import dissected
from roceproof.conformance.wire.scapy.edits import corrupted, resealed
from roceproof.conformance.wire.scapy.extensions import (
    AETH,
    DETH,
    FETH,
    IETH,
    RDETH,
    RETH,
    AtomicAckETH,
    AtomicETH,
    CNPReserved,
    ImmDt,
)
from roceproof.conformance.wire.scapy.grh import GRH
from roceproof.conformance.wire.scapy.registration import refresh, register, registered, unregister

__all__ = [
    "AETH",
    "BTH",
    "DETH",
    "FETH",
    "GRH",
    "IETH",
    "RDETH",
    "RETH",
    "AtomicAckETH",
    "AtomicETH",
    "CNPReserved",
    "ImmDt",
    "corrupted",
    "dissected",
    "refresh",
    "register",
    "registered",
    "resealed",
    "unregister",
]
