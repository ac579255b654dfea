# SPDX-License-Identifier: BSD-2-Clause
"""Two queue pairs of one peer, connected with each other: what the agent's ping and blast take."""

from roceproof.rxe_env.peer import SoftRoce

PATH_MTU = 4096


def two_ends(peer: SoftRoce, service: str, *, memory: int) -> dict[str, int]:
    """Fresh ones with so many bytes each, as the fields of a request."""
    near, far = peer.open_qp(service), peer.open_qp(service)
    for own, other in ((near, far), (far, near)):
        peer.connect(own, remote_ipv4=peer.ipv4, remote_qpn=other.qpn, path_mtu=PATH_MTU, rq_psn=0)
    return {
        "qp": near.handle,
        "mr": peer.reg_mr(memory).handle,
        "far_qp": far.handle,
        "far_mr": peer.reg_mr(memory).handle,
    }
