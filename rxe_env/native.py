# SPDX-License-Identifier: BSD-2-Clause
"""Soft-RoCE on the host's own kernel: a TAP device and an rxe device of our own, removed after use.

They live in a private network namespace where the kernel's rxe receives there,
else in the caller's.
"""

import os
import secrets
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import IO

from roceproof.rxe_env.client.agent_build import build_agent
from roceproof.rxe_env.client.channel import AgentChannel
from roceproof.rxe_env.commands import run, tool
from roceproof.rxe_env.errors import PeerDied, Unavailable

SCRIPT = Path(__file__).parent / "native.sh"
PEER_IPV4 = "10.77.0.2"
CALLERS_NETNS = "-"
NOT_IN_THIS_NETNS = 3
READY_SECONDS = 60.0
CLOSE_SECONDS = 20.0


def missing() -> str | None:
    """Return why this host cannot run Soft-RoCE natively, or None when it can."""
    if not Path("/sys/module/rdma_rxe").exists():
        try:
            run([tool("modprobe"), "--dry-run", "--quiet", "rdma_rxe"])
        except Unavailable:
            return "this kernel has no rdma_rxe module: use the vm back end"
    if os.geteuid() != 0:
        return "the native back end needs root: use sudo, or the vm back end"
    if not Path("/dev/net/tun").exists():
        return "/dev/net/tun is missing: modprobe tun"
    return None


class NativeBackend:
    """A TAP device that the simulator opens, rxe on it, and the agent beside it."""

    name = "native"
    accel = "none"
    ipv4 = PEER_IPV4

    def __init__(self, progress: Callable[[str], None], *, console_log: Path | None = None) -> None:
        reason = missing()
        if reason:
            raise Unavailable(reason)
        if not Path("/sys/module/rdma_rxe").exists():
            run([tool("modprobe"), "rdma_rxe"])
        agent = build_agent()
        token = secrets.token_hex(3)
        attempt = _Attempt(f"roceproof-{token}", token, agent, console_log)
        self.netns: str | None = attempt.netns
        if attempt.exit_code() == NOT_IN_THIS_NETNS:
            attempt.close()
            progress("this kernel's rxe works in the first network namespace only: using that")
            attempt = _Attempt(CALLERS_NETNS, token, agent, console_log)
            self.netns = None
        self._attempt = attempt
        self.link = f"tap:rp{token}"
        self.channel = attempt.channel

    def console_tail(self) -> str:
        """Return what the script and the agent have complained about."""
        return self._attempt.complaints()

    def held_up_ns(self) -> int:
        """Return nothing: the host's kernel is not a process."""
        return 0

    def close(self) -> None:
        """End the agent; the script then removes what it made."""
        self._attempt.close()


class _Attempt:
    """One run of the script, up to the agent's ready line or the script's end."""

    def __init__(self, netns: str, token: str, agent: Path, console_log: Path | None) -> None:
        self.netns = netns
        self._errors: IO[bytes] = (
            console_log.open("w+b") if console_log else tempfile.TemporaryFile()  # noqa: SIM115
        )
        self._process = subprocess.Popen(
            ["sh", SCRIPT, netns, f"rp{token}", f"rxe{token}", PEER_IPV4, agent],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            start_new_session=True,
        )
        assert self._process.stdin
        assert self._process.stdout
        self.channel = AgentChannel(self._process.stdout.fileno(), self._process.stdin.fileno())

    def exit_code(self) -> int | None:
        """Return the script's exit code, or None once the agent is ready."""
        try:
            self.channel.wait_ready(timeout=READY_SECONDS)
        except PeerDied as error:
            code = self._process.wait(CLOSE_SECONDS)
            if code != NOT_IN_THIS_NETNS:
                raise PeerDied(error.reason, self.complaints()) from None
            return code
        return None

    def complaints(self) -> str:
        self._errors.seek(0)
        return self._errors.read().decode(errors="replace").strip()

    def close(self) -> None:
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.close()
        self._process.wait(CLOSE_SECONDS)
        self._process.stdout.close()
        self._errors.close()
