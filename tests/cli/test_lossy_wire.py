# SPDX-License-Identifier: BSD-2-Clause
"""A wire that loses as many RoCE frames as it says, the same ones each time, and nothing else."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from roceproof.common.errors import RoceproofError
from roceproof.conformance.capture.reader import read
from roceproof.conformance.wire.codec import parse
from roceproof.lossy_wire import SOCKET, Losses, lossy_wire

CAPTURE = Path(__file__).parents[1] / "captures" / "rxe" / "rping.pcapng.gz"
ROCE = next(record.frame for record in read(CAPTURE) if parse(record.frame) is not None)
OTHER = bytes(60)
COUNT = 500


def carried(folder: Path, frames: list[bytes], *, percent: float, seed: int = 1) -> list[bytes]:
    """What of these arrives at the peer."""
    losses = Losses()
    path = folder / f"peer-{percent}-{seed}"
    path.unlink(missing_ok=True)
    arrived = bytearray()
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen(1)
        with (
            lossy_wire(f"{SOCKET}{path}", percent=percent, seed=seed, losses=losses) as link,
            socket.socket(socket.AF_UNIX) as device,
        ):
            device.connect(link.removeprefix(SOCKET))
            peer, _ = listener.accept()
            with peer:
                device.sendall(b"".join(len(f).to_bytes(4, "big") + f for f in frames))
                device.shutdown(socket.SHUT_WR)
                while data := peer.recv(1 << 16):
                    arrived += data
    assert losses.frames == frames.count(ROCE)
    found = []
    while arrived:
        end = 4 + int.from_bytes(arrived[:4], "big")
        found.append(bytes(arrived[4:end]))
        del arrived[:end]
    assert losses.lost == len(frames) - len(found)
    return found


def test_about_as_many_are_lost_as_it_says_and_the_same_each_time(tmp_path: Path) -> None:
    once = carried(tmp_path, [ROCE] * COUNT, percent=10)
    assert 20 < COUNT - len(once) < 90
    assert len(carried(tmp_path, [ROCE] * COUNT, percent=10)) == len(once)
    assert carried(tmp_path, [ROCE] * COUNT, percent=0) == [ROCE] * COUNT


def test_other_traffic_passes(tmp_path: Path) -> None:
    assert carried(tmp_path, [OTHER] * COUNT, percent=20) == [OTHER] * COUNT


def test_a_link_that_is_no_socket_is_refused() -> None:
    with (
        pytest.raises(RoceproofError, match="--backend vm"),
        lossy_wire("tap:rp0", percent=1, seed=1, losses=Losses()),
    ):
        pass
