# SPDX-License-Identifier: BSD-2-Clause
"""``roceproof interop``: its table, its exit codes, and real tools in a real guest."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from click.testing import CliRunner

from roceproof.cli.console.main import cli
from roceproof.common.paths import READS_DUT, REFERENCE_DUT, REPOSITORY, RESPONDER_DUT
from roceproof.conformance.capture.pcapng_writer import write_pcapng
from roceproof.conformance.capture.reader import Flow, read
from roceproof.conformance.interop import run as interop_command
from roceproof.conformance.interop.conversation import Outcome
from roceproof.conformance.interop.peers import Peer, hdl_peer, model_peer
from roceproof.conformance.interop.scenarios import BEYOND, SCENARIOS, Scenario
from roceproof.conformance.targets.interface import TargetError
from roceproof.rxe_env.errors import PeerDied
from roceproof.verbs.service import Service
from roceproof.verbs.work import Op

STORED = REPOSITORY / "tests/captures/rxe/rc_pingpong.pcapng.gz"
ICRC_BYTE = -3
PEERS = ["model", "hdl"]


class Played:
    """A guest in which every tool leaves a stored conversation, and ends as is wanted."""

    trouble = ""
    damaged: Flow | None = None
    """Whose last frame is."""
    is_beyond = False
    death: Exception | None = None
    started = 0
    is_open = True

    @classmethod
    def start(cls, progress: Any, *, kernel: str | None) -> Played:
        cls.started += 1
        return cls()

    def close(self) -> None:
        self.is_open = False

    def converse(self, scenario: Scenario, peer: Peer, capture: Path, *, seed: int) -> Outcome:
        assert self.is_open
        if self.death is not None:
            death, type(self).death = self.death, None
            raise death
        records = list(read(STORED))
        if self.damaged is not None:
            last = records[-1]
            frame = bytearray(last.frame)
            frame[ICRC_BYTE] ^= 1
            records[-1] = last._replace(frame=bytes(frame), flow=self.damaged)
        write_pcapng(capture, records)
        return Outcome(capture, self.trouble, self.is_beyond, "what it printed", len(records))


@pytest.fixture
def played(monkeypatch: pytest.MonkeyPatch) -> type[Played]:
    monkeypatch.setattr(interop_command, "Client", type("Now", (Played,), {}))
    found: type[Played] = interop_command.Client  # type: ignore[assignment]
    return found


class Told(NamedTuple):
    tool: str
    peer: str
    result: str
    why: str


def page() -> list[Told]:
    """What docs/interop.md says of each tool and peer."""
    text = (REPOSITORY / "docs/interop.md").read_text()
    reasons: dict[tuple[str, str], str] = {}
    for names, why in re.findall(r"^\* (.+?): (.+)$", text, re.M):
        tools = names.split(", ")
        peers = [tools.pop()] if tools[-1] in PEERS else PEERS
        reasons |= {(tool, peer): why for tool in tools for peer in peers}
    rows = re.findall(r"^\| (.+) \| (passed|cannot) \| (passed|cannot) \|$", text, re.M)
    told = [
        Told(tool, peer, result, "" if result == "passed" else reasons.pop((tool, peer)))
        for tools, *results in rows
        for tool in tools.split(", ")
        for peer, result in zip(PEERS, results, strict=True)
    ]
    assert not reasons
    return sorted(told)


def ask(tmp_path: Path, *words: str) -> tuple[int, str, list[dict[str, Any]]]:
    run = CliRunner().invoke(cli, ["interop", "-q", "--out", str(tmp_path), *words])
    results = tmp_path / "interop.json"
    cells = json.loads(results.read_text())["conversations"] if results.exists() else []
    return run.exit_code, run.output + str(run.exception or ""), cells


def test_a_table_of_what_passed_and_why_the_rest_cannot(tmp_path: Path, played: Any) -> None:
    code, text, cells = ask(tmp_path, "--peer", "model")
    assert code == 0
    results = {(cell["tool"], cell["result"]) for cell in cells}
    assert results == {(each.name, "passed") for each in SCENARIOS} | {
        (name, "cannot") for name in BEYOND
    }
    for name, why in BEYOND.items():
        assert f"{name}, model: cannot: {why}" in text
    assert all((tmp_path / c["capture"]).exists() for c in cells if c["result"] == "passed")


def test_the_page_says_of_each_tool_and_peer_what_the_command_does() -> None:
    claimed = [
        Told(each.name, peer.name, "cannot" if lack else "passed", lack)
        for each in SCENARIOS
        for peer in (model_peer(), hdl_peer(RESPONDER_DUT))
        for lack in (peer.lack(each),)
    ]
    beyond = [Told(name, peer, "cannot", why) for name, why in BEYOND.items() for peer in PEERS]
    assert page() == sorted(claimed + beyond)


def test_a_tool_that_fails_is_told_with_what_it_said(tmp_path: Path, played: Any) -> None:
    played.trouble = "the tool ended with 1"
    code, text, _ = ask(tmp_path, "--peer", "model", "ibv_rc")
    assert code == 1
    assert "ibv_rc_pingpong, model: failed: the tool ended with 1\nwhat it printed" in text


def test_a_capture_that_breaks_a_rule_is_a_failure(tmp_path: Path, played: Any) -> None:
    played.damaged = Flow.OUTBOUND
    code, text, (cell,) = ask(tmp_path, "--peer", "model", "ibv_rc")
    assert code == 1 and "of the device's host breaks ICRC-0" in text
    assert cell["result"] == "failed" and cell["why"].startswith("frame ")


def test_a_frame_of_the_kernel_that_breaks_a_rule_is_a_remark(tmp_path: Path, played: Any) -> None:
    played.damaged = Flow.INBOUND
    code, text, (cell,) = ask(tmp_path, "--peer", "model", "ibv_rc")
    assert (code, cell["result"], cell["why"]) == (0, "passed", "")
    assert "of the tool's host breaks ICRC-0" in cell["remark"]
    assert f"ibv_rc_pingpong, model: remark: {cell['remark']}" in text


def test_a_tool_that_kills_the_guest_has_failed_and_the_next_has_another(
    tmp_path: Path, played: Any
) -> None:
    played.death = PeerDied("a panic")
    code, text, cells = ask(tmp_path, "--peer", "model", "ibv_rc", "ibv_uc")
    assert (code, played.started) == (1, 2)
    assert [cell["result"] for cell in cells] == ["failed", "passed"]
    assert "ibv_rc_pingpong, model: failed: a panic" in text


def test_a_device_that_is_not_made_for_it_fails_nothing(tmp_path: Path, played: Any) -> None:
    played.trouble, played.is_beyond = "it has no region of so many bytes", True
    code, text, (cell,) = ask(tmp_path, "--peer", "model", "ibv_rc")
    assert (code, cell["result"]) == (0, "cannot")
    assert "ibv_rc_pingpong, model: cannot: it has no region of so many bytes" in text


def test_a_tool_that_is_not_there_is_a_usage_error(tmp_path: Path, played: Any) -> None:
    for words in (["iperf"], ["ibv_rc", "iperf"]):
        code, text, _ = ask(tmp_path, *words)
        assert code != 0 and "no tool begins with iperf; there are ibv_rc_pingpong" in text


@pytest.mark.parametrize("words", [("--dut", "any.toml"), ("--width", "64")])
def test_the_model_has_no_manifest(tmp_path: Path, played: Any, words: tuple[str, str]) -> None:
    code, text, _ = ask(tmp_path, "--peer", "model", *words)
    assert (code, played.started) == (2, 0)
    assert "--dut and --width are for --peer hdl" in text


def test_a_run_that_breaks_off_leaves_no_results_of_one_before(tmp_path: Path, played: Any) -> None:
    assert ask(tmp_path, "--peer", "model", "ibv_rc")[0] == 0
    played.death = TargetError("no simulation")
    code, _, cells = ask(tmp_path, "--peer", "model", "ibv_rc")
    assert code != 0 and cells == []


def test_a_run_that_is_interrupted_keeps_what_it_has_found(tmp_path: Path, played: Any) -> None:
    hold = played.converse

    def converse(self: Played, scenario: Scenario, *args: Any, **kwargs: Any) -> Outcome:
        if scenario.name == "ibv_uc_pingpong":
            raise KeyboardInterrupt
        outcome: Outcome = hold(self, scenario, *args, **kwargs)
        return outcome

    played.converse = converse
    code, text, cells = ask(tmp_path, "--peer", "model")
    assert code != 0 and "ibv_rc_pingpong" in text
    assert [(cell["tool"], cell["result"]) for cell in cells] == [("ibv_rc_pingpong", "passed")]
    assert json.loads((tmp_path / "interop.json").read_text())["interrupted"] is True
    played.converse = hold
    assert ask(tmp_path, "--peer", "model")[0] == 0
    assert json.loads((tmp_path / "interop.json").read_text())["interrupted"] is False


def test_what_a_device_is_not_made_for_is_said() -> None:
    by_name = {each.name: each for each in SCENARIOS}
    echo, reads = by_name["ibv_ud_pingpong"], by_name["ib_read_bw"]
    assert model_peer().lack(echo) == ""
    ours = hdl_peer(RESPONDER_DUT)
    assert ours.lack(echo) == ours.lack(reads) == ""
    less = Peer(ours.name, ours.factory, {Service.RC: [Op.SEND]})
    assert less.lack(echo) == "the device sends no SEND on UD by itself"
    many = replace(reads, qps=1000)
    assert ours.lack(many) == "the device has 16 queue pairs, not 1000"
    transmitter = hdl_peer(REFERENCE_DUT)
    assert transmitter.lack(reads) == "the device executes nothing"


@pytest.mark.rxe
@pytest.mark.slow
def test_a_pingpong_of_the_guest_talks_to_the_model(tmp_path: Path, console: Any) -> None:
    run = console.run("interop", "--peer", "model", "ibv_rc", "--out", str(tmp_path))
    assert run.returncode == 0, run.stdout + run.stderr
    frames = list(read(tmp_path / "ibv_rc_pingpong-model.pcapng"))
    assert len(frames) > 50


@pytest.mark.rxe
@pytest.mark.sim
@pytest.mark.slow
def test_every_tool_talks_to_the_model_and_to_our_hardware(tmp_path: Path, console: Any) -> None:
    run = console.run("interop", "--out", str(tmp_path), timeout=900)
    assert run.returncode == 0, run.stdout + run.stderr
    cells = json.loads((tmp_path / "interop.json").read_text())["conversations"]
    assert sorted(Told(c["tool"], c["peer"], c["result"], c["why"]) for c in cells) == page()


@pytest.mark.rxe
@pytest.mark.sim
@pytest.mark.slow
def test_our_hardware_reads_from_a_kernel(tmp_path: Path, console: Any) -> None:
    words = ("--peer", "hdl", "--dut", str(READS_DUT), "rping", "--out", str(tmp_path))
    run = console.run("interop", *words, timeout=900)
    assert run.returncode == 0, run.stdout + run.stderr
    cells = json.loads((tmp_path / "interop.json").read_text())["conversations"]
    assert [(cell["tool"], cell["result"]) for cell in cells] == [("rping", "passed")]


@pytest.mark.rxe
@pytest.mark.sim
@pytest.mark.slow
def test_a_small_device_is_asked_for_what_it_is_made_for(tmp_path: Path, console: Any) -> None:
    small = str(REPOSITORY / "examples/byte_endpoint/dut.toml")
    run = console.run("interop", "--peer", "hdl", "--dut", small, "--out", str(tmp_path))
    assert run.returncode == 0, run.stdout + run.stderr
    cells = json.loads((tmp_path / "interop.json").read_text())["conversations"]
    passed = {cell["tool"] for cell in cells if cell["result"] == "passed"}
    assert passed == {
        "ibv_rc_pingpong",
        "ib_send_bw",
        "ib_send_bw -b",
        "ib_send_lat",
        "ib_write_lat",
    }
