# SPDX-License-Identifier: BSD-2-Clause
"""A program for a machine whose own kernel has rdma_rxe: one message through the native back end.

Prints a line per step; the last one is "left: " and what the back end left behind.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import tiny_peer as tp

from roceproof.rxe_env import SoftRoce


def devices() -> set[str]:
    return {
        path.name for place in ("net", "infiniband") for path in Path("/sys/class", place).glob("*")
    }


def main() -> None:
    before = devices()
    with (
        SoftRoce.start(backend="native", progress=print) as peer,
        tp.TinyPeer(tp.TapPort(peer.link)) as tiny,
    ):
        print("peer:", peer.backend, peer.accel, peer.kernel)
        region = peer.reg_mr(4096)
        qp = peer.open_qp("RC")
        peer.connect(qp, remote_ipv4="10.77.0.1", remote_qpn=0x99, path_mtu=4096, rq_psn=7)
        peer.post_recv(qp, region, wr_id=1, length=100)
        mac = bytes.fromhex(peer.mac.replace(":", ""))
        tiny.send(tp.roce(mac, tp.RC_SEND_ONLY, qp.qpn, 7, payload=b"native", ack_request=True))
        print("completion:", peer.poll(qp)[0].status)
        print("memory:", peer.read(region, length=6).decode())
        print("acknowledged:", tiny.expect(tp.ETH_IPV4)[42] == tp.RC_ACKNOWLEDGE)
    print("left:", sorted(devices() - before))


if __name__ == "__main__":
    main()
