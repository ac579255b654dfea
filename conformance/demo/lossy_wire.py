# SPDX-License-Identifier: BSD-2-Clause
"""A wire between a peer's socket and a simulation that loses some of the RoCE frames, each way."""

import random
import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from roceproof.common.errors import RoceproofError
from roceproof.conformance.wire.codec import parse

SOCKET = "socket:"
_READ_BYTES = 1 << 16


class Losses:
    """How many RoCE frames came by, and how many of them went no further."""

    def __init__(self) -> None:
        self.frames = self.lost = 0


@contextmanager
def lossy_wire(link: str, *, percent: float, seed: int, losses: Losses) -> Iterator[str]:
    """The link to use instead of `link`, of which so many percent of the frames are lost.

    Frames stand behind their length, 4 bytes, most significant first; other traffic passes.
    """
    if not link.startswith(SOCKET):
        raise RoceproofError(f"frames are lost on sockets only, not on {link}: use --backend vm")
    with ExitStack() as stack:
        folder = stack.enter_context(TemporaryDirectory(prefix="roceproof-"))
        far = stack.enter_context(socket.socket(socket.AF_UNIX))
        far.connect(link.removeprefix(SOCKET))
        listener = stack.enter_context(socket.socket(socket.AF_UNIX))
        listener.bind(str(Path(folder) / "wire"))
        listener.listen(1)
        wire = threading.Thread(target=_wait, args=(listener, far, percent, seed, losses))
        wire.start()
        try:
            yield f"{SOCKET}{folder}/wire"
        finally:
            _shut(listener)  # nobody has come, if it still waits
            wire.join()


def _wait(
    listener: socket.socket, far: socket.socket, percent: float, seed: int, losses: Losses
) -> None:
    """Carry frames both ways, from when the simulation comes until one of the ends is gone."""
    try:
        near, _ = listener.accept()
    except OSError:
        return
    with near:
        back = threading.Thread(
            target=_carry, args=(far, near, random.Random(f"back {seed}"), percent, losses)
        )
        back.start()
        _carry(near, far, random.Random(f"forth {seed}"), percent, losses)
        back.join()


def _carry(
    source: socket.socket, sink: socket.socket, draw: random.Random, percent: float, losses: Losses
) -> None:
    held = bytearray()
    try:
        while data := source.recv(_READ_BYTES):
            held += data
            while len(held) >= 4 and len(held) >= (end := 4 + int.from_bytes(held[:4], "big")):
                frame = bytes(held[:end])
                del held[:end]
                if parse(frame[4:]) is not None:
                    losses.frames += 1
                    if 100 * draw.random() < percent:
                        losses.lost += 1
                        continue
                sink.sendall(frame)
    except OSError:
        pass  # the other end is gone: so is this one
    finally:
        for end_of in (source, sink):
            _shut(end_of)


def _shut(end: socket.socket) -> None:
    try:
        end.shutdown(socket.SHUT_RDWR)
    except OSError:
        return  # already
