# SPDX-License-Identifier: BSD-2-Clause
"""A simulated device behind its `dut.toml`: lockstep, deterministic, one simulation per case."""

from collections import defaultdict, deque
from collections.abc import Callable, Sequence
from typing import Protocol

from roceproof.conformance.targets.bus_events import (
    Configured,
    Disturbed,
    Movement,
    Posted,
    Received,
    Watch,
)
from roceproof.conformance.targets.hdl.allowance import Allowance, Pace
from roceproof.conformance.targets.hdl.contract_config import config_of
from roceproof.conformance.targets.hdl.told_end import told_end
from roceproof.conformance.targets.hdl.work import ANSWERED, payload_of, record_of
from roceproof.conformance.targets.interface import (
    RESET_AMID_LIFE,
    Arrival,
    DeviceDied,
    NoEnd,
    Patience,
    Target,
    is_from,
)
from roceproof.conformance.targets.ping import echo_request, is_echo_reply
from roceproof.conformance.targets.records_seen import RecordsSeen
from roceproof.conformance.wire import neighbours
from roceproof.conformance.wire.codec import parse
from roceproof.conformance.wire.framing import frame_check_sequence
from roceproof.conformance.wire.icmp import usually_padded
from roceproof.conformance.wire.mac_control import is_pause_of
from roceproof.dpi.contract.records import QpCommand, QpConfig
from roceproof.dpi.manifest.limits import Environment
from roceproof.dpi.session.events import Frame, Inbound, Until
from roceproof.dpi.session.options import Flow
from roceproof.dpi.session.process import SimulationError, SimulationTimeout
from roceproof.dpi.session.simulation import Simulation
from roceproof.dpi.session.streams import PORTS, Standing, standing, told_streams
from roceproof.verbs.addresses import Host
from roceproof.verbs.limits import ANSWER_CYCLES, QUIET_CYCLES, Limits
from roceproof.verbs.queue_pair import Qp, QpSpec, State
from roceproof.verbs.work import Outcome, Work

_RESET_CYCLES = 8
_START_CYCLES = 200  # a device may clear its contexts after reset
STEP_CYCLES = 20
_SLICE = 5000
"""So many cycles take a simulation milliseconds, unless it stands in one of them for ever."""
_SMALLEST_MTU = 256
_ARP, _IPV4, _ICMP = b"\x08\x06", b"\x08\x00", 1
_IPV6, _ICMPV6 = b"\x86\xdd", 58
_VLAN = b"\x81\x00"


class Packed(Protocol):
    """A record of the contract."""

    def pack(self) -> bytes:
        """Its bytes."""


class HdlTarget(Target):
    """A device in lockstep. Simulated time is the clock, and it moves only in waits."""

    def __init__(
        self,
        simulation: Simulation,
        clock_ps: int,
        *,
        host: Host,
        limits: Limits | None = None,
        environment: Environment | None = None,
        frame_cycles: int = 0,
        pace: Pace | None = None,
        judges_fcs: bool = False,
    ) -> None:
        """`frame_cycles` is what a packet of the smallest path MTU lasts.

        `pace` is what the cases before have seen of the device. The bridge `judges_fcs` where it
        hears XGMII: a frame with another than that of its bytes ends the simulation.
        """
        limits, environment = limits or Limits(), environment or Environment()
        self._fixed = limits.fixed
        self.simulation = simulation
        self._port = simulation.port(0)
        self.clock_ps: int = clock_ps
        self.host = host
        self._frames_taken: list[int] = []
        self._offered: deque[tuple[bool, int]] = deque()
        """Frames that are not taken yet: whether it is an answer, and since when it is there."""
        self._took = 0
        self._cycle = 0
        self._arrivals: deque[Arrival] = deque()
        self._others: deque[bytes] = deque()
        self._outcomes: dict[int, list[Outcome]] = defaultdict(list)
        self._worked: set[int] = set()
        self._commands = 0
        self._new: set[int] = set()
        self._watch: Watch | None = None
        self._records: RecordsSeen | None = None
        self._flow = Flow()
        self._disturbed: set[str] = set()
        self._moved: list[Movement] = []
        claimed = limits.answer_cycles or ANSWER_CYCLES
        self._quiet_cycles = limits.quiet_cycles or QUIET_CYCLES
        self._pace = pace or Pace()
        self._claimed_cycles = claimed
        self._answer_cycles = self._pace.answer_cycles(claimed, self._quiet_cycles)
        self._was_short = self._pace.is_short
        self._in_vain = False
        self._not_taken: list[str] = []
        self._not_taken_at = 0
        self._heard = 0
        self._allowance = Allowance(claimed, is_short=self._was_short)
        self._frame_ns = self._ns(frame_cycles)
        self._wait_for(self._answer_cycles)
        self._judges_fcs = judges_fcs
        self._answers_arp = environment.resolves_addresses
        self._neighbours: dict[bytes, bytes] = {}
        self._run(_START_CYCLES, Until.CYCLES)

    @property
    def now_ns(self) -> int:
        return self._ns(self._cycle)

    def send(self, frame: bytes) -> None:
        self._inject(frame, is_damaged=False)

    def send_marked_early(self, frame: bytes) -> None:
        """On every beat but the last."""
        self._inject(frame, is_damaged=False, is_early=True)

    def send_damaged(self, frame: bytes) -> None:
        """The MAC marks it at its end."""
        self._inject(frame, is_damaged=True)

    def _inject(
        self, frame: bytes, *, is_damaged: bool, is_answer: bool = False, is_early: bool = False
    ) -> None:
        self._await_configuration(frame)
        self._allowance.send(is_answer=is_answer)
        self._port.inject(frame, discard=is_damaged, early=is_early)
        self._offered.append((is_answer, self._cycle))
        if self._watch:
            self._watch.give(Inbound.FRAME, Received(0, frame, is_damaged, self._cycle))

    def receive(self, timeout_ns: int) -> Arrival | None:
        if self._new and timeout_ns and not self._arrivals:
            self._until_configured()  # before, silence says nothing
        begin = self._cycle
        end = begin + self._cycles(timeout_ns)
        while not self._arrivals and self._cycle < end:
            self._run(end - self._cycle, Until.FRAME)
        self._note_wait(begin, end, has_come=bool(self._arrivals))
        return self._arrivals.popleft() if self._arrivals else None

    def _note_wait(self, begin: int, end: int, *, has_come: bool) -> None:
        asked = end - begin
        if not has_come and asked >= self._answer_cycles:
            self._waits_in_vain()
        is_usual = asked <= self._answer_cycles and not self._disturbed
        if has_come and is_usual:  # not behind a timer, for which a case waits longer
            self._pace.longest = max(self._pace.longest, self._cycle - begin)

    def _waits_in_vain(self) -> None:
        self._in_vain = True
        if self._was_short:  # the case is not reached, however long it waits for more
            self._wait_for(self._quiet_cycles)

    def _keeps_waiting(self, what: str, stream: str, cycles: int) -> None:
        said = f"{what} was on offer for {cycles:,} cycles and not taken: {PORTS[stream]} is low"
        if not self._not_taken:
            self._not_taken, self._not_taken_at = [said, *self.streams()], self._cycle

    @property
    def not_taken(self) -> Sequence[str]:
        moved = max((stream.moved for stream in self.standing().values()), default=0)
        return self._not_taken if moved > self._not_taken_at else ()

    def _wait_for(self, answer_cycles: int) -> None:
        """From now on, in this case, what must come has come by then."""
        self._answer_cycles = answer_cycles
        self._usual = Patience(
            self._ns(answer_cycles),
            self._ns(self._quiet_cycles),
            grain_ns=self._frame_ns,  # a MAC may store a frame while the one in front leaves
        )
        self.patience = self._usual

    @property
    def waited_in_vain(self) -> bool:
        """Of what was waited for here; where that was cut short, for frames or for nothing."""
        is_silent = self._cycle - self._heard >= self._answer_cycles
        return self._in_vain or (self._was_short and is_silent)

    @property
    def cut_short(self) -> str:
        if not self._was_short:
            return ""
        return (
            f"something never came in {self._pace.hung} cases before, so {self._answer_cycles:,} "
            "cycles were waited for it here"
        )

    def plays(self, host: Host) -> None:
        """A device that says that it asks for addresses gets them."""
        if self._answers_arp:
            self._neighbours[host.ip] = host.mac

    def wait(self, duration_ns: int) -> None:
        if self._new:
            self._until_configured()
        self._run(max(1, self._cycles(duration_ns)), Until.CYCLES)

    def just_read(self) -> bytes:
        peeked = self.simulation.peeked
        return b"" if peeked is None else peeked.data

    def memory_is_late(self) -> bool:
        """Runs on to see it, if bytes were read in this cycle."""
        peeked = self.simulation.peeked
        if peeked is None:
            return False
        self._run(QUIET_CYCLES, Until.CYCLES)
        return self.simulation.peek(peeked.port, peeked.address, len(peeked.data)) != peeked.data

    def asides(self) -> list[bytes]:
        """What it says of its pad, which may be another than ours, is left to the capture."""
        taken = [usually_padded(frame) for frame in self._others]
        self._others.clear()
        return taken

    def _await_configuration(self, frame: bytes) -> None:
        """A queue pair hears of its peer only when the device has taken its configuration."""
        if self._new and (packet := parse(frame)) is not None and packet.bth.dest_qpn in self._new:
            self._until_configured()

    def _until_configured(self) -> None:
        begin, end = self._cycle, self._cycle + self._answer_cycles
        while self._commands and self._cycle < end:
            self._run(STEP_CYCLES, Until.CYCLES)
        self._note_wait(begin, end, has_come=not self._commands)
        if self._commands:
            self._keeps_waiting("a command for a queue pair", "qpc", end - begin)
        self._new.clear()

    def open(self, spec: QpSpec) -> Qp:
        self._configure(spec, spec.local_qpn)
        return Qp(spec.local_qpn, spec)

    def reopen(self, qp: Qp, spec: QpSpec) -> Qp:
        """Restart a queue pair; what its former life has left behind is dropped.

        A device may take the configuration only when it has sent the message under way.
        """
        self._configure(spec, qp.qpn, command=QpCommand.RESET)
        self._configure(spec, qp.qpn)
        self._until_configured()
        end, before = self._cycle + self._answer_cycles, -1
        while self._cycle < end and (left := self._sent_on(qp)) != before:
            before = left
            self._run(self._quiet_cycles, Until.CYCLES)
        self._outcomes[qp.qpn].clear()
        self._arrivals = deque(a for a in self._arrivals if not is_from(qp, a.frame))
        return Qp(qp.qpn, spec)

    def restart(self, qp: Qp, spec: QpSpec) -> Qp:
        """Configure it again; frames go on meanwhile."""
        self._configure(spec, qp.qpn)
        self._new.discard(qp.qpn)
        return Qp(qp.qpn, spec)

    def _sent_on(self, qp: Qp) -> int:
        return sum(is_from(qp, arrival.frame) for arrival in self._arrivals)

    def set_state(self, qp: Qp, state: State) -> None:
        """RESET is all that the contract knows."""
        if state is not State.RESET:
            raise NotImplementedError
        self._configure(qp.spec, qp.qpn, command=QpCommand.RESET)

    def _configure(
        self, spec: QpSpec, qpn: int, *, command: QpCommand = QpCommand.ACTIVATE
    ) -> None:
        record = self._config(spec, qpn, command)
        self._note_record("qp_config_t", record)
        self._port.configure(record)
        self._commands += 1
        self._new.add(qpn)
        self.plays(spec.remote)
        if self._watch:
            configured = Configured(0, qpn, spec, command.name.lower(), self._cycle)
            self._watch.give(Inbound.CONFIGURATION, configured)

    def _config(self, spec: QpSpec, qpn: int, command: QpCommand) -> QpConfig:
        """What the device is told of a queue pair."""
        return config_of(spec, qpn, command=command)

    def records(self) -> RecordsSeen | None:
        return self._records

    def _note_record(self, name: str, record: Packed | bytes) -> None:
        if self._records:
            self._records.see(name, record if isinstance(record, bytes) else record.pack())

    def _note_taken(self, stream: Inbound) -> None:
        self._commands -= stream is Inbound.CONFIGURATION
        if not self._commands:
            self._new.clear()

    @property
    def commands_waiting(self) -> int:
        """Those that `qpc_ready_o` has not met yet."""
        return self._commands

    def post(self, qp: Qp, work: Work) -> None:
        self._worked.add(qp.qpn)
        self._allowance.ask(1 + work.size // _SMALLEST_MTU)
        record, payload = record_of(qp, work), payload_of(work)
        self._note_record("work_request_t", record)
        if work.op in ANSWERED and isinstance(payload, bytes):
            self._note_record("operands_t", payload)
        self._port.post(record, payload=payload)
        if self._watch:
            self._watch.give(Inbound.WORK_REQUEST, Posted(0, qp.qpn, work, self._cycle))

    def completions(self, qp: Qp, *, count: int, timeout_ns: int) -> list[Outcome]:
        begin = self._cycle
        end = begin + self._cycles(timeout_ns)
        while len(self._outcomes[qp.qpn]) < count and self._cycle < end:
            self._run(end - self._cycle, Until.COMPLETION)
        self._note_wait(begin, end, has_come=len(self._outcomes[qp.qpn]) >= count)
        found, self._outcomes[qp.qpn] = self._outcomes[qp.qpn], []
        return found

    def stray_completions(self) -> list[Outcome]:
        """Of numbers that no work was posted to."""
        return [
            o for qpn, found in self._outcomes.items() if qpn not in self._worked for o in found
        ]

    def complaint(self) -> str:
        return self.simulation.complaint()

    def stand_still(self, duration_ns: int) -> None:
        """All streams at once, as they do when a clock enable falls; then they go on as before."""
        self._disturbed |= vars(Flow()).keys()
        self._port.flow(Flow.none())
        self._run(max(1, self._cycles(duration_ns)), Until.CYCLES)
        self._port.flow(self._flow)

    def power_on(self) -> None:
        """Reset for some cycles, and as much time as at first; streams flow as before.

        What has left till then is forgotten, but no packet that leaves behind the reset.
        """
        self._disturbed.add(RESET_AMID_LIFE)
        self._port.reset(cycles=_RESET_CYCLES)
        released_ns = self._ns(self._cycle + _RESET_CYCLES)
        self._run(_RESET_CYCLES + _START_CYCLES, Until.CYCLES)
        ghosts = [arrival for arrival in self._arrivals if arrival.time_ns > released_ns]
        self._frames_taken += [self._cycle for is_answer, _ in self._offered if not is_answer]
        self._commands = 0
        for kept in (self._offered, self._arrivals, self._others):
            kept.clear()
        for names in (self._outcomes, self._worked, self._new):
            names.clear()
        self._arrivals += ghosts
        if self._watch:
            self._watch.forget()

    def disturb(self, **percent: int) -> None:
        """Stall the streams from now on; nobody knows how long what was stalled once ever took."""
        flow = self._flow = Flow(**percent)
        self._disturbed |= {name for name, often in percent.items() if often}
        self._port.flow(flow)
        waits = flow.tx_stall, flow.memory_stall, flow.memory_gap, flow.memory_lag
        if self._disturbed and not self._in_vain:
            self._wait_for(self._claimed_cycles)
        self.patience = self._usual.while_stalled(*waits, frame_ns=self._frame_ns)
        if self._watch:
            self._watch.change(Disturbed(self._cycle, flow))

    @property
    def disturbed(self) -> frozenset[str]:
        return frozenset(self._disturbed)

    def taken_ns(self) -> list[int]:
        """The cycles of their last beats."""
        return [self._ns(cycle) for cycle in self._frames_taken]

    def untaken(self) -> int:
        """Those that wait for its clock."""
        return len(self._offered)

    def takes_on(self) -> bool:
        if not self._offered:
            return False
        cycles = self._cycles(self.patience.answer_ns)
        if not self._disturbed:
            cycles = self._pace.taken_cycles(cycles, self._quiet_cycles)
        if self._cycle - self._since() < cycles:
            return True
        self._waits_in_vain()
        return False

    def _since(self) -> int:
        """The cycle from which on the first frame on offer has been the first."""
        return max(self._took, self._offered[0][1])

    def watch(self) -> bool:
        self._watch, self._records = Watch(), self._records or RecordsSeen()
        return True

    def moved(self) -> list[Movement]:
        moved, self._moved = self._moved, []
        return moved

    def streams(self) -> list[str]:
        try:
            now = self.simulation.statistics()
        except SimulationError:
            return []
        return told_streams(now.ports[0].streams, now.cycle)

    def standing(self) -> dict[str, Standing]:
        """Those of the requester, and frames: that left, were withdrawn, and that it has taken."""
        try:
            now = self.simulation.statistics().ports[0]
        except SimulationError:
            return {}
        frames = {"left": now.frames_out, "withdrawn": now.discarded_out, "heard": now.frames_in}
        return standing(now.streams) | {name: Standing(n) for name, n in frames.items()}

    def ping(self, peer: Host, *, timeout_ns: int) -> bool:
        """ARP or ND, then ICMP echo, each answered; a question after somebody else is not."""
        host = self.host.facing(peer)
        own = host.ip
        somebody = own[:-1] + bytes([own[-1] ^ 0x80])
        self._others.clear()
        self.send(neighbours.solicit(peer, somebody))
        self.send(neighbours.solicit(peer, own))
        if not self._answers(lambda frame: neighbours.is_advertised(frame, own), timeout_ns):
            return False
        if any(neighbours.is_advertised(frame, somebody) for frame in self._others):
            return False
        self.send(echo_request(peer, host))
        return self._answers(is_echo_reply, timeout_ns)

    def _answers(self, is_answer: Callable[[bytes], bool], timeout_ns: int) -> bool:
        begin = self._cycle
        end = begin + self._cycles(timeout_ns)
        while not any(map(is_answer, self._others)) and self._cycle < end:
            self._run(end - self._cycle, Until.FRAME)
        has_come = any(map(is_answer, self._others))
        self._note_wait(begin, end, has_come=has_come)
        return has_come

    def _run(self, cycles: int, until: Until) -> None:
        """Until it is time; a device that asks for addresses is answered on the way."""
        also = Until.FRAME if self._neighbours else Until.CYCLES
        end, came = self._cycle + cycles, Until.CYCLES
        while not came & until and self._cycle < end:
            came = self._advance(min(_SLICE, end - self._cycle), until | also)

    def _advance(self, cycles: int, until: Until) -> Until:
        """What came for the bench meanwhile: not a question that is answered here."""
        try:
            most = self._pace.slice_seconds
            with self._pace.slice_of(self.simulation.pid):
                stop = self.simulation.run_within(most, cycles=cycles, until=until)
        except SimulationTimeout as error:
            self._in_vain = self._pace.has_stood = True
            self.simulation.abandon()
            raise DeviceDied(
                f"the simulation stands in a cycle from {self._cycle} to {self._cycle + cycles} "
                f"for {most:.2g} s: is there a loop that does not end in the device?"
            ) from error
        except SimulationError as error:
            raise told_end(error) from error
        self._cycle = stop.cycle
        frames, completions = self._take_frames(), self._port.take_completions()
        taken = self._port.take_taken()
        for each in taken:
            self._note_taken(each.stream)
        came_in = [each.cycle for each in taken if each.stream is Inbound.FRAME]
        for at in came_in:
            self._take_offered(at)
        if frames or completions:
            self._heard = self._cycle
        self._allowance.taken += len(came_in)
        self._allowance.completions += len(completions)
        if self._watch:
            self._moved += self._watch.moved(taken, frames, completions)
        came = Until.COMPLETION if completions else Until.CYCLES
        for frame in frames:
            if not _is_aside(frame.data):
                self._allowance.frames += 1
                fcs = frame_check_sequence(frame.data) if self._judges_fcs else b""
                self._arrivals.append(Arrival(self._ns(frame.cycle), frame.data, fcs))
                came |= Until.FRAME
                continue
            self._allowance.asides += 1
            if reply := neighbours.answer(frame.data, self._neighbours):
                self._inject(reply, is_damaged=False, is_answer=True)
            else:
                self._others.append(frame.data)
                came |= Until.FRAME
        for timed in completions:
            done = timed.completion
            outcome = Outcome(
                wr_id=done.wr_id,
                status=done.status.name.lower(),
                syndrome=done.syndrome,
                time_ns=self._ns(timed.cycle),
            )
            self._outcomes[done.qpn].append(outcome)
        try:
            self._allowance.come(self._cycle)
        except NoEnd:
            self._in_vain = True
            raise
        return came

    def _take_offered(self, cycle: int) -> None:
        """The first frame on offer was taken then."""
        if not self._disturbed:
            self._pace.longest_taken = max(self._pace.longest_taken, cycle - self._since())
        is_answer, _ = self._offered.popleft()
        self._took = cycle
        if not is_answer:
            self._frames_taken.append(cycle)

    def _take_frames(self) -> list[Frame]:
        """Those that the device has sent; what its MAC says to the link is no case's business."""
        sent = self._port.take_frames()
        frames = [frame for frame in sent if not is_pause_of(self.host.mac, frame.data)]
        self._allowance.asides += len(sent) - len(frames)
        return frames

    def _ns(self, cycle: int) -> int:
        return cycle * self.clock_ps // 1000

    def _cycles(self, duration_ns: int) -> int:
        return -(-duration_ns * 1000 // self.clock_ps)


def _is_aside(frame: bytes) -> bool:
    """Whether it is ARP, ICMP or ICMPv6, with a tag or without; a storm asks for every frame."""
    kind, behind = frame[12:14], 0
    if kind == _VLAN:
        kind, behind = frame[16:18], 4
    if kind == _IPV6:
        return frame[20 + behind] == _ICMPV6
    return kind == _ARP or (kind == _IPV4 and frame[23 + behind] == _ICMP)
