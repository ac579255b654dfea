# SPDX-License-Identifier: BSD-2-Clause
"""Background traffic: broadcasts, LLDP, RoCEv1 and other frames that a RoCE device must ignore."""

from roceproof.conformance.suite.bench import Bench

_SHORTEST = 60


def broadcasts(bench: Bench) -> list[bytes]:
    """Broadcasts, ND, LLDP, RoCEv1 and a jumbo frame."""
    peer, device, draw = bench.peers[0], bench.target.host, bench.random
    arp = bytes.fromhex("0806000108000604000100")
    unknown = [
        b"\xff" * 6 + peer.mac + arp + draw.randbytes(20),
        bytes.fromhex("0180c200000e") + peer.mac + b"\x88\xcc" + draw.randbytes(80),
        bytes.fromhex("333300000001") + peer.mac + b"\x86\xdd" + draw.randbytes(60),
        device.mac + peer.mac + b"\x89\x15" + draw.randbytes(80),
        device.mac + peer.mac + b"\x08\x00" + draw.randbytes(9000),
    ]
    return [frame.ljust(_SHORTEST, b"\0") for frame in unknown]
