# SPDX-License-Identifier: BSD-2-Clause
"""Which ports of the contract to look at, by what came of them."""

from __future__ import annotations

import re

_OF_A_NAK = {
    "0x60": "rq_psn of qpc_i",
    "0x61": "path_mtu and service of qpc_i",
    "0x62": "keys, va, length and access of mr_i, and access of qpc_i",
    "0x63": "address, length and lkey of rcv_i, or memory",
}
_REFUSED = re.compile(r"syndrome: want ACK, got (0x\w+)")
OF_WORK = {
    "loc_qp_op_err": "local_qpn, command and service of qpc_i, qpn and operation of wr_i",
    "loc_len_err": "length of wr_i",
}
"""Where work is refused with this status."""
DEAF = (
    "frames are taken and nothing comes of them, no ACK and no ARP is heard: "
    "look at rx_tkeep_i, rx_tlast_i, rx_tuser_i and the lanes of rx_tdata_i"
)


def of_a_refusal(words: str) -> str:
    """Where a good request gets a NAK; empty where it does not."""
    refused = _REFUSED.search(words)
    where = _OF_A_NAK.get(refused[1]) if refused else None
    return f"look at {where}" if where else ""
