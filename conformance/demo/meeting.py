# SPDX-License-Identifier: BSD-2-Clause
"""What both demonstrations share: a simulated endpoint and a Soft-RoCE peer on one link."""

import errno
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path

from roceproof.common.progress import Progress
from roceproof.conformance.capture.reader import Flow, read
from roceproof.conformance.demo.lossy_wire import Losses, lossy_wire
from roceproof.conformance.demo.plan import Connection
from roceproof.conformance.demo.report import MessageResult, PeerFacts
from roceproof.conformance.demo.silence import told_silence
from roceproof.conformance.observer.checker import Checker
from roceproof.conformance.rules.findings import Direction, Finding
from roceproof.conformance.rules.table import Severity
from roceproof.dpi import Manifest, PortOptions, Simulation, SimulationError
from roceproof.dpi.compile.cache import build_simulation
from roceproof.rxe_env.errors import AgentError
from roceproof.rxe_env.peer import DUT_IPV4, SoftRoce

ENDPOINT_MAC = "02:00:00:00:00:01"


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """What to demonstrate, and where to leave its capture."""

    dut: Path
    backend: str
    data_width: int
    seed: int
    out: Path
    waves: bool
    short: bool
    command: str
    kernel: str | None = None
    loss: float = 0.0
    """Percent of the RoCE frames, each way."""


@dataclass(kw_only=True)
class Demonstration:
    """What came of it, as far as it got."""

    capture: Path
    facts: PeerFacts | None = None
    results: list[MessageResult] = field(default_factory=list)
    due: int = 0
    frames: int = 0
    findings: list[str] = field(default_factory=list)
    losses: Losses = field(default_factory=Losses)

    @property
    def landed(self) -> int:
        """Messages that are in the receiver's memory as they were sent."""
        return sum(result.ok for result in self.results)

    @property
    def ok(self) -> bool:
        """Whether every message landed and every frame was right."""
        return self.landed == len(self.results) > 0 and not self.findings


@contextmanager
def meeting(
    wanted: Wanted, manifest: Manifest, shown: Demonstration, progress: Progress, *, peer_is: str
) -> Iterator[tuple[Simulation, SoftRoce]]:
    """Both ends, started; what fails since one of them has died is raised as that death.

    When they have ended, every frame of the capture is checked.
    """
    progress.step(f"building the {wanted.data_width}-bit simulation")
    build_simulation(manifest, data_width=wanted.data_width, ports=1, fst=wanted.waves)
    progress.step(f"starting the Soft-RoCE {peer_is}")
    started = SoftRoce.start(backend=wanted.backend, kernel=wanted.kernel, progress=progress.step)
    with started as peer:
        shown.facts = PeerFacts(backend=peer.backend, accel=peer.accel, kernel=peer.kernel)
        with (
            _wire(peer.link, wanted, shown) as link,
            Simulation.start(
                manifest,
                data_width=wanted.data_width,
                ports=[_port(link, shown)],
                seed=wanted.seed,
                free_running=True,
                waves=wanted.out / "waves.fst" if wanted.waves else None,
                log=wanted.out / "simulation.log",
                netns=peer.netns,
                command=wanted.command,
            ) as simulation,
            root_cause(simulation, peer, shown.capture),
        ):
            yield simulation, peer
    progress.step("checking every frame of the capture")
    shown.frames, shown.findings = check_capture(shown.capture)


def send_all(
    connections: Sequence[Connection],
    send: Callable[[Connection], Iterable[MessageResult]],
    shown: Demonstration,
    progress: Progress,
    *,
    doing: str,
) -> None:
    """Send the messages of each connection, and note how they fared."""
    shown.due = sum(len(connection.messages) for connection in connections)
    with progress.bar(doing, total=shown.due, unit="messages") as bar:
        for connection in connections:
            for result in send(connection):
                shown.results.append(result)
                bar.advance()


def _wire(link: str, wanted: Wanted, shown: Demonstration) -> AbstractContextManager[str]:
    if not wanted.loss:
        return nullcontext(link)
    return lossy_wire(link, percent=wanted.loss, seed=wanted.seed, losses=shown.losses)


def _port(link: str, shown: Demonstration) -> PortOptions:
    return PortOptions(mac=ENDPOINT_MAC, ipv4=DUT_IPV4, link=link, capture=shown.capture)


@contextmanager
def root_cause(simulation: Simulation, peer: SoftRoce, capture: Path) -> Iterator[None]:
    """When one side fails because the other has died, raise the death instead.

    Where a peer has heard nothing, what is told says which of its questions had no answer.
    """
    try:
        yield
    except AgentError as error:
        now = simulation.statistics()
        if error.errno != errno.ETIMEDOUT:
            raise
        told = "\n".join([error.text, *told_silence(capture, now)])
        raise AgentError(error.op, told, error.errno) from error
    except SimulationError:
        peer.call("hello")
        raise


def check_capture(path: Path) -> tuple[int, list[str]]:
    """Number of frames in the capture, and every broken MUST rule as a line of text."""
    checker = Checker()
    findings: list[Finding] = []
    for record in read(path):
        direction = Direction.RECEIVED if record.flow is Flow.INBOUND else Direction.SENT
        findings += checker.feed(record.frame, direction)
    findings += checker.finish()
    broken = [finding.message for finding in findings if finding.severity is Severity.MUST]
    return checker.counts.frames, broken
