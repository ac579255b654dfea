# SPDX-License-Identifier: BSD-2-Clause
"""A guest with the tools, and one conversation after the other with devices that stand for a host.

One thread carries frames and listens to the guest's shell. A simulated device works while there is
something to do; a device of virtual time is given as much of it as has passed while nothing came.
"""

import select
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from roceproof.conformance.capture.pcapng_writer import write_pcapng
from roceproof.conformance.capture.reader import Flow, Record
from roceproof.conformance.interop.peers import Peer
from roceproof.conformance.interop.scenarios import SERVER, Scenario
from roceproof.conformance.interop.station import Station
from roceproof.conformance.interop.stock.cable import READ_BYTES, whole_frames
from roceproof.conformance.interop.stock.guest import StockGuest, prepare
from roceproof.conformance.interop.stopwatch import Stopwatch
from roceproof.conformance.targets.interface import Beyond, CasePlace, TargetError
from roceproof.rxe_env.errors import PeerDied
from roceproof.verbs.addresses import Host, parse_mac

BOOT_SECONDS = 180.0
"""A minute, emulated beside other work."""
TOOL_SECONDS = 60
BUSY_SECONDS = TOOL_SECONDS / 4
"""A host that is busy for so long may itself be why."""
_TIMED_OUT = (124, 143)
IDLE_SECONDS = 0.01
CLIENT_NUMBER = 2
HOST = Host(parse_mac("52:54:00:77:00:01"), bytes(map(int, SERVER.split("."))))


@dataclass(frozen=True)
class Outcome:
    """How a conversation ended: `trouble` is empty where all is well.

    One for which the device is not made, as it says when it is set up, is not held.
    """

    capture: Path
    trouble: str
    is_beyond: bool = False
    said: str = ""
    frames: int = 0


class Client:
    def __init__(self, guest: StockGuest, kernel: str) -> None:
        self.kernel = kernel
        self._guest = guest
        self._half = bytearray()
        self._records: list[Record] = []
        self._serve(lambda: "ready" in guest.said, None, BOOT_SECONDS)

    @classmethod
    def start(cls, progress: Callable[[str], None], *, kernel: str | None = None) -> Self:
        """Boot it, with a kernel named as for the verbs peer."""
        stock = prepare(progress, kernel=kernel)
        progress(f"booting a machine with the tools ({stock.accel})")
        with ExitStack() as stack:
            guest = StockGuest(stock, CLIENT_NUMBER)
            stack.callback(guest.close)
            client = cls(guest, stock.kernel.release)
            stack.pop_all()
            return client

    def converse(self, scenario: Scenario, peer: Peer, capture: Path, *, seed: int) -> Outcome:
        """Run the tool against a fresh device; everything on the wire gets into `capture`."""
        self._records.clear()
        guest = self._guest
        is_begun = False
        try:
            with peer.factory.device(CasePlace(name=scenario.name, seed=seed, host=HOST)) as target:
                try:
                    station = Station(target, scenario)
                except Beyond as error:
                    return Outcome(capture, str(error), is_beyond=True)
                watch = Stopwatch(guest.held_up_ns)
                guest.begin(f"timeout {TOOL_SECONDS} {scenario.command}")
                is_begun = True
                self._serve(lambda: guest.code is not None, station, 2 * TOOL_SECONDS)
                troubles = (_end(guest.code, watch), station.lack())
                trouble = "; ".join(filter(None, troubles))
        except TargetError as error:
            if not is_begun:
                raise
            trouble = str(error)
            self._serve(lambda: guest.code is not None, None, 2 * TOOL_SECONDS)
        finally:
            if is_begun:  # also of a conversation that came to no end, which it explains
                comment = f"Linux {self.kernel}: {scenario.command}\n{guest.said}"
                write_pcapng(capture, self._records, comment=comment)
        said = guest.said.strip()
        return Outcome(capture, trouble, said=said, frames=len(self._records))

    def _serve(self, is_done: Callable[[], bool], station: Station | None, seconds: float) -> None:
        """Serve wire and shell until `is_done`."""
        guest = self._guest
        watch = Stopwatch(guest.held_up_ns)
        while not is_done():
            if watch.is_over(seconds):
                raise PeerDied(f"no end within {seconds:g} s", guest.console_tail())
            ready = select.select([guest.shell, guest.port], [], [], IDLE_SECONDS)[0]
            if guest.shell in ready:
                guest.listen()
            came = self._taken() if guest.port in ready else []
            if station is None:
                continue
            for frame in came:
                self._send(station.take(frame))
            self._send(station.run(is_idle=not came))

    def _taken(self) -> list[bytes]:
        data = self._guest.port.recv(READ_BYTES)
        if not data:
            raise PeerDied("the machine with the tools has ended", self._guest.console_tail())
        self._half += data
        frames = list(whole_frames(self._half))
        self._keep(frames, Flow.INBOUND)
        return frames

    def _send(self, frames: list[bytes]) -> None:
        self._keep(frames, Flow.OUTBOUND)
        for frame in frames:
            self._guest.port.sendall(len(frame).to_bytes(4, "big") + frame)

    def _keep(self, frames: list[bytes], flow: Flow) -> None:
        now = time.time_ns()
        self._records += [Record("wire", now, flow, frame) for frame in frames]

    def close(self) -> None:
        self._guest.close()


def _end(code: int | None, watch: Stopwatch) -> str:
    if code in _TIMED_OUT:
        held_up = watch.held_up_seconds()
        busy = f"; the host was busy for {held_up:.0f} s of it" if held_up > BUSY_SECONDS else ""
        return f"the tool came to no end within {TOOL_SECONDS} s{busy}"
    return f"the tool ended with {code}" if code else ""
