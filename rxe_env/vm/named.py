# SPDX-License-Identifier: BSD-2-Clause
"""env up, down, status: one peer that stays in the background until it is told to go.

Its sockets, log and record lie in one directory; the record says which process
it is, by number and start time, so that no other process is ever taken for it.
"""

import json
import os
import select
import shutil
import signal
import subprocess
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

from roceproof.common.paths import state_dir
from roceproof.rxe_env import cache
from roceproof.rxe_env.client.channel import AgentChannel
from roceproof.rxe_env.errors import PeerDied, Unavailable
from roceproof.rxe_env.kernel import versions
from roceproof.rxe_env.vm import qemu, rundir, saved, vm_backend
from roceproof.rxe_env.vm.qemu import Machine

SOCKETS = ("agent", "net")
START_SECONDS = 30.0
STOP_SECONDS = 5.0
HELLO_SECONDS = 30.0
FACTS = ("pid", "start_time", "backend", "accel", "kernel", "mac", "ipv4", "link", "console")


def env_up(
    progress: Callable[[str], None] = lambda text: None, *, kernel: str | None = None
) -> dict[str, Any]:
    """Start the background peer unless it is up, and return its status.

    One that is up with another kernel than was asked for stays, and is said to be there.
    """
    with cache.locked("env"):
        status = env_status()
        if status["up"]:
            _require_kernel(kernel, status["kernel"], progress)
        else:
            try:
                _start(progress, kernel)
            except BaseException:
                _stop()
                raise
    return env_status()


def env_down() -> bool:
    """End the background peer; return whether there was one."""
    with cache.locked("env"):
        was_up = bool(env_status()["up"])
        _stop()
    return was_up


def env_status() -> dict[str, Any]:
    """Return {"up": bool} and, when up, pid, backend, accel, kernel, mac, ipv4, link, console."""
    record = _record()
    if not record or _start_time(record["pid"]) != record["start_time"]:
        return {"up": False}
    return {"up": True, **record}


def agent_socket() -> Path:
    """Return where the background peer's agent listens."""
    return _home() / "agent.sock"


def _home() -> Path:
    return state_dir() / "env"


def _record() -> dict[str, Any] | None:
    """Return what env_up() wrote; None when it is not there or not whole."""
    try:
        record = json.loads((_home() / "env.json").read_bytes())
        return {fact: record[fact] for fact in FACTS}
    except (OSError, ValueError, TypeError, LookupError):
        return None


def _start_time(pid: int) -> str | None:
    """Return when a process started; None when it is gone or only waits to be reaped."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return None if fields[0] == "Z" else fields[19]


def _require_kernel(kernel: str | None, up: str, progress: Callable[[str], None]) -> None:
    if kernel is not None and versions.find(kernel, progress).release != up:
        raise Unavailable(f"a peer with Linux {up} is up: run `roceproof env down` first")


def _start(progress: Callable[[str], None], kernel: str | None) -> None:
    ready = vm_backend.machine(progress, kernel=kernel)
    record = saved.started(ready, progress, lambda state: _restore(ready, state))
    new = _home() / "env.json.new"
    new.write_text(json.dumps(record, indent=1))
    new.replace(_home() / "env.json")


def _restore(ready: Machine, state: Path) -> dict[str, Any]:
    _stop()  # what does not answer, or an env up that was killed left half done
    home = _home()
    home.mkdir(parents=True, mode=0o700)
    if len(str(agent_socket())) > rundir.MAX_SOCKET_PATH:
        raise Unavailable(f"{home} is too long a path for sockets: set XDG_RUNTIME_DIR")
    with ExitStack() as listeners:
        fds = {
            name: listeners.enter_context(rundir.listen(home / f"{name}.sock")).fileno()
            for name in SOCKETS
        }
        command = [
            *saved.restore_arguments(ready, state, fds),
            *qemu.console(home / qemu.CONSOLE_LOG),
            *("-daemonize", "-pidfile", str(home / "pid")),
        ]
        try:
            done = subprocess.run(
                command,
                pass_fds=list(fds.values()),
                capture_output=True,
                text=True,
                timeout=START_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise PeerDied(f"QEMU did not start within {START_SECONDS:g} s") from None
    if done.returncode:
        raise Unavailable(f"QEMU did not start: {done.stderr.strip()}")
    hello = _hello(home)
    pid = int((home / "pid").read_text())
    return {
        "pid": pid,
        "start_time": _start_time(pid),
        "backend": "vm",
        "accel": ready.accel,
        "kernel": hello["kernel"],
        "mac": hello["mac"],
        "ipv4": ready.ipv4,
        "link": f"socket:{home / 'net.sock'}",
        "console": str(home / qemu.CONSOLE_LOG),
    }


def _hello(home: Path) -> dict[str, Any]:
    with rundir.connect(home / "agent.sock", timeout=HELLO_SECONDS) as agent:
        try:
            channel = AgentChannel(agent.fileno(), agent.fileno())
            return channel.call("hello", {}, timeout=HELLO_SECONDS)
        except PeerDied as error:
            log = home / qemu.CONSOLE_LOG
            raise PeerDied(error.reason, log.read_text() if log.exists() else "") from None


def _stop() -> None:
    with suppress(OSError, ValueError, OverflowError):
        _end(int((_home() / "pid").read_text()))
    _clear()


def _end(pid: int) -> None:
    """End process `pid` if it is the QEMU that was started on our directory."""
    process = os.pidfd_open(pid)
    try:
        command = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
        if str(_home() / "pid").encode() not in command:
            return
        signal.pidfd_send_signal(process, signal.SIGTERM)
        if not select.select([process], [], [], STOP_SECONDS)[0]:
            signal.pidfd_send_signal(process, signal.SIGKILL)
            select.select([process], [], [], STOP_SECONDS)
    finally:
        os.close(process)


def _clear() -> None:
    shutil.rmtree(_home(), ignore_errors=True)
    with suppress(OSError):
        _home().unlink()
