# SPDX-License-Identifier: BSD-2-Clause
"""A running simulation, driven from Python over its control channel.

In lockstep (the default) nothing moves but during `run`, and nothing depends on the wall clock.
Free-running, the simulation goes on by itself and `wait` watches it.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import IntFlag
from pathlib import Path
from types import TracebackType
from typing import Self

from roceproof import __version__
from roceproof.dpi import wire
from roceproof.dpi.build import Build, build_simulation
from roceproof.dpi.manifest import Manifest
from roceproof.dpi.payload import PatternPayload
from roceproof.dpi.records import Completion, QpConfig, WorkRequest, parse_gid, parse_mac
from roceproof.dpi.wire import MessageType

FRAME_MAX = 9216
START_SECONDS = 30.0
CLOSE_SECONDS = 10.0
RUN_SECONDS = 300.0
QUERY_SECONDS = 30.0


class SimulationError(RuntimeError):
    """A simulation failed. `log` is the file with all that it printed."""

    def __init__(self, text: str, *, log: Path | None = None):
        super().__init__(text)
        self.log = log


class SimulationTimeout(SimulationError):
    """The simulation is alive but what was waited for did not come in time."""


class Until(IntFlag):
    """What ends a run before its cycles are over."""

    CYCLES = 0
    FRAME = 1
    COMPLETION = 2


@dataclass(frozen=True, kw_only=True)
class Flow:
    """How often each stream pauses, in percent of the cycles, 0 to 99."""

    tx_stall: int = 0
    rx_gap: int = 0
    payload_gap: int = 0
    qpc_gap: int = 0
    wr_gap: int = 0
    cpl_stall: int = 0

    def pack(self) -> bytes:
        """One byte per stream, in the bridge's order."""
        order = ("rx_gap", "payload_gap", "qpc_gap", "wr_gap", "tx_stall", "cpl_stall")
        for name in order:
            if not 0 <= getattr(self, name) <= 99:
                raise ValueError(f"{name} is {getattr(self, name)} %, expected 0..99")
        return bytes(getattr(self, name) for name in order)


@dataclass(frozen=True, kw_only=True)
class PortOptions:
    """One simulated Ethernet port. Ports with the same capture path share the file."""

    mac: str = "02:00:00:00:00:01"
    ipv4: str = "192.168.1.1"
    link: str = "lockstep"
    capture: Path | None = None
    flow: Flow = field(default_factory=Flow)


@dataclass(frozen=True)
class Stop:
    """Where a run ended, and what ended it: CYCLES, or the events that came."""

    cycle: int
    reason: Until


@dataclass(frozen=True)
class Frame:
    """A frame the device sent; its last beat moved in `cycle`."""

    cycle: int
    data: bytes


@dataclass(frozen=True)
class TimedCompletion:
    """A completion and the cycle in which it was taken."""

    cycle: int
    completion: Completion


@dataclass(frozen=True, kw_only=True)
class PortStatistics:
    """A port's counters; in is towards the device."""

    frames_in: int
    frames_out: int
    bytes_in: int
    bytes_out: int
    discarded_out: int
    dropped_in: int
    dropped_out: int


@dataclass(frozen=True, kw_only=True)
class Statistics:
    """A moment of a simulation."""

    cycle: int
    simulated_seconds: float
    wall_seconds: float
    ports: tuple[PortStatistics, ...]

    @property
    def ratio(self) -> float:
        """Simulated time over wall time."""
        return self.simulated_seconds / self.wall_seconds if self.wall_seconds else 0.0


class Port:
    """One port of a running simulation."""

    def __init__(self, simulation: Simulation, index: int):
        self._simulation = simulation
        self._index = bytes((index,))
        self._flow = Flow()
        self._frames: list[Frame] = []
        self._completions: list[TimedCompletion] = []

    def configure(self, config: QpConfig) -> None:
        """Configure a QP. Work requests posted later wait until the device has taken it.

        A configuration may overtake work requests posted before it: wait for their completions.
        """
        self._simulation._send(MessageType.QPC, self._index, config.pack())

    def post(self, request: WorkRequest, *, payload: bytes | PatternPayload = b"") -> None:
        """Post a work request with its payload, whose length may differ from the request's."""
        pattern = isinstance(payload, PatternPayload)
        length = payload.length if isinstance(payload, PatternPayload) else len(payload)
        seed = payload.seed if isinstance(payload, PatternPayload) else 0
        self._simulation._send(
            MessageType.WORK_REQUEST,
            self._index,
            bytes((pattern,)),
            request.payload_offset.to_bytes(2, "little"),
            length.to_bytes(8, "little"),
            (seed % 2**64).to_bytes(8, "little"),
            request.pack(),
            b"" if isinstance(payload, PatternPayload) else payload,
        )

    def inject(self, frame: bytes, *, discard: bool = False) -> None:
        """Queue a frame for the device to receive; `discard` marks it bad at its end."""
        if not 1 <= len(frame) <= FRAME_MAX:
            raise ValueError(f"frame of {len(frame)} bytes, expected 1..{FRAME_MAX}")
        self._simulation._send(MessageType.FRAME, self._index, bytes((discard,)), frame)

    def flow(self, flow: Flow) -> None:
        """Change the disturbance of the port's streams from now on."""
        self._simulation._send(MessageType.FLOW, self._index, flow.pack())

    def take_frames(self) -> list[Frame]:
        """The frames sent since the last call, in order."""
        taken, self._frames = self._frames, []
        return taken

    def take_completions(self) -> list[TimedCompletion]:
        """The completions since the last call, in order."""
        taken, self._completions = self._completions, []
        return taken


class Simulation:
    """A simulation process. Use `start`, best in a with statement."""

    def __init__(
        self,
        build: Build,
        process: subprocess.Popen[bytes],
        control: socket.socket,
        log: Path,
        ports: int,
        *,
        keep_log: bool,
    ):
        self.build = build
        self.log = log
        self._keep_log = keep_log
        self._process = process
        self._control = control
        self._inbox = wire.Inbox()
        self._ports = tuple(Port(self, index) for index in range(ports))
        self._stop: Stop | None = None
        self._statistics: Statistics | None = None
        self._hello = False
        self._closed = False

    @classmethod
    def start(
        cls,
        manifest: Manifest,
        *,
        data_width: int,
        ports: Sequence[PortOptions],
        seed: int = 1,
        free_running: bool = False,
        cycles: int | None = None,
        waves: Path | None = None,
        command: str | None = None,
        log: Path | None = None,
        build_root: Path | None = None,
        pass_fds: Sequence[int] = (),
    ) -> Self:
        """Build what is needed and start it.

        `cycles` ends a free-running simulation; `command` is what captures record as the way to
        repeat the run; `pass_fds` are descriptors that `fd:N` links use. The process dies with
        the thread that started it.
        """
        build = build_simulation(
            manifest,
            data_width=data_width,
            ports=len(ports),
            fst=waves is not None,
            build_root=build_root,
        )
        messages = _configuration(manifest, data_width, ports, seed, free_running, cycles, command)
        keep_log = log is not None
        if log is None:
            handle, name = tempfile.mkstemp(prefix="roceproof-", suffix=".log")
            os.close(handle)
            log = Path(name)
        host, simulation = socket.socketpair()
        arguments = [str(build.executable), f"+roceproof_control=fd:{simulation.fileno()}"]
        if waves is not None:
            arguments.append(f"+roceproof_waves={waves}")
        with log.open("wb") as out, simulation:
            process = subprocess.Popen(
                arguments,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                pass_fds=(simulation.fileno(), *pass_fds),
                start_new_session=True,
            )
        self = cls(build, process, host, log, len(ports), keep_log=keep_log)
        try:
            self._send_all(messages)
            self._pump(lambda: self._hello, START_SECONDS, "the simulation to start")
            self.statistics()
        except BaseException:
            self._kill()
            raise
        return self

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            self.close()
        except SimulationError:
            if kind is None:
                raise

    @property
    def pid(self) -> int:
        """The process id of the simulation."""
        return self._process.pid

    def port(self, index: int) -> Port:
        """A port by its number, from 0."""
        return self._ports[index]

    def run(
        self, *, cycles: int, until: Until = Until.CYCLES, timeout: float = RUN_SECONDS
    ) -> Stop:
        """Lockstep: advance `cycles`, or less if something of `until` comes first."""
        if cycles < 1:
            raise ValueError(f"run of {cycles} cycles, expected at least 1")
        self._stop = None
        self._send(MessageType.RUN, cycles.to_bytes(8, "little"), bytes((until,)))
        self._pump(lambda: self._stop is not None, timeout, f"a run of {cycles} cycles")
        assert self._stop is not None
        return self._stop

    def wait(self, until: Callable[[], bool], *, timeout: float, what: str = "the device") -> None:
        """Free-running: take in what the simulation sends until the condition holds."""
        self._pump(until, timeout, what)

    def statistics(self, *, timeout: float = QUERY_SECONDS) -> Statistics:
        """Ask for the counters. While a lockstep simulation stands still, they do too."""
        self._statistics = None
        self._send(MessageType.QUERY)
        self._pump(lambda: self._statistics is not None, timeout, "statistics")
        assert self._statistics is not None
        return self._statistics

    @property
    def stopped(self) -> Stop | None:
        """Where a simulation with a limit of cycles has ended."""
        return self._stop

    def close(self) -> None:
        """End the simulation and wait for it; its captures are complete then."""
        if self._closed:
            return
        self._closed = True
        deadline = time.monotonic() + CLOSE_SECONDS
        with contextlib.suppress(OSError):
            self._control.sendall(wire.message(MessageType.STOP))
            self._control.shutdown(socket.SHUT_WR)
            while self._readable(deadline) and self._control.recv(1 << 20):
                pass
        self._control.close()
        try:
            status = self._process.wait(timeout=max(0.1, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            self._kill()
            raise SimulationTimeout(
                f"the simulation did not end within {CLOSE_SECONDS:g} s and was killed; "
                f"log: {self.log}",
                log=self.log,
            ) from None
        if status != 0:
            raise self._failure("")
        self._drop_log()

    def _kill(self) -> None:
        self._closed = True
        self._control.close()
        self._process.kill()
        self._process.wait()

    def _drop_log(self) -> None:
        if not self._keep_log:
            self.log.unlink(missing_ok=True)

    def _readable(self, deadline: float) -> bool:
        wait = max(0.0, deadline - time.monotonic())
        return bool(select.select([self._control], [], [], wait)[0])

    def _send(self, kind: MessageType, *parts: bytes) -> None:
        self._send_all([wire.message(kind, *parts)])

    def _send_all(self, messages: Sequence[bytes]) -> None:
        try:
            for data in messages:
                self._control.sendall(data)
        except (BrokenPipeError, ConnectionResetError):
            self._drain()
            raise self._failure("") from None

    def _pump(self, until: Callable[[], bool], timeout: float, what: str) -> None:
        deadline = time.monotonic() + timeout
        while not until():
            if not self._readable(deadline):
                raise SimulationTimeout(
                    f"waited {timeout:g} s for {what}; log: {self.log}", log=self.log
                )
            self._receive()

    def _receive(self) -> None:
        try:
            data = self._control.recv(1 << 20)
        except ConnectionResetError:
            data = b""
        if not data:
            raise self._failure("")
        self._inbox.feed(data)
        for kind, body in self._inbox.take():
            self._handle(kind, body)

    def _drain(self) -> None:
        """Take in a dying simulation's last words."""
        deadline = time.monotonic() + CLOSE_SECONDS
        with contextlib.suppress(OSError):
            while self._readable(deadline):
                self._receive()

    def _handle(self, kind: MessageType, body: bytes) -> None:
        match kind:
            case MessageType.HELLO:
                version, ports, _, _ = wire.HELLO.unpack(body)
                if version != wire.VERSION or ports != len(self._ports):
                    raise SimulationError(
                        f"the simulation speaks version {version} with {ports} ports, expected "
                        f"{wire.VERSION} with {len(self._ports)}; rebuild it"
                    )
                self._hello = True
            case MessageType.SENT_FRAME:
                index, cycle = wire.SENT_FRAME.unpack_from(body)
                frame = Frame(cycle, body[wire.SENT_FRAME.size :])
                self._ports[index]._frames.append(frame)
            case MessageType.COMPLETION:
                index, cycle = wire.COMPLETION.unpack_from(body)
                completion = Completion.unpack(body[wire.COMPLETION.size :])
                self._ports[index]._completions.append(TimedCompletion(cycle, completion))
            case MessageType.STOPPED:
                cycle, reason = wire.STOPPED.unpack(body)
                if reason == wire.REASON_FINISHED:
                    raise self._failure(f"the device ended the simulation in cycle {cycle}")
                self._stop = Stop(cycle, Until(reason))
            case MessageType.STATISTICS:
                self._statistics = self._read_statistics(body)
            case MessageType.ERROR:
                raise self._failure(body[2:].decode(errors="replace"))
            case _:
                raise SimulationError(f"unexpected {kind.name} message", log=self.log)

    def _read_statistics(self, body: bytes) -> Statistics:
        cycle, wall_ns = wire.STATISTICS.unpack_from(body)
        names = list(PortStatistics.__dataclass_fields__)
        return Statistics(
            cycle=cycle,
            simulated_seconds=cycle * self.build.clock_ps * 1e-12,
            wall_seconds=wall_ns * 1e-9,
            ports=tuple(
                PortStatistics(**dict(zip(names, values, strict=True)))
                for values in wire.PORT_STATISTICS.iter_unpack(body[wire.STATISTICS.size :])
            ),
        )

    def _failure(self, text: str) -> SimulationError:
        """What happened, from the simulation's own words or from how it ended."""
        try:
            status = self._process.wait(timeout=CLOSE_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            status = self._process.wait()
        self._closed = True
        self._control.close()
        killed = status < 0
        end = f"killed by {signal.Signals(-status).name}" if killed else f"exit status {status}"
        words = self.log.read_text(errors="replace").splitlines()[-8:]
        if not text:
            fatal = [line for line in words if "%Error" in line or "%Fatal" in line]
            text = fatal[0] if fatal else "the simulation ended unexpectedly"
        tail = "".join(f"\n  {line}" for line in words)
        return SimulationError(f"{text} ({end}; log: {self.log}){tail}", log=self.log)


def _configuration(
    manifest: Manifest,
    data_width: int,
    ports: Sequence[PortOptions],
    seed: int,
    free_running: bool,
    cycles: int | None,
    command: str | None,
) -> list[bytes]:
    comment = "\n".join(
        (
            f"roceproof {__version__}",
            f"dut {manifest.name}, {data_width} bit, {len(ports)} port(s)",
            f"seed {seed}",
            f"command {command or 'roceproof.dpi.Simulation.start'}",
        )
    )
    messages = [
        wire.message(
            MessageType.SESSION,
            bytes((free_running,)),
            (seed % 2**64).to_bytes(8, "little"),
            (cycles or 0).to_bytes(8, "little"),
            wire.text(comment),
        )
    ]
    for index, port in enumerate(ports):
        messages.append(
            wire.message(
                MessageType.PORT,
                bytes((index,)),
                parse_mac(port.mac),
                parse_gid(port.ipv4),
                port.flow.pack(),
                wire.text(port.link),
                wire.text(str(port.capture.absolute()) if port.capture else ""),
            )
        )
    messages.append(wire.message(MessageType.START))
    return messages
