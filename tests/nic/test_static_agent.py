# SPDX-License-Identifier: BSD-2-Clause
"""The agent to copy runs in a root that holds nothing else, and is the same wherever built."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from roceproof.conformance.nic.looking import here, through
from roceproof.conformance.targets.interface import TargetError
from roceproof.conformance.targets.verbs.command_agent import CommandAgent
from roceproof.rxe_env import AgentError
from roceproof.rxe_env.client import agent_build

UNSHARE = ("unshare", "--user", "--map-root-user", "--")


@pytest.fixture(scope="module")
def agent() -> Path:
    return agent_build.build_static_agent()


def said(words: list[str | Path], *requests: dict[str, Any]) -> list[dict[str, Any]]:
    lines = "".join(json.dumps(request) + "\n" for request in requests)
    done = subprocess.run(
        [*words], input=lines, capture_output=True, text=True, check=True, timeout=60
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_it_runs_where_there_is_nothing_else(agent: Path, tmp_path: Path) -> None:
    shutil.copy(agent, tmp_path / "agent")
    if subprocess.run([*UNSHARE, "true"], capture_output=True).returncode:
        pytest.skip("user namespaces do not work here")
    ready, seen, last = said(
        [*UNSHARE, "chroot", tmp_path, "/agent"],
        {"id": 1, "op": "look", "path": "/sys/class"},
        {"id": 2, "op": "quit"},
    )
    assert ready == {"event": "ready", "schema": 1}
    assert seen["exists"] is False
    assert last["ok"]


def test_the_same_sources_make_the_same_bytes(
    agent: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sources = tmp_path / "elsewhere"
    shutil.copytree(agent_build.SOURCE_DIR, sources)
    monkeypatch.setattr(agent_build, "SOURCE_DIR", sources)
    monkeypatch.setenv("ROCEPROOF_CACHE", str(tmp_path / "cache"))
    again = agent_build.build_static_agent()
    assert again != agent
    assert again.read_bytes() == agent.read_bytes()


def test_it_shows_what_the_host_says_of_itself_and_nothing_else(agent: Path) -> None:
    agent_there = CommandAgent([str(agent)], may_lack_device=True)
    try:
        look = through(agent_there)
        place = "/sys/class/net/lo"
        assert look(f"{place}/mtu") == here(f"{place}/mtu")
        assert look("/sys/class/net").names == here("/sys/class/net").names
        assert look("/proc/nosuch") == here("/proc/nosuch")
        for path in (
            *("/etc/passwd", "/proc/../etc/passwd", "/dev/mem", ""),
            *("/proc/self/root/etc/passwd", "/proc/self/root", "/proc/self/exe", "/proc/self/cwd"),
        ):
            with pytest.raises(AgentError, match="'path'"):
                look(path)
    finally:
        agent_there.close()


def test_without_a_device_an_agent_only_serves_who_asks_for_no_device(agent: Path) -> None:
    words = [str(agent), "--device", "nosuch0"]
    there = CommandAgent(words, may_lack_device=True)
    assert there.hello == {}
    assert "no RDMA device" in there.refusal
    there.close()
    with pytest.raises(TargetError, match="no RDMA device"):
        CommandAgent(words)
