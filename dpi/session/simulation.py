# SPDX-License-Identifier: BSD-2-Clause
"""A running simulation, driven from Python over its control channel.

In lockstep (the default) nothing moves but during `run`, and nothing depends on the wall clock.
Free-running, the simulation goes on by itself and `wait` watches it.
"""

import contextlib
import select
import socket
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self, TypeVar

from roceproof.common.cpu_wait import ran_ns
from roceproof.common.interruption import interruptions_held
from roceproof.dpi.compile.cache import Build, build_simulation, discard
from roceproof.dpi.contract.connection_records import ConnectionEvent
from roceproof.dpi.contract.receive_records import ReceiveCompletion
from roceproof.dpi.contract.records import BREACH, Completion, RecordError
from roceproof.dpi.manifest.dut import Manifest
from roceproof.dpi.session import wire
from roceproof.dpi.session.events import (
    Frame,
    Inbound,
    Statistics,
    Stop,
    Taken,
    TimedCompletion,
    TimedReceive,
    Until,
)
from roceproof.dpi.session.options import PortOptions, SessionOptions
from roceproof.dpi.session.port import Port
from roceproof.dpi.session.process import (
    END_SECONDS,
    Disturbed,
    SimulationError,
    SimulationTimeout,
    SimulatorProcess,
    Unstartable,
)
from roceproof.dpi.session.wave_groups import write_groups
from roceproof.dpi.session.wire import MessageType

START_SECONDS = 30.0
RUN_SECONDS = 300.0
QUERY_SECONDS = 30.0
READ_SIZE = 1 << 20
_LOOK_SECONDS = 0.25

R = TypeVar("R")


class Peeked(NamedTuple):
    """Bytes of the memory behind a port."""

    port: int
    address: int
    data: bytes


class Simulation:
    """A simulation process. Use `start`, best in a with statement."""

    def __init__(
        self, process: SimulatorProcess, *, ports: int, clock_ps: int, free_running: bool = False
    ):
        self.process = process
        self._clock_ps = clock_ps
        self._free_running = free_running
        self._outbox = bytearray()
        self._inbox = wire.Inbox()
        self._ports = tuple(Port(index, self.send) for index in range(ports))
        self._stop: Stop | None = None
        self._statistics: Statistics | None = None
        self._closed = False
        self._complaint = ""
        self.peeked: Peeked | None = None
        """What was read last, if nothing has run since."""

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
        coverage: Path | None = None,
        command: str | None = None,
        log: Path | None = None,
        build: Build | None = None,
        build_root: Path | None = None,
        pass_fds: Sequence[int] = (),
        netns: str | None = None,
        plusargs: Sequence[str] = (),
    ) -> Self:
        """Start `build`, or whatever the sources make now, which is built first if need be.

        A free-running simulation stands still after `cycles`; `command` is what captures record
        as the way to repeat the run; `pass_fds` are descriptors that `fd:N` links use;
        `coverage` is where Verilator's coverage goes when it ends;
        `plusargs` are the device's own options, without their plus;
        `netns` names the network namespace that holds a `tap:` link's device (entering one needs
        root). The simulation dies with the thread that started it.
        """
        if waves:
            require_writable(waves)
            if waves.is_file():
                write_groups(waves, ports=len(ports), data_width=data_width)
        setup = SessionOptions(
            seed=seed, free_running=free_running, cycles=cycles, command=command
        ).pack(manifest, data_width, ports)
        words = [f"+{argument}" for argument in plusargs]
        if waves:
            words.append(f"+roceproof_waves={waves}")
        if coverage:
            words.append(f"+roceproof_coverage={coverage}")
        built = partial(
            build_simulation,
            manifest,
            data_width=data_width,
            ports=len(ports),
            fst=waves is not None,
            coverage=coverage is not None,
            build_root=build_root,
        )
        launched = partial(
            cls._launched,
            words,
            setup,
            ports=len(ports),
            free_running=free_running,
            log=log,
            pass_fds=pass_fds,
            netns=netns,
        )
        build = build or built()
        try:
            return launched(build)
        except Unstartable as error:
            discard(build, str(error))
            return launched(built())

    @classmethod
    def _launched(
        cls,
        words: Sequence[str],
        setup: bytes,
        build: Build,
        *,
        ports: int,
        free_running: bool,
        log: Path | None,
        pass_fds: Sequence[int],
        netns: str | None,
    ) -> Self:
        process = None
        try:
            with interruptions_held():
                process = SimulatorProcess(
                    build.executable, words, log=log, pass_fds=pass_fds, netns=netns
                )
            self = cls(process, ports=ports, clock_ps=build.clock_ps, free_running=free_running)
            self._outbox += setup
            self.statistics(timeout=START_SECONDS)
        except BaseException as error:
            if process is not None:
                process.kill()
                if not isinstance(error, SimulationError):
                    process.drop_log()
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
        return self.process.pid

    @property
    def log(self) -> Path:
        """The file with all that the simulation prints."""
        return self.process.log

    @property
    def stopped(self) -> Stop | None:
        """Where the last run ended, or a free-running simulation reached its `cycles`."""
        return self._stop

    def port(self, index: int) -> Port:
        """A port by its number, from 0."""
        return self._ports[index]

    def run(
        self, *, cycles: int, until: Until = Until.CYCLES, timeout: float = RUN_SECONDS
    ) -> Stop:
        """Lockstep: advance `cycles`, or less if something of `until` comes first."""
        if cycles < 1:
            raise ValueError(f"run of {cycles} cycles, expected at least 1")
        self._stop = self.peeked = None
        self.send(MessageType.RUN, cycles.to_bytes(8, "little"), bytes((until,)))
        self.wait(lambda: self._stop is not None, timeout=timeout, what=f"a run of {cycles} cycles")
        assert self._stop is not None
        return self._stop

    def run_within(self, seconds: float, *, cycles: int, until: Until = Until.CYCLES) -> Stop:
        """As `run`, and late only when the simulation has had the processor for so many seconds."""
        try:
            return self.run(cycles=cycles, until=until, timeout=seconds)
        except SimulationTimeout as late:
            since, deadline = ran_ns(self.pid), time.monotonic() + RUN_SECONDS
            while self._stop is None:
                if ran_ns(self.pid) - since >= seconds * 1e9 or time.monotonic() > deadline:
                    raise late
                with contextlib.suppress(SimulationTimeout):
                    self.wait(lambda: self._stop is not None, timeout=min(seconds, _LOOK_SECONDS))
            return self._stop

    def wait(self, until: Callable[[], bool], *, timeout: float, what: str = "the device") -> None:
        """Take in what the simulation sends until the condition holds."""
        self._flush()
        deadline = time.monotonic() + timeout
        while not until():
            if not self._readable(deadline):
                raise SimulationTimeout(
                    f"waited {timeout:g} s for {what}; log: {self.log}", log=self.log
                )
            self._receive()

    def statistics(self, *, timeout: float = QUERY_SECONDS) -> Statistics:
        """Ask for the counters. While a lockstep simulation stands still, they do too."""
        self._statistics = None
        self.send(MessageType.QUERY)
        self.wait(lambda: self._statistics is not None, timeout=timeout, what="statistics")
        assert self._statistics is not None
        return self._statistics

    def peek(self, index: int, address: int, length: int) -> bytes:
        """Bytes of the memory behind a port's memory ports, as they are now."""
        port = self._ports[index]
        answers: list[bytes] = []
        port.ask_memory(address, length)

        def has_come() -> bool:
            answers.extend(port.take_memory())
            return bool(answers)

        self.wait(has_come, timeout=QUERY_SECONDS, what="memory")
        self.peeked = Peeked(index, address, answers[0])
        return answers[0]

    def complaint(self) -> str:
        """What the device's own assertions have said first; the end does not tell it again."""
        if not self._complaint and not self._closed:
            self._complaint = self.process.first_error()
        return self._complaint

    def send(self, kind: MessageType, *parts: bytes) -> None:
        """Send one message of docs/bridge.md; the methods of Port do this for you.

        In lockstep nothing happens before the next run or question, with which all of it leaves.
        """
        if self._closed:
            raise SimulationError("the simulation has ended")
        self._outbox += wire.message(kind, *parts)
        if self._free_running:
            self._flush()

    def abandon(self) -> None:
        """End it at once, wherever it is; captures and waves may be cut."""
        if not self._closed:
            self._closed = True
            self.process.kill()
            self.process.drop_log()

    def close(self) -> None:
        """End the simulation and wait for it; its captures are complete then."""
        if self._closed:
            return
        self._closed = True
        try:
            self._close()
        except KeyboardInterrupt:
            self.process.kill()
            self.process.drop_log()
            raise

    def _close(self) -> None:
        control = self.process.control
        deadline = time.monotonic() + END_SECONDS
        with contextlib.suppress(OSError):
            control.sendall(self._outbox + wire.message(MessageType.STOP))
            control.shutdown(socket.SHUT_WR)
            while self._readable(deadline) and control.recv(READ_SIZE):
                pass
        status = self.process.wait()
        if status is None:
            self.process.kill()
            self.process.drop_log()
            raise Disturbed(
                f"the simulation did not end within {END_SECONDS:g} s, though its work was done: "
                "is the machine overloaded?"
            )
        if status != 0 and not self._complaint:
            raise self.process.died()
        self.process.drop_log()

    def _readable(self, deadline: float) -> bool:
        seconds = max(0.0, deadline - time.monotonic())
        return bool(select.select([self.process.control], [], [], seconds)[0])

    def _flush(self) -> None:
        if not self._outbox:
            return
        data, self._outbox = self._outbox, bytearray()
        try:
            self.process.control.sendall(data)
        except (BrokenPipeError, ConnectionResetError):
            self.wait(lambda: False, timeout=END_SECONDS, what="a dying simulation's last words")

    def _receive(self) -> None:
        try:
            data = self.process.control.recv(READ_SIZE)
        except ConnectionResetError:
            data = b""
        if not data:
            self._closed = True
            raise self.process.died()
        self._inbox.feed(data)
        for kind, body in self._inbox.take():
            self._handle(kind, body)

    def _handle(self, kind: MessageType, body: bytes) -> None:
        match kind:
            case MessageType.HELLO:
                version, *_ = wire.HELLO.unpack(body)
                if version != wire.VERSION:
                    raise SimulationError(
                        f"the simulation speaks version {version}, expected {wire.VERSION}"
                    )
            case MessageType.SENT_FRAME:
                index, cycle = wire.SENT_FRAME.unpack_from(body)
                self._ports[index].frames.append(Frame(cycle, body[wire.SENT_FRAME.size :]))
            case MessageType.COMPLETION:
                index, cycle, completion = self._record(body, Completion.unpack)
                self._ports[index].completions.append(TimedCompletion(cycle, completion))
            case MessageType.RECEIVE_COMPLETION:
                index, cycle, received = self._record(body, ReceiveCompletion.unpack)
                self._ports[index].receives.append(TimedReceive(cycle, received))
            case MessageType.CONNECTION:
                index, _, event = self._record(body, ConnectionEvent.unpack)
                self._ports[index].connections.append(event)
            case MessageType.MEMORY:
                self._ports[body[0]].memory.append(body[1:])
            case MessageType.TAKEN:
                index, stream, cycle = wire.TAKEN.unpack(body)
                self._ports[index].taken.append(Taken(cycle, Inbound(stream)))
            case MessageType.STATISTICS:
                self._statistics = Statistics.unpack(body, clock_ps=self._clock_ps)
            case MessageType.STOPPED:
                cycle, reason = wire.STOPPED.unpack(body)
                if reason == wire.REASON_FINISHED:
                    self._closed = True
                    raise self.process.died(f"the device ended the simulation in cycle {cycle}")
                self._stop = Stop(cycle, Until(reason))
            case MessageType.ERROR:
                self._closed = True
                raise self.process.refused(wire.read_text(body))
            case _:
                raise SimulationError(f"unexpected {kind.name} message", log=self.log)

    def _record(self, body: bytes, unpack: Callable[[bytes], R]) -> tuple[int, int, R]:
        """Port and cycle of a record, and the record."""
        index, cycle = wire.COMPLETION.unpack_from(body)
        try:
            return index, cycle, unpack(body[wire.COMPLETION.size :])
        except RecordError as error:
            raise SimulationError(f"{BREACH}: {error}", log=self.log) from error


def require_writable(waves: Path) -> None:
    """Refuse a place where no waves can be written."""
    # The simulator itself would run on without a word.
    try:
        waves.open("ab").close()
    except OSError as error:
        raise SimulationError(f"waves {waves}: {error.strerror}") from None
