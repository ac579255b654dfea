# SPDX-License-Identifier: BSD-2-Clause
"""Builds the event model of dpi/event_model with the system's C compiler, and plays networks."""

from __future__ import annotations

import hashlib
import os
import subprocess
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from roceproof.common.children import told_status
from roceproof.common.cluster import cluster_client, cluster_threads
from roceproof.common.errors import RoceproofError
from roceproof.common.lock import locked
from roceproof.common.packages import missing_tools
from roceproof.common.paths import BUILD, REPOSITORY
from roceproof.conformance.scenarios.network import Network, Played

if TYPE_CHECKING:
    from distributed import Future

SOURCES = REPOSITORY / "dpi" / "event_model"
# No product is fused with a sum, so that every machine computes TCP's windows alike.
FLAGS = ("-std=c11", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", "-ffp-contract=off")
OPTIMISED = ("-O2",)
SANITISED = ("-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")


class EventModelError(RoceproofError):
    """It cannot be built, or refuses a network."""


@cache
def event_model(flags: tuple[str, ...] = OPTIMISED) -> Path:
    """The program, built once per content of its sources."""
    if lack := missing_tools(("cc",)):
        raise EventModelError(f"the event model cannot be built: {lack}")
    sources = sorted(SOURCES.glob("*.c"))
    digest = hashlib.sha256(" ".join((*FLAGS, *flags)).encode())
    for path in (*sources, *sorted(SOURCES.glob("*.h"))):
        digest.update(path.read_bytes())
    program = BUILD / "scenarios" / f"event-model-{digest.hexdigest()[:16]}"
    if not program.exists():
        program.parent.mkdir(parents=True, exist_ok=True)
        with locked(program.with_suffix(".lock"), "builds the event model"):
            _compile(sources, program, flags)
    return program


def _compile(sources: list[Path], program: Path, flags: tuple[str, ...]) -> None:
    part = program.with_suffix(f".{os.getpid()}")
    names = [path.name for path in sources]
    command: list[str | Path] = ["cc", *FLAGS, *flags, *names, "-o", part]
    done = subprocess.run(command, cwd=SOURCES, capture_output=True, text=True, check=False)
    if done.returncode:
        reason = next((line for line in done.stderr.splitlines() if "error" in line), "cc failed")
        raise EventModelError(f"the event model cannot be built: {reason}; run: make setup")
    part.replace(program)


def play(network: Network, *, flags: tuple[str, ...] = OPTIMISED) -> Played:
    """Play a network to its end."""
    (played,) = play_all([network], jobs=1, flags=flags)
    return played


def play_all(
    networks: Iterable[Network], *, jobs: int, flags: tuple[str, ...] = OPTIMISED
) -> Iterator[Played]:
    """Play each in a process of its own, so many at once; none is left when nobody wants more."""
    running: deque[subprocess.Popen[str]] = deque()
    try:
        for network in networks:
            if len(running) == jobs:
                yield _end(running)
            running.append(_begin(network, flags))
        while running:
            yield _end(running)
    finally:
        for process in running:
            process.kill()
            process.communicate()


def play_on(cluster: str, networks: Iterable[Network]) -> Iterator[Played]:
    """Play them on the workers of a cluster: of each two at once, so that none has to wait."""
    running: deque[Future[Played]] = deque()
    with cluster_client(cluster) as client:
        most = 2 * cluster_threads(client, cluster)
        for network in networks:
            if len(running) == most:
                yield running.popleft().result()
            running.append(client.submit(play, network, pure=False))
        while running:
            yield running.popleft().result()


def _begin(network: Network, flags: tuple[str, ...]) -> subprocess.Popen[str]:
    pipe = subprocess.PIPE
    process = subprocess.Popen(
        [event_model(flags)], stdin=pipe, stdout=pipe, stderr=pipe, text=True, process_group=0
    )
    assert process.stdin is not None
    with suppress(BrokenPipeError):  # it has refused what it has read so far
        process.stdin.write(network.lines())
        process.stdin.close()
    process.stdin = None
    return process


def _end(running: deque[subprocess.Popen[str]]) -> Played:
    output, errors = running[0].communicate()
    process = running.popleft()
    if process.returncode:
        raise EventModelError(
            errors.strip() or f"the event model {told_status(process.returncode)}"
        )
    told: dict[str, list[dict[str, int]]] = {"run": [], "port": [], "flow": [], "sample": []}
    for line in output.splitlines():
        what, *words = line.split()
        pairs = (word.partition("=") for word in words)
        told[what].append({key: int(value) for key, _, value in pairs})
    samples = [each["bytes"] for each in told["sample"]]
    return Played(told["run"][0]["now"], told["port"], told["flow"], samples)
