# SPDX-License-Identifier: BSD-2-Clause
"""A saved machine that was damaged, or does not come to life, is booted and saved anew."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from damages import DAMAGES

from roceproof.common.checksum_stamp import seal
from roceproof.rxe_env import PeerDied, SoftRoce, env_down, env_up
from roceproof.rxe_env.kernel import distribution
from roceproof.rxe_env.vm import qemu, saved
from roceproof.rxe_env.vm.qemu import Machine

START = "from roceproof.rxe_env import SoftRoce\nSoftRoce.start(backend='vm').close()"


@pytest.fixture
def tries(
    empty_cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> tuple[Machine, list[Path]]:
    """A machine whose saved states are numbers, and how many were made."""
    boots: list[Path] = []

    def save(machine: Machine, state: Path) -> None:
        boots.append(state)
        state.write_text(str(len(boots)))

    monkeypatch.setattr(saved, "boot_and_save", save)
    monkeypatch.setattr(qemu, "version", lambda: "QEMU")
    monkeypatch.setattr(qemu, "tool", lambda name: name)
    return Machine(tmp_path / "k" / "vmlinuz", "tcg", tmp_path / "i" / "initramfs.cpio"), boots


def test_a_state_that_does_not_come_to_life_is_made_anew_once(
    tries: tuple[Machine, list[Path]], capsys: pytest.CaptureFixture[str]
) -> None:
    machine, boots = tries

    def start(state: Path) -> str:
        if state.read_text() == "1":
            raise PeerDied("the peer did not answer 'hello' in time", "a console\nof lines")
        return state.read_text()

    assert saved.started(machine, print, start) == "2"
    assert saved.started(machine, print, start) == "2"
    assert len(boots) == 2
    said = capsys.readouterr().err
    assert said.startswith("roceproof: the saved machine in ")
    assert said.endswith("was damaged (the peer did not answer 'hello' in time); making it anew\n")


def test_a_machine_that_never_comes_to_life_is_told_after_the_second_time(
    tries: tuple[Machine, list[Path]],
) -> None:
    machine, boots = tries

    def start(state: Path) -> None:
        raise PeerDied("gone")

    with pytest.raises(PeerDied, match="gone"):
        saved.started(machine, print, start)
    assert len(boots) == 2


def test_a_state_that_another_process_has_made_anew_is_not_made_again(
    tries: tuple[Machine, list[Path]],
) -> None:
    machine, boots = tries

    def other_first(state: Path) -> str:
        if state.read_text() == "1":
            saved.started(machine, print, only_second)
            raise PeerDied("gone")
        return state.read_text()

    def only_second(state: Path) -> str:
        if state.read_text() == "1":
            raise PeerDied("gone")
        return state.read_text()

    assert saved.started(machine, print, other_first) == "2"
    assert len(boots) == 2


@pytest.fixture
def cache_with_a_kernel(empty_cache: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("ROCEPROOF_CACHE")
    have = distribution.fetch().directory
    monkeypatch.setenv("ROCEPROOF_CACHE", str(empty_cache))
    monkeypatch.setenv("ROCEPROOF_ACCEL", "tcg")
    shutil.copytree(have, empty_cache / "kernel" / have.name)
    return empty_cache


@pytest.fixture
def state(cache_with_a_kernel: Path) -> Path:
    SoftRoce.start(backend="vm").close()
    (file,) = cache_with_a_kernel.glob("state/*/*.zst")
    return file


@pytest.mark.slow
@pytest.mark.rxe
def test_a_peer_starts_from_a_damaged_state(
    state: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for damage in ("cut", "flipped"):
        DAMAGES[damage](state.parent, state)
        SoftRoce.start(backend="vm").close()
        assert f"the saved machine in {state.parent} was damaged (" in capsys.readouterr().err
    # What the seal cannot know: QEMU takes it for no state, or for half of one.
    for damage in ("garbage", "emptied", "halved"):
        if damage == "halved":
            state.write_bytes(state.read_bytes()[: state.stat().st_size // 2])
        else:
            DAMAGES[damage](state.parent, state)
        seal(state.parent)
        SoftRoce.start(backend="vm").close()
        assert f"the saved machine in {state.parent} was damaged (" in capsys.readouterr().err
    SoftRoce.start(backend="vm").close()
    assert capsys.readouterr().err == ""


@pytest.mark.slow
@pytest.mark.rxe
def test_the_background_peer_starts_from_a_damaged_state_and_from_a_damaged_record(
    state: Path, private_state: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    DAMAGES["garbage"](state.parent, state)
    seal(state.parent)
    first = env_up()
    assert first["up"]
    assert "was damaged" in capsys.readouterr().err
    (private_state / "env.json").write_text(json.dumps([first["pid"]]))
    second = env_up()
    assert second["up"] and second["pid"] != first["pid"]
    with pytest.raises(ProcessLookupError):
        os.kill(first["pid"], 0)
    SoftRoce.attach().close()


@pytest.fixture
def private_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    yield tmp_path / "roceproof" / "env"
    env_down()


@pytest.mark.slow
@pytest.mark.rxe
def test_two_peers_that_start_at_once_on_an_empty_cache_boot_once(
    cache_with_a_kernel: Path,
) -> None:
    both = [
        subprocess.Popen([sys.executable, "-c", START], stderr=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    said = [process.communicate(timeout=500)[1] for process in both]
    assert [process.returncode for process in both] == [0, 0], said
    lines = "".join(said).splitlines()
    waiting = "roceproof: waiting for another roceproof that "
    assert lines and all(line.startswith(waiting) for line in lines), said
    assert len(list(cache_with_a_kernel.glob("state/*"))) == 1


@pytest.mark.parametrize("record", [b"", b"\xff", b"[1]", b"{}", b'{"pid": 1}', b"null"])
def test_a_record_of_the_background_peer_that_is_not_whole_means_that_none_is_up(
    record: bytes, private_state: Path
) -> None:
    private_state.mkdir(parents=True)
    (private_state / "env.json").write_bytes(record)
    (private_state / "pid").write_bytes(b"99999999999999999999")
    assert not env_down()
    assert not private_state.exists()
