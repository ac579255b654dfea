# SPDX-License-Identifier: BSD-2-Clause
"""``roceproof env``: the background Soft-RoCE peer, for people and for machines."""

from __future__ import annotations

import json
from typing import Any

from roceproof.common.exit_codes import Exit
from roceproof.common.progress import Progress
from roceproof.rxe_env.vm.named import env_down, env_status, env_up


def up(*, kernel: str | None, as_json: bool, quiet: bool) -> None:
    """Start the peer unless it is up, then print its status."""
    with Progress(quiet=quiet) as progress:
        state = env_up(progress.step, kernel=kernel)
    show(state, as_json=as_json)


def down(*, quiet: bool) -> None:
    """End the peer and say whether there was one."""
    ended = env_down()
    if not quiet:
        print("ended" if ended else "was not up")


def status(*, as_json: bool) -> int:
    """Print the peer's status; 0 if it is up, else 1."""
    state = env_status()
    show(state, as_json=as_json)
    return Exit.FINE if state["up"] else Exit.FINDINGS


def show(state: dict[str, Any], *, as_json: bool) -> None:
    """Print a status as JSON or as a line per fact."""
    if as_json:
        print(json.dumps(state))
    elif not state["up"]:
        print("down; start it with: roceproof env up")
    else:
        for fact in ("backend", "accel", "kernel", "ipv4", "mac", "link", "console", "pid"):
            print(f"{fact:8} {state[fact]}")
