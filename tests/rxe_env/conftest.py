# SPDX-License-Identifier: BSD-2-Clause
"""A peer per module, and a far end for its link."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import tiny_peer as tp

from roceproof.rxe_env import SoftRoce


@pytest.fixture(scope="module")
def peer() -> Iterator[SoftRoce]:
    with SoftRoce.start(backend="vm") as started:
        yield started


@pytest.fixture
def tiny(peer: SoftRoce) -> Iterator[tp.TinyPeer]:
    with tp.TinyPeer(tp.SocketPort(peer.link)) as far_end:
        yield far_end


@pytest.fixture
def mac(peer: SoftRoce) -> bytes:
    return bytes.fromhex(peer.mac.replace(":", ""))


@pytest.fixture
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = tmp_path / "cache"
    monkeypatch.setenv("ROCEPROOF_CACHE", str(place))
    return place
