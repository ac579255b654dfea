# SPDX-License-Identifier: BSD-2-Clause
"""The background peer: up, used, down, and never mistaken for another process."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
import tiny_peer as tp

from roceproof.rxe_env import PeerDied, SoftRoce, Unavailable, doctor, env_down, env_status, env_up
from roceproof.rxe_env.vm import rundir, vm_backend

pytestmark = pytest.mark.rxe


@pytest.fixture(autouse=True)
def private_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    yield tmp_path / "roceproof" / "env"
    env_down()


def test_nothing_is_up_at_first(private_state: Path) -> None:
    assert env_status() == {"up": False}
    assert not env_down()
    with pytest.raises(Unavailable, match="env up"):
        SoftRoce.attach()


def test_up_twice_is_one_machine_and_down_leaves_nothing(private_state: Path) -> None:
    first = env_up()
    assert first["up"]
    assert env_up() == first
    assert private_state.stat().st_mode & 0o777 == 0o700
    assert env_down()
    assert not private_state.exists()
    assert env_status() == {"up": False}
    assert not env_down()


def test_each_conversation_starts_afresh(private_state: Path) -> None:
    env_up()
    handles = []
    for _ in range(2):
        with SoftRoce.attach() as peer, tp.TinyPeer(tp.SocketPort(peer.link)) as tiny:
            handles.append(peer.reg_mr(64).handle)
            tiny.send(tp.arp(tp.ARP_REQUEST, tp.BROADCAST, bytes(6), tp.PEER_IPV4))
            assert tiny.expect(tp.ETH_ARP)
    assert handles[0] == handles[1]


def test_a_peer_in_use_is_not_taken_from_its_user(
    private_state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vm_backend, "RESTART_SECONDS", 0.5)
    env_up()
    with SoftRoce.attach() as first:
        with pytest.raises(PeerDied, match="another program"):
            SoftRoce.attach()
        assert first.call("hello")["ok"]


def test_half_a_request_left_behind_does_not_hurt_the_next_conversation(
    private_state: Path,
) -> None:
    env_up()
    with rundir.connect(private_state / "agent.sock", timeout=5) as stream:
        stream.sendall(b'{"id":1,"op":"alloc_pd"}\n{"id":2,"op":"allo')
    with SoftRoce.attach() as peer:
        assert peer.call("alloc_pd")["pd"] == 1


def test_a_record_of_another_process_is_not_believed(private_state: Path) -> None:
    private_state.mkdir(parents=True)
    (private_state / "pid").write_text(str(os.getpid()))
    record = {"pid": os.getpid(), "start_time": "1", "link": ""}
    (private_state / "env.json").write_text(json.dumps(record))
    assert env_status() == {"up": False}
    assert not env_down()


def test_doctor_looks_at_the_peer_when_one_is_up(private_state: Path) -> None:
    before = {check.name for check in doctor()}
    env_up()
    peer = {check.name: check for check in doctor() if check.name not in before}
    assert set(peer) == {"peer GID", "peer MTU", "peer port"}
    assert {check.status for check in peer.values()} == {"ok"}
