# SPDX-License-Identifier: BSD-2-Clause
"""The route that Linux chooses for an address; it replaces a queue pair's hop limit."""

from dataclasses import replace

from roceproof.conformance.targets.verbs.memory import Call
from roceproof.conformance.targets.verbs.work import attributes
from roceproof.verbs.queue_pair import QpSpec, State
from roceproof.verbs.service import Service


def hop_limit_towards(spec: QpSpec, sgid_index: int, *, call: Call, pd: int) -> int:
    """The hop limit of all that goes to the spec's remote, asked of a queue pair made for that."""
    probe = replace(spec, service=Service.RC)
    cq = call("create_cq", depth=1)["cq"]
    made = call("create_qp", pd=pd, type="RC", send_cq=cq, recv_cq=cq, max_send_wr=1, max_recv_wr=1)
    for state in (State.INIT, State.RTR):
        call("modify_qp", qp=made["qp"], state=state.value, **attributes(probe, state, sgid_index))
    found = int(call("query_qp", qp=made["qp"])["hop_limit"])
    call("destroy", handle=made["qp"])
    call("destroy", handle=cq)
    return found
