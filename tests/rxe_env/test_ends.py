# SPDX-License-Identifier: BSD-2-Clause
"""However a peer or its owner ends, the other side notices and nothing is left."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from roceproof.rxe_env import PeerDied, SoftRoce
from roceproof.rxe_env.client.channel import AgentChannel
from roceproof.rxe_env.kernel import distribution
from roceproof.rxe_env.vm.machine import TAIL_LINES, Vm, tail
from roceproof.rxe_env.vm.qemu import Machine, agent_port

pytestmark = pytest.mark.rxe

NOTICE_SECONDS = 5.0

OWNER = """
import sys
from roceproof.rxe_env import SoftRoce
with SoftRoce.start(backend="vm") as peer:
    print(peer.link, flush=True)
    sys.stdin.read()
"""


def run_directory(link: str) -> Path:
    return Path(link.removeprefix("socket:")).parent


def qemu_of(link: str) -> int:
    """The QEMU whose console is logged in the run directory of a link."""
    log = f"path={run_directory(link)}/console.log".encode()
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().split(b"\0")
        except OSError:
            continue
        if words[0].endswith(b"qemu-system-x86_64") and any(log in word for word in words):
            return int(path.parent.name)
    raise AssertionError(f"no QEMU for {link}")


def wait_ended(pid: int) -> None:
    try:
        process = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    try:
        assert select.select([process], [], [], NOTICE_SECONDS)[0], "QEMU is still running"
    finally:
        os.close(process)


def wait_gone(pid: int, directory: Path) -> None:
    wait_ended(pid)
    deadline = time.monotonic() + NOTICE_SECONDS
    while directory.exists():
        assert time.monotonic() < deadline, f"{directory} is still there"


def test_a_guest_that_dies_mid_call_is_noticed_at_once_and_leaves_nothing() -> None:
    with SoftRoce.start(backend="vm") as peer:
        directory = run_directory(peer.link)
        cq = peer.call("create_cq", depth=4)["cq"]
        pid = qemu_of(peer.link)
        killer = threading.Timer(0.3, os.kill, (pid, signal.SIGKILL))
        killer.start()
        start = time.monotonic()
        with pytest.raises(PeerDied, match="poll_cq"):
            peer.call("poll_cq", cq=cq, timeout_ms=30000)
        assert time.monotonic() - start < NOTICE_SECONDS
        killer.join()
        with pytest.raises(PeerDied):
            peer.call("hello")
    assert not directory.exists()


def test_a_guest_that_powers_off_is_a_death_with_its_last_words(tmp_path: Path) -> None:
    kept = tmp_path / "console.log"
    with SoftRoce.start(backend="vm", console_log=kept) as peer:
        peer.call("quit")
        with pytest.raises(PeerDied) as caught:
            peer.call("hello")
    assert "the agent ended with status 0" in str(caught.value)
    assert "the agent ended with status 0" in kept.read_text()


def test_a_guest_that_answers_too_late_is_a_death() -> None:
    with SoftRoce.start(backend="vm") as peer:
        cq = peer.call("create_cq", depth=4)["cq"]
        with pytest.raises(PeerDied, match="did not answer 'poll_cq' in time"):
            peer.call("poll_cq", within=0.2, cq=cq, timeout_ms=5000)


@pytest.mark.slow
def test_a_kernel_panic_ends_the_machine_with_the_reason_on_its_console() -> None:
    machine = Machine(distribution.fetch().image, "tcg")
    with Vm(("agent",), lambda fds: [*machine.hardware(), *agent_port(fds["agent"])]) as vm:
        with vm.connect("agent") as stream:
            stream.settimeout(120)
            assert stream.recv(1) == b""
        assert "Kernel panic" in vm.console_tail()


def test_of_a_long_panic_the_reason_is_kept() -> None:
    log = [f"[{number}] so far so good" for number in range(20)]
    log += ["Kernel panic - not syncing: no init", *(f" frame {number}" for number in range(40))]
    told = tail("\n".join(log)).splitlines()
    assert (told[0], len(told)) == ("Kernel panic - not syncing: no init", TAIL_LINES)


def test_of_a_panic_it_is_told_why_and_where_it_came() -> None:
    why, where = (
        "BUG: kernel NULL pointer dereference",
        "RIP: 0010:rxe_mr_copy+0x49/0x1a0 [rdma_rxe]",
    )
    end = "Kernel panic - not syncing: Fatal exception in interrupt"
    log = [
        "WARNING: CPU: 0",
        "RIP: 0010:of_a_warning+0x1",
        why,
        "Call Trace:",
        where,
        "RIP: 0010:of_another_frame+0x1",
        "CR2: 4",
        end,
    ]
    assert tail("\n".join(log)).splitlines() == [why, where, end]


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_nothing_outlives_an_owner_that_is_killed(how: signal.Signals) -> None:
    owner = subprocess.Popen(
        [sys.executable, "-c", OWNER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    with owner:
        assert owner.stdout
        link = owner.stdout.readline().strip()
        pid = qemu_of(link)
        owner.send_signal(how)
        wait_gone(pid, run_directory(link))


def test_qemu_dies_with_its_keeper() -> None:
    with SoftRoce.start(backend="vm") as peer:
        pid = qemu_of(peer.link)
        keeper = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
        process = os.pidfd_open(pid)
        os.kill(keeper, signal.SIGKILL)
        assert select.select([process], [], [], NOTICE_SECONDS)[0]
        os.close(process)
        directory = run_directory(peer.link)
    assert not directory.exists()


def test_a_machine_that_ends_before_it_serves_anyone_is_noticed_at_once() -> None:
    start = time.monotonic()
    with (
        Vm(("agent",), lambda fds: ["sh", "-c", "echo no such machine >&2"]) as vm,
        pytest.raises(PeerDied) as death,
    ):
        agent = vm.connect("agent")
        try:
            AgentChannel(agent.fileno(), agent.fileno()).call("hello", {}, timeout=60)
        except PeerDied as error:
            raise PeerDied(error.reason, vm.console_tail()) from None
    assert time.monotonic() - start < NOTICE_SECONDS
    assert "no such machine" in str(death.value)
