# SPDX-License-Identifier: BSD-2-Clause
"""Captures of stock RDMA tools talking through Soft-RoCE: two machines, and a cable that we own.

with Bench.start() as bench:
    bench.capture(scenario, path)

One thread carries frames and listens to both shells; between captures frames
wait in the sockets.
"""

import select
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from roceproof.conformance.capture.pcapng_writer import write_pcapng
from roceproof.conformance.interop.stock.cable import Wire
from roceproof.conformance.interop.stock.guest import StockGuest, prepare
from roceproof.conformance.interop.stock.scenarios import CLIENT, SERVER, Scenario
from roceproof.rxe_env.errors import PeerDied, RxeError

BOOT_SECONDS = 60.0
TOOL_SECONDS = 60.0
LISTENING = "server is listening"


class ToolFailed(RxeError):
    """A conversation did not come to the planned end; what the tools printed follows."""


@dataclass(frozen=True)
class Outcome:
    """What a conversation left: its capture and what the tools printed."""

    scenario: Scenario
    path: Path
    kernel: str
    frames: int
    lost: int
    printed: dict[str, str]


class Bench:
    """Two machines, "server" and "client", and the wire between them."""

    def __init__(self, guests: dict[str, StockGuest], kernel: str, cleanup: ExitStack) -> None:
        self.kernel = kernel
        self._guests = guests
        self._cleanup = cleanup
        self._wire = Wire({name: guest.port for name, guest in guests.items()})
        self._wait("both machines", BOOT_SECONDS, lambda: all("ready" in s for s in self._said()))

    @classmethod
    def start(cls, *, progress: Callable[[str], None] = lambda text: None) -> Self:
        stock = prepare(progress)
        progress(f"booting two machines ({stock.accel})")
        with ExitStack() as stack:
            guests = {}
            for number, name in enumerate((SERVER, CLIENT), 1):
                guests[name] = StockGuest(stock, number)
                stack.callback(guests[name].close)
            bench = cls(guests, stock.kernel.release, stack)
            bench._cleanup = stack.pop_all()
            return bench

    def capture(self, scenario: Scenario, path: Path) -> Outcome:
        """Run a conversation to its end and write what the wire carried to `path`."""
        server, client = self._guests[SERVER], self._guests[CLIENT]
        self._wire.restart(scenario.losses)
        end, tell = ("end_when_told; ", "; tell_end") if scenario.server_hangs else ("", "")
        ready = f"{scenario.until_ready}; echo {LISTENING}; {end}wait $!"
        server.begin(f"{scenario.before}{scenario.server} & {ready}")
        self._wait(
            scenario.server,
            TOOL_SECONDS,
            lambda: LISTENING in server.said or server.code is not None,
        )
        client.begin(f"{scenario.before}{scenario.client}{tell}")
        self._wait(
            scenario.client, TOOL_SECONDS, lambda: client.code is not None is not server.code
        )
        printed = {
            name: guest.said.replace(LISTENING, "").strip() for name, guest in self._guests.items()
        }
        self._demand_plan(scenario, printed)
        comment = self._comment(scenario, printed)
        write_pcapng(path, self._wire.records, comment=comment)
        frames, lost = len(self._wire.records), self._wire.lost
        return Outcome(scenario, path, self.kernel, frames, lost, printed)

    def _demand_plan(self, scenario: Scenario, printed: dict[str, str]) -> None:
        codes = {name: guest.code for name, guest in self._guests.items()}
        missed, planned = self._wire.outstanding, len(scenario.losses)
        broken = ""
        if not all((code == 0) == scenario.succeeds for code in codes.values()):
            broken = f"the tools ended with {codes}"
        elif missed:
            broken = f"{missed} of {planned} losses never came along"
        if broken:
            said = "\n".join(f"{name}: {text}" for name, text in printed.items())
            raise ToolFailed(f"{scenario.name}: {broken}\n{said}")

    def _comment(self, scenario: Scenario, printed: dict[str, str]) -> str:
        lines = [f"Soft-RoCE of Linux {self.kernel}; {scenario.shows}"]
        for name, command in ((SERVER, scenario.server), (CLIENT, scenario.client)):
            lines += [f"{name}: {command}", printed[name]]
        return "\n".join(lines)

    def _said(self) -> list[str]:
        return [guest.said for guest in self._guests.values()]

    def _wait(self, what: str, seconds: float, done: Callable[[], bool]) -> None:
        """Serve wire and shells until `done`."""
        shells = {guest.shell: guest for guest in self._guests.values()}
        ports = {port: name for name, port in self._wire.ports.items()}
        deadline = time.monotonic() + seconds
        while not done():
            left = deadline - time.monotonic()
            ready = select.select([*shells, *ports], [], [], max(0.0, left))[0]
            if not ready:
                tails = "\n".join(g.console_tail() for g in self._guests.values())
                said = "\n".join(self._said())
                raise PeerDied(f"{what}: no end within {seconds:g} s; so far:\n{said}", tails)
            for sock in ready:
                if sock in shells:
                    shells[sock].listen()
                elif not self._wire.carry(ports[sock]):
                    raise PeerDied(f"{what}: the {ports[sock]}'s machine has ended")

    def close(self) -> None:
        self._cleanup.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
