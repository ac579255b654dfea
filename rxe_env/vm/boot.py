# SPDX-License-Identifier: BSD-2-Clause
"""Waits for a guest that boots, and says in one line why one does not.

How long it may take is counted in time that the guest had a processor or wanted none, so that
a busy host makes no kernel look as if it hung.
"""

import re
import select
import socket
import time

from roceproof.rxe_env.errors import Unavailable
from roceproof.rxe_env.vm.machine import PANIC, Vm

BOOT_SECONDS = 40.0  # five times what an emulated guest takes on a host with nothing else to do
LONGEST_SECONDS = 600.0
POLL_SECONDS = 0.05
UP = "roceproof-guest: rxe0 is up"
_FAILED = "roceproof-guest: FAILED: "
_STAMP = re.compile(r"^\[ *\d+\.\d+\]\s*")
MEND = "take another one with --kernel"


def wait_until_up(vm: Vm, agent: socket.socket, release: str) -> None:
    """Return when the guest's console says that its rxe device is up.

    `agent` is a connection to the guest, whose end is the guest's.
    """
    start = time.monotonic()
    while True:
        has_ended = _is_at_end(agent)
        said = vm.console()
        if UP in said:
            return
        elapsed = time.monotonic() - start
        is_late = elapsed > LONGEST_SECONDS or elapsed - vm.held_up_ns() / 1e9 > BOOT_SECONDS
        if has_ended or is_late or PANIC in said:
            why = reason_in(vm.console_tail(), hangs=not has_ended)
            raise Unavailable(f"Linux {release} does not boot here: {why}: {MEND}")
        time.sleep(POLL_SECONDS)


def _is_at_end(connection: socket.socket) -> bool:
    if not select.select([connection], [], [], 0)[0]:
        return False
    try:
        return not connection.recv(1, socket.MSG_PEEK)
    except OSError:
        return True


def reason_in(console: str, *, hangs: bool) -> str:
    """What a person would read out of the last lines of the console."""
    lines = [_STAMP.sub("", line).strip() for line in console.splitlines()]
    failed = next((n for n, line in enumerate(lines) if line.startswith(_FAILED)), None)
    if failed is not None:
        before = f" ({lines[failed - 1]})" if failed else ""
        return lines[failed].removeprefix(_FAILED) + before
    panic = next((line for line in lines if PANIC in line), None)
    if panic:
        return panic
    last = f'its last words are "{lines[-1]}"' if lines else "its console says nothing"
    return f"it hangs, {last}" if hangs else f"it ended, {last}"
