# SPDX-License-Identifier: BSD-2-Clause
"""A wire that loses as many RoCE frames as it says, the same ones each time, and nothing else."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from roceproof.common.errors import RoceproofError
from roceproof.conformance.capture.reader import read
from roceproof.conformance.demo.lossy_wire import SOCKET, Losses, lossy_wire
from roceproof.conformance.wire.codec import parse

CAPTURE = Path(__file__).parents[1] / "captures" / "rxe" / "rping.pcapng.gz"
ROCE = next(record.frame for record in read(CAPTURE) if parse(record.frame) is not None)
OTHER = bytes(60)
COUNT = 500


def numbered() -> list[bytes]:
    """Frames that differ in the address that they come from."""
    return [ROCE[:6] + number.to_bytes(6, "big") + ROCE[12:] for number in range(COUNT)]


def carried(
    folder: Path, frames: list[bytes], *, percent: float, seed: int = 1, back: bool = False
) -> list[bytes]:
    """What of these arrives at the peer, or from there at the device."""
    losses = Losses()
    path = folder / "peer"
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
                source, sink = (peer, device) if back else (device, peer)
                source.sendall(b"".join(len(f).to_bytes(4, "big") + f for f in frames))
                source.shutdown(socket.SHUT_WR)
                while data := sink.recv(1 << 16):
                    arrived += data
    assert losses.frames == sum(parse(frame) is not None for frame in frames)
    found = []
    while arrived:
        end = 4 + int.from_bytes(arrived[:4], "big")
        found.append(bytes(arrived[4:end]))
        del arrived[:end]
    assert losses.lost == len(frames) - len(found)
    return found


@pytest.mark.parametrize("back", [False, True], ids=["forth", "back"])
def test_about_as_many_are_lost_as_it_says_and_the_same_each_time(
    tmp_path: Path, back: bool
) -> None:
    once = carried(tmp_path, numbered(), percent=10, back=back)
    assert 20 < COUNT - len(once) < 90
    assert carried(tmp_path, numbered(), percent=10, back=back) == once
    assert carried(tmp_path, numbered(), percent=10, back=back, seed=2) != once
    assert carried(tmp_path, numbered(), percent=0, back=back) == numbered()


def test_it_ends_at_once_if_nobody_comes(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "peer"))
        listener.listen(1)
        link = f"{SOCKET}{tmp_path / 'peer'}"
        with lossy_wire(link, percent=1, seed=1, losses=Losses()):
            pass


def test_other_traffic_passes(tmp_path: Path) -> None:
    assert carried(tmp_path, [OTHER] * COUNT, percent=20) == [OTHER] * COUNT


def test_a_link_that_is_no_socket_is_refused() -> None:
    with (
        pytest.raises(RoceproofError, match="--backend vm"),
        lossy_wire("tap:rp0", percent=1, seed=1, losses=Losses()),
    ):
        pass
