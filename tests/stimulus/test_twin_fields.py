# SPDX-License-Identifier: BSD-2-Clause
"""Every field of a queue pair's record has its twins, or a reason why not."""

from __future__ import annotations

from roceproof.conformance.cases.test_responder_twins import TWINS
from roceproof.dpi.contract.fields import contract_fields

NAMES = {
    "remote": ("remote_mac", "remote_gid"),
    "domain": ("pd",),
    "completed_messages": ("completed",),
}
APART = {
    "command": "a code",
    "service": "test_responder_crosses",
    "local_qpn": "differs wherever there are two",
    "remote_qpn": "differs wherever there are two",
    "sq_psn": "of a requester",
    "rq_psn": "differs wherever there are two",
    "ip_id": "of a requester",
    "ack_timeout": "of a requester",
    "retry_count": "of a requester",
    "rnr_retry": "of a requester",
    "max_rd_atomic": "of a requester",
    "srq": "test_responder_contract: each shared queue has receives of its own",
}


def test_each_field_has_twins() -> None:
    fields = {
        name for name, field in contract_fields()["qp_config_t"].items() if "reserved" not in name
    }
    paired = {each for name in TWINS for each in NAMES.get(name, (name,))}
    assert not paired & APART.keys()
    assert fields == paired | APART.keys()
