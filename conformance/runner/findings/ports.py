# SPDX-License-Identifier: BSD-2-Clause
"""Which ports of the contract to look at, by what came of them."""

import re
from collections.abc import Collection

from roceproof.conformance.suite.reporting.failure_heads import completed_again

_OF_A_NAK = {
    "0x60": "rq_psn of qpc_i",
    "0x61": "path_mtu and service of qpc_i",
    "0x62": "keys, va, length and access of {regions}, and access of qpc_i",
    "0x63": "address, length and lkey of rcv_i, or memory",
}
_NO_RECEIVE, _RECEIVES = re.compile(r"syndrome: want ACK, got 0x[23]\w"), "rcv"
_REFUSED = re.compile(r"syndrome: want ACK, got (0x\w+)")
_TAKEN = re.compile(
    r"syndrome: want 0x62, got (?:ACK|0x[01]\w)\b|want +NAK [^;]*syndrome=0x62[^;]*; *got +ACK"
)
_REGION = "reg"
_OF_KEYS = "RETH-06"
_TELLS = {"receive": "rcp", "work": "cpl"}
OF_WORK = {
    "loc_qp_op_err": "local_qpn, command and service of qpc_i, qpn and operation of wr_i",
    "loc_len_err": "length of wr_i",
}
"""Where work is refused with this status."""
LANES = "look at rx_tkeep_i, rx_tlast_i, rx_tuser_i and the lanes of rx_tdata_i"
DEAF = f"frames are taken and nothing comes of them, no ACK and no ARP is heard: {LANES}"


def of_a_refusal(words: str, streams: Collection[str]) -> str:
    """Where a good request gets a NAK, of a device with these streams; empty where it does not."""
    if _RECEIVES in streams and _NO_RECEIVE.search(words):
        return "look at rcv_valid_i, and qpn and srq of rcv_i"
    regions = "mr_i" if _REGION in streams else "[[region]] of the manifest"
    refused = _REFUSED.search(words)
    where = _OF_A_NAK.get(refused[1]) if refused else None
    return f"look at {where.format(regions=regions)}" if where else ""


def of_a_foreign_key(rule: str, words: str, streams: Collection[str]) -> str:
    """What a device with built-in keys may have, that takes a key of none of them."""
    if rule != _OF_KEYS or _REGION in streams or not _TAKEN.search(words):
        return ""
    return "or has the core a key that no [[region]] lists, which counts as foreign?"


def of_a_repeat(words: str) -> str:
    """Where what is told once is told again."""
    again = completed_again(words)
    return "look at {0}_valid_o and {0}_ready_i".format(_TELLS[again]) if again else ""
